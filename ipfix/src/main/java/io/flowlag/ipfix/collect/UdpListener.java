package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.message.MessageHeader;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One UDP address (RFC 7011 section 10.3). A Transport Session is a source address and port; the number of sessions is
 * limited, the one silent longest is forgotten first. Not thread-safe; allocates per session, and what the JDK allocates for the
 * source address when it differs from the last one's.
 */
final class UdpListener implements AutoCloseable {
    private static final int RECEIVE_BUFFER_BYTES = 8 * 1024 * 1024;

    private final CollectingProcess process;
    private final DatagramChannel channel;
    private final ByteBuffer datagram = ByteBuffer.allocateDirect(MessageHeader.MAX_MESSAGE_BYTES);
    private final UnsafeBuffer buffer = new UnsafeBuffer(datagram);
    private final Map<InetSocketAddress, TransportSession> sessions = new LinkedHashMap<>(16, 0.75f, true);

    UdpListener(final CollectingProcess process, final InetSocketAddress address) throws IOException {
        this.process = process;
        channel = DatagramChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_RCVBUF, RECEIVE_BUFFER_BYTES);
            channel.bind(address);
            channel.configureBlocking(false);
        } catch (final IOException | RuntimeException ex) {
            channel.close();
            throw ex;
        }
    }

    DatagramChannel channel() {
        return channel;
    }

    /** Receives datagrams up to a limit; returns their number. */
    int receive(final int datagramLimit, final long nowNs) throws IOException {
        int count = 0;
        while (count < datagramLimit) {
            datagram.clear();
            final InetSocketAddress source = (InetSocketAddress)channel.receive(datagram);
            if (source == null) {
                break;
            }
            process.onMessage(session(source), buffer, 0, datagram.position(), nowNs);
            count++;
        }
        return count;
    }

    private TransportSession session(final InetSocketAddress source) {
        final TransportSession known = sessions.get(source);
        if (known != null) {
            return known;
        }
        if (sessions.size() >= process.limits().maxUdpSessions()) {
            final var silentLongest = sessions.values().iterator();
            process.closeSession(silentLongest.next());
            silentLongest.remove();
            process.counters().increment(CollectorCounter.SESSIONS_DROPPED);
        }
        final TransportSession opened =
            process.openSession(SessionKind.UDP, source.getAddress().getHostAddress() + ':' + source.getPort());
        sessions.put(source, opened);
        return opened;
    }

    @Override
    public void close() throws IOException {
        sessions.values().forEach(process::closeSession);
        sessions.clear();
        channel.close();
    }
}
