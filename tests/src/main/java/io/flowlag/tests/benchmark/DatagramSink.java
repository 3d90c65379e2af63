package io.flowlag.tests.benchmark;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.AsynchronousCloseException;
import java.nio.channels.DatagramChannel;

/**
 * A Collecting Process on loopback for exporters that send by UDP. It is either a thread that sums the packets of the records, or
 * a port at which the kernel discards everything, so the exporter has a peer that uses no processor time.
 */
final class DatagramSink implements AutoCloseable {
    private static final int RECEIVE_BUFFER_BYTES = 64 << 20;
    private static final int SMALLEST_BUFFER_BYTES = 4096;
    private static final int DATAGRAM_BYTES = 65_535;

    private final DatagramChannel channel;
    private final Thread reader;
    private final IpfixPackets packets = new IpfixPackets();
    private String damage;

    /**
     * A port.
     *
     * @param isRead whether what comes is read.
     * @throws IOException if there is none.
     */
    DatagramSink(final boolean isRead) throws IOException {
        channel = DatagramChannel.open();
        channel.setOption(StandardSocketOptions.SO_RCVBUF, isRead ? RECEIVE_BUFFER_BYTES : SMALLEST_BUFFER_BYTES);
        channel.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0));
        reader = isRead ? new Thread(this::read, "sink") : null;
        if (reader != null) {
            reader.setDaemon(true);
            reader.start();
        }
    }

    private void read() {
        final ByteBuffer datagram = ByteBuffer.allocateDirect(DATAGRAM_BYTES);
        while (true) {
            datagram.clear();
            try {
                channel.receive(datagram);
                packets.add(datagram.flip());
            } catch (final AsynchronousCloseException ex) {
                return;
            } catch (final IOException ex) {
                damage = ex.getMessage();
            }
        }
    }

    /** {@return the port} */
    int port() {
        try {
            return ((InetSocketAddress)channel.getLocalAddress()).getPort();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** {@return packets of the records, once no more have arrived for a moment} */
    long packetCount() throws InterruptedException {
        long before = -1;
        while (before != packets.packetCount()) {
            before = packets.packetCount();
            Thread.sleep(300);
        }
        return before;
    }

    /** {@return why something could not be read, or null} */
    String damage() {
        return damage;
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
