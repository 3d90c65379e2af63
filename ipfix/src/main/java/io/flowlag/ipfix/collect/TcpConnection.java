package io.flowlag.ipfix.collect;

import io.flowlag.common.net.TlsEngine;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * One connection of an exporter, a Transport Session of its own (RFC 7011 section 10.4), in plain or under TLS. Not
 * thread-safe; allocates at construction, and for a message that comes in pieces.
 */
final class TcpConnection {
    /** Returned by {@link #read} if the peer's octets are not IPFIX messages. */
    static final int NOT_IPFIX = -2;

    private static final int IDLE_TIMEOUTS = 10;

    private final CollectingProcess process;
    private final SocketChannel channel;
    private final TransportSession session;
    private final TlsEngine tls;
    private final MessageAssembler assembler = new MessageAssembler();
    private final MessageAssembler.Sink messages = this::onMessage;
    private SelectionKey key;
    private long waitingSinceNs;
    private boolean isWaiting;
    private long nowNs;

    TcpConnection(
        final CollectingProcess process, final SocketChannel channel, final TransportSession session, final TlsEngine tls) {
        this.process = process;
        this.channel = channel;
        this.session = session;
        this.tls = tls;
    }

    void register(final SelectionKey key, final long nowNs) {
        this.key = key;
        isWaiting = tls != null;
        waitingSinceNs = nowNs;
    }

    TransportSession session() {
        return session;
    }

    boolean isInHandshake() {
        return tls != null && !tls.isEstablished();
    }

    /** Whether it may go on under other credentials: it is plain, or its handshake is over and the exporter still trusted. */
    boolean isTrusted(final TlsCredentials newer) {
        return tls == null || tls.isEstablished() && (!tls.engine().getNeedClientAuth() || newer.trusts(tls.engine()));
    }

    boolean isInsideMessage() {
        return assembler.isInsideMessage();
    }

    /**
     * Reads once.
     *
     * @param scratch for plain octets; shared by all connections.
     * @return octets read, -1 at the end of the stream, or {@link #NOT_IPFIX}.
     */
    int read(final ByteBuffer scratch, final UnsafeBuffer scratchBuffer, final long nowNs) throws IOException {
        this.nowNs = nowNs;
        final int readBytes = tls == null ? readPlain(scratch, scratchBuffer) : readTls(scratch, scratchBuffer);
        noteWaiting();
        if (tls != null) {
            key.interestOps(tls.isComputing() ? 0 :
                tls.hasOutgoing() ? SelectionKey.OP_READ | SelectionKey.OP_WRITE : SelectionKey.OP_READ);
        }
        return readBytes;
    }

    /** Sends pending octets; {@link #read} must follow, because it may continue a handshake. */
    void write() throws IOException {
        tls.flush(channel);
    }

    /**
     * Whether it may be closed for a new connection. An exporter that has sent records is idle later than one without.
     *
     * @param crowd of the new connection's address.
     */
    boolean mayGo(final int crowd, final long nowNs, final long timeoutNs) {
        final long idleNs = session.recordCount() > 0 ? IDLE_TIMEOUTS * timeoutNs : timeoutNs;
        final boolean isUnused = session.templateCount() == 0 || nowNs - session.lastMessageNs() > idleNs;
        return session.address().crowd() > crowd + 1 || session.address().crowd() >= crowd && isUnused;
    }

    /** Whether a message or a handshake began too long ago. */
    boolean isSlow(final long nowNs, final long timeoutNs) {
        return isWaiting && nowNs - waitingSinceNs > timeoutNs;
    }

    void close() throws IOException {
        process.closeSession(session);
        try {
            if (tls != null && channel.isConnected()) {
                tls.close(channel);
            }
        } finally {
            channel.close();
        }
    }

    private int readPlain(final ByteBuffer scratch, final UnsafeBuffer scratchBuffer) throws IOException {
        scratch.clear();
        final int readBytes = channel.read(scratch);
        return readBytes <= 0 || assembler.onOctets(scratchBuffer, 0, readBytes, messages) ? readBytes : NOT_IPFIX;
    }

    private int readTls(final ByteBuffer scratch, final UnsafeBuffer scratchBuffer) throws IOException {
        final int receivedBytes = tls.receive(channel);
        int plainBytes;
        while ((plainBytes = tls.read(scratch.clear(), channel)) > 0) {
            if (!assembler.onOctets(scratchBuffer, 0, plainBytes, messages)) {
                return NOT_IPFIX;
            }
        }
        return plainBytes < 0 ? -1 : receivedBytes;
    }

    private void onMessage(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        isWaiting = false;
        process.onMessage(session, buffer, offset, lengthBytes, nowNs);
    }

    private void noteWaiting() {
        final boolean mustWait = assembler.isInsideMessage() || isInHandshake();
        if (mustWait && !isWaiting) {
            waitingSinceNs = nowNs;
        }
        isWaiting = mustWait;
    }
}
