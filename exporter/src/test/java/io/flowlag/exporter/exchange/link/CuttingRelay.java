package io.flowlag.exporter.exchange.link;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Passes octets between a sender and a receiver, until it cuts them. It turns on the test's thread. */
final class CuttingRelay implements AutoCloseable {
    private final ServerSocketChannel server = ServerSocketChannel.open();
    private final InetSocketAddress target;
    private final ByteBuffer forth = ByteBuffer.allocate(64 * 1024);
    private final ByteBuffer back = ByteBuffer.allocate(64 * 1024);
    private SocketChannel near;
    private SocketChannel far;
    private boolean isCut;
    private long budgetBytes = Long.MAX_VALUE;

    CuttingRelay(final InetSocketAddress target) throws IOException {
        this.target = target;
        server.bind(new InetSocketAddress("127.0.0.1", 0));
        server.configureBlocking(false);
    }

    int port() {
        try {
            return ((InetSocketAddress)server.getLocalAddress()).getPort();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    void turn() {
        try {
            final SocketChannel accepted = server.accept();
            if (accepted != null) {
                if (isCut) {
                    accepted.close();
                } else {
                    connect(accepted);
                }
            }
            if (near != null && (!pass(near, far, forth) | !pass(far, near, back))) {
                drop();
            }
        } catch (final IOException ex) {
            drop();
        }
    }

    private void connect(final SocketChannel accepted) throws IOException {
        drop();
        near = accepted;
        near.configureBlocking(false);
        far = SocketChannel.open(target);
        far.configureBlocking(false);
    }

    private boolean pass(final SocketChannel from, final SocketChannel to, final ByteBuffer buffer) throws IOException {
        if (from == near && buffer.capacity() > budgetBytes) {
            buffer.limit((int)Math.max(buffer.position(), Math.min(budgetBytes, buffer.capacity())));
        }
        final int readBytes = from.read(buffer);
        buffer.flip();
        final int writtenBytes = to.write(buffer);
        buffer.compact();
        if (from == near && budgetBytes != Long.MAX_VALUE) {
            budgetBytes -= writtenBytes;
            if (budgetBytes <= 0) {
                isCut = true;
                return false;
            }
        }
        return readBytes >= 0;
    }

    /** Cuts once the sender has said so much more. */
    void cutAfter(final long bytes) {
        budgetBytes = bytes;
    }

    boolean isCut() {
        return isCut;
    }

    void cut() {
        isCut = true;
        drop();
    }

    void heal() {
        isCut = false;
        budgetBytes = Long.MAX_VALUE;
    }

    private void drop() {
        CloseHelper.quietCloseAll(near, far);
        near = null;
        far = null;
        forth.clear();
        back.clear();
    }

    @Override
    public void close() {
        drop();
        CloseHelper.quietClose(server);
    }
}
