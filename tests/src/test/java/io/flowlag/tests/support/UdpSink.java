package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Keeps the datagrams that arrive at a loopback port. Any thread may read. */
public final class UdpSink implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final int SOCKET_BUFFER_BYTES = 64 << 20;

    private final DatagramChannel channel;
    private final int port;
    private final List<byte[]> datagrams = Collections.synchronizedList(new ArrayList<>());
    private final Thread receiver = new Thread(this::receive, "udp-sink");

    /** Listens on a free port. */
    public UdpSink() {
        this(0);
    }

    /**
     * Listens on a given port.
     *
     * @param wantedPort 0 for any.
     */
    public UdpSink(final int wantedPort) {
        try {
            channel = DatagramChannel.open(StandardProtocolFamily.INET);
            channel.setOption(StandardSocketOptions.SO_RCVBUF, SOCKET_BUFFER_BYTES);
            channel.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), wantedPort));
            port = ((InetSocketAddress) channel.getLocalAddress()).getPort();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        receiver.setDaemon(true);
        receiver.start();
    }

    /** {@return where it listens} */
    public int port() {
        return port;
    }

    /** {@return the datagrams so far} */
    public List<byte[]> datagrams() {
        synchronized (datagrams) {
            return List.copyOf(datagrams);
        }
    }

    /**
     * Waits until everything that arrived was read, and ends.
     *
     * @return all datagrams; fails if the kernel dropped any.
     */
    public List<byte[]> finish() {
        Deadline.await(TIMEOUT, () -> Ports.isUdpDrained(port), () -> "the sink reads its socket");
        final long drops = Ports.udpSocket(port).drops();
        stop();
        if (drops > 0) {
            throw new AssertionError(drops + " datagrams dropped at the sink");
        }
        return datagrams();
    }

    private void receive() {
        final ByteBuffer buffer = ByteBuffer.allocate(65_536);
        try {
            while (true) {
                buffer.clear();
                channel.receive(buffer);
                buffer.flip();
                final byte[] datagram = new byte[buffer.remaining()];
                buffer.get(datagram);
                datagrams.add(datagram);
            }
        } catch (final ClosedChannelException ex) {
            // Ended by stop().
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public void close() {
        stop();
    }

    /** Stops listening. */
    public void stop() {
        try {
            channel.close();
            receiver.join();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
