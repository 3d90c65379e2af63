package io.flowlag.exporter.monitoring;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.UnaryOperator;

/** A server of one snapshot on a free port of loopback, and raw sockets to it. */
final class StatusServerFixture implements AutoCloseable {
    static final int CONNECTIONS = 16;
    private static final int TIMEOUT_MS = 60_000;
    /** Longer than the test may take on a slow machine: what is ended for being slow is not what is tested. */
    static final long STEP_NS = 3_600_000_000_000L;

    private final List<Throwable> errors = Collections.synchronizedList(new ArrayList<>());
    private final StatusServer server;

    /** What came back. */
    record Answer(int status, String head, String body) {
    }

    StatusServerFixture(final StatusSnapshot snapshot) throws IOException {
        this(snapshot, STEP_NS);
    }

    StatusServerFixture(final StatusSnapshot snapshot, final long stepNs) throws IOException {
        this(snapshot, (flow) -> "{}", stepNs);
    }

    /** With what is kept for the status page. */
    StatusServerFixture(final StatusSnapshot snapshot, final UnaryOperator<String> history, final long stepNs)
        throws IOException {
        server = new StatusServer(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), "127.0.0.1", CONNECTIONS, stepNs, new StatusSource() {
                @Override
                public StatusSnapshot snapshot() {
                    return snapshot;
                }

                @Override
                public String history(final String flow) {
                    return history.apply(flow);
                }
            }, errors::add);
    }

    List<Throwable> errors() {
        return errors;
    }

    int port() throws IOException {
        return server.address().getPort();
    }

    Socket connect() throws IOException {
        final Socket socket = new Socket(InetAddress.getLoopbackAddress(), port());
        socket.setSoTimeout(TIMEOUT_MS);
        return socket;
    }

    Answer get(final String path) throws IOException {
        return send(("GET " + path + " HTTP/1.1\r\nHost: localhost:1\r\n\r\n").getBytes(StandardCharsets.ISO_8859_1));
    }

    Answer send(final byte[] octets) throws IOException {
        try (Socket socket = connect()) {
            socket.getOutputStream().write(octets);
            return read(socket);
        }
    }

    static Answer read(final Socket socket) throws IOException {
        final ByteArrayOutputStream all = new ByteArrayOutputStream();
        final InputStream input = socket.getInputStream();
        input.transferTo(all);
        final String text = all.toString(StandardCharsets.UTF_8);
        final int end = text.indexOf("\r\n\r\n");
        if (end < 0) {
            return new Answer(0, text, "");
        }
        return new Answer(Integer.parseInt(text.split(" ")[1]), text.substring(0, end), text.substring(end + 4));
    }

    @Override
    public void close() {
        server.close();
    }
}
