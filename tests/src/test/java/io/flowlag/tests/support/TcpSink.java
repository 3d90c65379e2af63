package io.flowlag.tests.support;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;

/** Keeps the octets of the connections to a loopback port, one after the other. Any thread may read. */
public final class TcpSink implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    private final ServerSocket server;
    private final List<Connection> connections = Collections.synchronizedList(new ArrayList<>());
    private final Thread acceptor = new Thread(this::accept, "tcp-sink");
    private volatile Socket current;

    /** One connection's octets. */
    private static final class Connection {
        private final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        private volatile boolean ended;
    }

    /** Listens on a free port. */
    public TcpSink() {
        this(0);
    }

    /**
     * Listens on a given port.
     *
     * @param wantedPort 0 for any.
     */
    public TcpSink(final int wantedPort) {
        try {
            server = new ServerSocket();
            server.setReuseAddress(true);
            server.bind(new InetSocketAddress(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), wantedPort));
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        acceptor.setDaemon(true);
        acceptor.start();
    }

    /** {@return where it listens} */
    public int port() {
        return server.getLocalPort();
    }

    /** {@return connections so far} */
    public int connectionCount() {
        return connections.size();
    }

    /** {@return octets received so far on all connections} */
    public long octetCount() {
        synchronized (connections) {
            return connections.stream().mapToLong(connection -> connection.octets.size()).sum();
        }
    }

    /**
     * Waits until a number of connections came and were closed by the other end, and ends.
     *
     * @param connectionCount to wait for.
     * @return the octets of each connection.
     */
    public List<byte[]> finish(final int connectionCount) {
        Deadline.await(TIMEOUT, () -> endedCount() >= connectionCount,
            () -> connectionCount + " connections ended; so far " + endedCount());
        stop();
        return streams();
    }

    /** {@return the octets of each connection so far} */
    public List<byte[]> streams() {
        synchronized (connections) {
            return connections.stream().map(connection -> connection.octets.toByteArray()).toList();
        }
    }

    private long endedCount() {
        synchronized (connections) {
            return connections.stream().filter(connection -> connection.ended).count();
        }
    }

    private void accept() {
        try {
            while (true) {
                try (Socket socket = server.accept()) {
                    current = socket;
                    final Connection connection = new Connection();
                    connections.add(connection);
                    read(socket, connection);
                }
            }
        } catch (final SocketException ex) {
            // Ended by stop().
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void read(final Socket socket, final Connection connection) throws IOException {
        final byte[] chunk = new byte[65_536];
        int count = socket.getInputStream().read(chunk);
        while (count >= 0) {
            connection.octets.write(chunk, 0, count);
            count = socket.getInputStream().read(chunk);
        }
        connection.ended = true;
    }

    @Override
    public void close() {
        stop();
    }

    /** Stops listening and breaks the connection that is open, as a collector that crashes does. */
    public void stop() {
        try {
            server.close();
            final Socket open = current;
            if (open != null) {
                open.close();
            }
            acceptor.join();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
