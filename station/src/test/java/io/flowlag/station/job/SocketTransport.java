package io.flowlag.station.job;

import io.flowlag.ipfix.transport.SendResult;
import io.flowlag.ipfix.transport.Transport;
import io.flowlag.ipfix.transport.TransportKind;
import io.flowlag.ipfix.transport.TransportState;
import org.agrona.DirectBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.DatagramChannel;
import java.nio.channels.SocketChannel;

/** A connection, or datagrams, from an address of this host; waits where its peer or the system does. */
class SocketTransport implements Transport {
    private final ByteBuffer octets = ByteBuffer.allocateDirect(1 << 16);
    private final TransportKind kind;
    private final ByteChannel channel;
    private long delivered;

    SocketTransport() {
        kind = TransportKind.STREAM;
        channel = null;
    }

    SocketTransport(final TransportKind kind, final InetSocketAddress local, final InetSocketAddress peer) throws IOException {
        this.kind = kind;
        if (kind == TransportKind.STREAM) {
            final SocketChannel connection = SocketChannel.open().bind(local);
            connection.connect(peer);
            channel = connection;
        } else {
            channel = DatagramChannel.open().bind(local).connect(peer);
        }
    }

    /** Writes a whole message. */
    void write(final byte[] message) throws IOException {
        octets.clear().put(message).flip();
        while (octets.hasRemaining()) {
            channel.write(octets);
        }
    }

    @Override
    public SendResult send(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        final byte[] message = new byte[lengthBytes];
        buffer.getBytes(offset, message);
        try {
            write(message);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        delivered += lengthBytes;
        return SendResult.SENT;
    }

    @Override
    public TransportKind kind() {
        return kind;
    }

    @Override
    public TransportState state() {
        return TransportState.CONNECTED;
    }

    @Override
    public long deliveredOctets() {
        return delivered;
    }

    @Override
    public String name() {
        return "test";
    }

    @Override
    public String lastError() {
        return "";
    }

    @Override
    public void close() {
        try {
            if (channel != null) {
                channel.close();
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
