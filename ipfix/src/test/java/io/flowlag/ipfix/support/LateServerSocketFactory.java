package io.flowlag.ipfix.support;

import javax.net.ServerSocketFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLSocket;
import java.io.FilterInputStream;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.concurrent.CountDownLatch;

/** TLS servers that answer a client's hello at once and read nothing more until released: slow, but correct peers. */
public final class LateServerSocketFactory extends ServerSocketFactory {
    private final SSLContext context;
    private final CountDownLatch gate = new CountDownLatch(1);

    public LateServerSocketFactory(final SSLContext context) {
        this.context = context;
    }

    /** Releases all sockets to read. */
    public void letGo() {
        gate.countDown();
    }

    @Override
    public ServerSocket createServerSocket() throws IOException {
        return new ServerSocket() {
            @Override
            public Socket accept() throws IOException {
                final Socket socket = new LateSocket();
                implAccept(socket);
                final SSLSocket layered =
                    (SSLSocket)context.getSocketFactory().createSocket(socket, (InputStream)null, true);
                layered.setNeedClientAuth(true);
                return layered;
            }
        };
    }

    @Override
    public ServerSocket createServerSocket(final int port) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ServerSocket createServerSocket(final int port, final int backlog) {
        throw new UnsupportedOperationException();
    }

    @Override
    public ServerSocket createServerSocket(final int port, final int backlog, final InetAddress address) {
        throw new UnsupportedOperationException();
    }

    /** A socket that reads only after it was let go, once it has written anything. */
    private final class LateSocket extends Socket {
        private volatile boolean hasAnswered;

        @Override
        public InputStream getInputStream() throws IOException {
            return new FilterInputStream(super.getInputStream()) {
                @Override
                public int read() throws IOException {
                    await();
                    return super.read();
                }

                @Override
                public int read(final byte[] octets, final int offset, final int length) throws IOException {
                    await();
                    return super.read(octets, offset, length);
                }
            };
        }

        @Override
        public OutputStream getOutputStream() throws IOException {
            return new FilterOutputStream(super.getOutputStream()) {
                @Override
                public void write(final byte[] octets, final int offset, final int length) throws IOException {
                    out.write(octets, offset, length);
                    hasAnswered = true;
                }
            };
        }

        private void await() throws IOException {
            try {
                if (hasAnswered) {
                    gate.await();
                }
            } catch (final InterruptedException ex) {
                throw new IOException(ex);
            }
        }
    }
}
