package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.message.MessageHeader;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * One UDP address (RFC 7011 section 10.3). A Transport Session is a source address and port. It begins with a valid message that
 * has a template; what comes before is counted and leaves nothing, unless messages are handed on undecoded. The number of
 * sessions is limited: above it, {@link
 * TransportSession#FIRST_TO_GO} is forgotten, of equal ones the one silent longest. Source addresses can be forged, so records
 * from very many addresses can still displace a session. Not thread-safe; allocates per session, and what the JDK allocates for
 * the source address when it differs from the last one's.
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
            final int lengthBytes = datagram.position();
            process.onMessage(session(source, lengthBytes, nowNs), buffer, 0, lengthBytes, nowNs);
            count++;
        }
        return count;
    }

    private TransportSession session(final InetSocketAddress source, final int lengthBytes, final long nowNs) {
        final TransportSession known = sessions.get(source);
        if (known != null) {
            return known;
        }
        if (process.isDecoding() && !process.isIntroduction(buffer, 0, lengthBytes, nowNs)) {
            return process.stranger();
        }
        if (sessions.size() >= process.limits().maxUdpSessions()) {
            final TransportSession victim = Collections.min(sessions.values(), TransportSession.FIRST_TO_GO);
            sessions.values().remove(victim);
            process.closeSession(victim);
            process.counters().increment(CollectorCounter.SESSIONS_DROPPED);
        }
        final TransportSession opened = process.openSession(SessionKind.UDP, source);
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
