package io.flowlag.exporter.exchange.link;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;

/** Plain TCP. */
final class PlainChannel implements PeerChannel {
    private static final int DROPPED_BYTES = 4096;

    private final SocketChannel channel;
    private final ByteBuffer dropped = ByteBuffer.allocate(DROPPED_BYTES);

    PlainChannel(final SocketChannel channel) {
        this.channel = channel;
    }

    @Override
    public boolean isReady() {
        return true;
    }

    @Override
    public int read(final ByteBuffer target) throws IOException {
        return channel.read(target);
    }

    @Override
    public int write(final ByteBuffer source) throws IOException {
        return channel.write(source);
    }

    @Override
    public void flush() {
        // nothing is buffered
    }

    @Override
    public boolean shutdown() throws IOException {
        channel.shutdownOutput();
        return true;
    }

    @Override
    public int discard() throws IOException {
        return channel.read(dropped.clear());
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
