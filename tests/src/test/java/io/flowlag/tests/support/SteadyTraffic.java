package io.flowlag.tests.support;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Two UDP flows on loopback, a few hundred packets a second, until it is stopped; their number is of no matter. */
public final class SteadyTraffic {
    private static final int PORT = 9;
    private static final int PAYLOAD_BYTES = 200;
    private static final long GAP_NS = 3_000_000;

    private final List<InetSocketAddress> sources;
    private final String destination;
    private final int firstEvery;
    private final Thread thread;
    private volatile boolean isStopped;

    /**
     * Begins to send.
     *
     * @param sources     local addresses of the two flows; port 0 for any.
     * @param destination address that is sent to.
     * @param firstEvery  one packet of so many is the first flow's.
     */
    public SteadyTraffic(final List<InetSocketAddress> sources, final String destination, final int firstEvery) {
        this.sources = sources;
        this.destination = destination;
        this.firstEvery = firstEvery;
        thread = new Thread(this::send, "traffic");
        thread.start();
    }

    private void send() {
        try (DatagramSocket first = new DatagramSocket(sources.get(0));
            DatagramSocket second = new DatagramSocket(sources.get(1))) {
            final InetSocketAddress target = new InetSocketAddress(InetAddress.getByName(destination), PORT);
            for (int i = 0; !isStopped; i++) {
                final byte[] payload = ByteBuffer.allocate(PAYLOAD_BYTES).putInt(i).array();
                (i % firstEvery == 0 ? first : second).send(new DatagramPacket(payload, payload.length, target));
                LockSupport.parkNanos(GAP_NS);
            }
        } catch (final IOException ex) {
            throw new IllegalStateException(ex);
        }
    }

    /**
     * Ends the traffic.
     *
     * @throws InterruptedException if the thread is interrupted while the last packet is sent.
     */
    public void stop() throws InterruptedException {
        isStopped = true;
        thread.join();
    }
}
