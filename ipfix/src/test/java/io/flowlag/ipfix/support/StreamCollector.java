package io.flowlag.ipfix.support;

import javax.net.ServerSocketFactory;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** A collector for tests: accepts connections one after another and keeps the octets of each. */
public final class StreamCollector implements AutoCloseable {
    private final ServerSocket server;
    private final List<ByteArrayOutputStream> connections = new ArrayList<>();
    private volatile boolean isReading = true;
    private volatile Socket current;
    private volatile String error = "";

    public StreamCollector(final ServerSocketFactory factory, final int port) throws IOException {
        this(factory, port, socket -> { });
    }

    /** With a change to the listening socket, which must be made before the first accept. */
    public StreamCollector(final ServerSocketFactory factory, final int port, final Consumer<ServerSocket> change)
        throws IOException {
        server = factory.createServerSocket();
        change.accept(server);
        server.setReuseAddress(true);
        server.setReceiveBufferSize(16 * 1024);
        server.bind(new java.net.InetSocketAddress(InetAddress.getByName("127.0.0.1"), port));
        final Thread thread = new Thread(this::accept, "collector");
        thread.setDaemon(true);
        thread.start();
    }

    public int port() {
        return server.getLocalPort();
    }

    public void pauseReading() {
        isReading = false;
    }

    public void resumeReading() {
        isReading = true;
    }

    public String error() {
        return error;
    }

    public synchronized int connectionCount() {
        return connections.size();
    }

    public synchronized byte[] octets(final int connection) {
        return connection < connections.size() ? connections.get(connection).toByteArray() : new byte[0];
    }

    /** Records that a strict parser finds in what has come so far on a connection, whole messages only. */
    public StrictParser parsed(final int connection) {
        final byte[] octets = octets(connection);
        int end = 0;
        while (end + 4 <= octets.length) {
            final int length = (octets[end + 2] & 0xFF) << 8 | octets[end + 3] & 0xFF;
            if (end + length > octets.length) {
                break;
            }
            end += length;
        }
        return new StrictParser(65535).parseAll(java.util.Arrays.copyOf(octets, end));
    }

    /** Breaks the present connection by a reset. */
    public void reset() throws IOException {
        current.setSoLinger(true, 0);
        current.close();
    }

    private void accept() {
        while (!server.isClosed()) {
            try (Socket socket = server.accept()) {
                current = socket;
                final ByteArrayOutputStream octets = new ByteArrayOutputStream();
                synchronized (this) {
                    connections.add(octets);
                }
                read(socket, octets);
            } catch (final IOException ex) {
                error = ex.toString();
            }
        }
    }

    private void read(final Socket socket, final ByteArrayOutputStream octets) throws IOException {
        final byte[] chunk = new byte[4096];
        while (true) {
            while (!isReading) {
                java.util.concurrent.locks.LockSupport.parkNanos(100_000);
                if (socket.isClosed()) {
                    return;
                }
            }
            final int count = socket.getInputStream().read(chunk);
            if (count < 0) {
                return;
            }
            synchronized (this) {
                octets.write(chunk, 0, count);
            }
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
        if (current != null) {
            current.close();
        }
    }
}
