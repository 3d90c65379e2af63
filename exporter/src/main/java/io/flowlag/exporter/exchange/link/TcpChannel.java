package io.flowlag.exporter.exchange.link;

import org.agrona.CloseHelper;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;

/** Plain TCP. */
final class TcpChannel implements PeerChannel {
    /** The TCP of this host. */
    static final Network NETWORK = new Network() {
        @Override
        public PeerChannel connect(final InetSocketAddress address) throws IOException {
            return new TcpChannel(SocketChannel.open(), address);
        }

        @Override
        public Port listen(final InetSocketAddress address) throws IOException {
            return new TcpPort(address);
        }
    };
    private static final int BACKLOG = 1024;
    private static final int DROPPED_BYTES = 4096;

    private final SocketChannel channel;
    private final ByteBuffer dropped = ByteBuffer.allocate(DROPPED_BYTES);

    /** Owns the channel from now on, and begins to connect it; the target of a connected one is null. */
    private TcpChannel(final SocketChannel channel, final InetSocketAddress target) throws IOException {
        this.channel = channel;
        try {
            channel.configureBlocking(false);
            channel.setOption(StandardSocketOptions.TCP_NODELAY, true);
            if (target != null) {
                channel.connect(target);
            }
        } catch (final IOException ex) {
            close();
            throw ex;
        }
    }

    /** A port that listens. */
    private static final class TcpPort implements Network.Port {
        private final ServerSocketChannel server = ServerSocketChannel.open();

        private TcpPort(final InetSocketAddress address) throws IOException {
            try {
                server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
                server.configureBlocking(false);
                server.bind(address, BACKLOG);
            } catch (final IOException ex) {
                close();
                throw ex;
            }
        }

        @Override
        public PeerChannel accept() throws IOException {
            final SocketChannel accepted = server.accept();
            return accepted == null ? null : new TcpChannel(accepted, null);
        }

        @Override
        public void close() {
            CloseHelper.quietClose(server);
        }
    }

    @Override
    public boolean isReady() throws IOException {
        return channel.isConnected() || channel.finishConnect();
    }

    @Override
    public InetSocketAddress remoteAddress() throws IOException {
        return (InetSocketAddress)channel.getRemoteAddress();
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
    public boolean shutdown() throws IOException {
        channel.shutdownOutput();
        return true;
    }

    @Override
    public int discard() throws IOException {
        return channel.read(dropped.clear());
    }

    @Override
    public boolean isOpen() {
        return channel.isOpen();
    }

    @Override
    public void close() {
        CloseHelper.quietClose(channel);
    }
}
