package io.flowlag.ipfix.transport;

import java.io.IOException;
import java.nio.ByteBuffer;

/**
 * Messages over TCP (RFC 7011 section 10.4). Messages wait in a bounded ring while the network is slow; a message that finds no
 * room is {@link SendResult#BUSY}. A broken connection is re-established, by default at most once a minute (section 10.4.4).
 * Octets from a collector are read and discarded.
 * <p>
 * See {@link Transport} for threads and memory. Allocates at construction, when connecting and on errors.
 */
public final class TcpTransport extends StreamTransport {
    private final ByteBuffer ignored = ByteBuffer.allocateDirect(4096);

    /** A transport that connects in its first duty cycles. */
    public TcpTransport(final StreamSettings settings) {
        this(settings, new AddressLookup(settings.collector()));
    }

    TcpTransport(final StreamSettings settings, final AddressLookup lookup) {
        super("tcp", settings, lookup);
    }

    @Override
    void onConnect() {
        // TCP needs no handshake
    }

    @Override
    boolean handshake() {
        return true;
    }

    @Override
    int read() throws IOException {
        return channel().read(ignored.clear());
    }

    @Override
    int drain() throws IOException {
        int drainedBytes = 0;
        while (mayDrain()) {
            final ByteBuffer head = head();
            final int writtenBytes = channel().write(head);
            consume(writtenBytes);
            drainedBytes += writtenBytes;
            if (head.hasRemaining()) {
                break;
            }
        }
        return drainedBytes;
    }

    @Override
    boolean isDrained() {
        return true;
    }

    @Override
    public long deliveredOctets() {
        return consumedOctets();
    }

    @Override
    boolean sayGoodBye() throws IOException {
        channel().shutdownOutput();
        return true;
    }

    @Override
    boolean isGoodByeAnswered() {
        return false;
    }
}
