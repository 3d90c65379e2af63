package io.flowlag.exporter.monitoring;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.SocketChannel;

/**
 * One connection of the {@link HttpServer}: a request is read, its answer written, what the client still sends is read away for a
 * moment so that it sees the answer, and the connection is closed. Every step has a deadline. The server's thread owns it.
 */
final class HttpConnection {
    /** For a whole request, and for taking a whole answer. */
    static final long STEP_NS = 10_000_000_000L;
    private static final long DRAIN_NS = 1_000_000_000L;
    private static final int DRAIN_BYTES = 1 << 18;

    private enum Step {
        READING, WRITING, DRAINING, CLOSED
    }

    private final SocketChannel channel;
    private final SelectionKey key;
    private final ByteBuffer input = ByteBuffer.allocate(HttpRequest.MAXIMUM_BYTES);
    private final long acceptedNs;
    private final long stepNs;
    private ByteBuffer output;
    private Step step = Step.READING;
    private long deadlineNs;
    private int drainedBytes;

    HttpConnection(final SocketChannel channel, final SelectionKey key, final long nowNs, final long stepNs) {
        this.channel = channel;
        this.key = key;
        this.stepNs = stepNs;
        acceptedNs = nowNs;
        deadlineNs = nowNs + stepNs;
    }

    long acceptedNs() {
        return acceptedNs;
    }

    boolean isClosed() {
        return step == Step.CLOSED;
    }

    boolean isReading() {
        return step == Step.READING;
    }

    boolean isOverdue(final long nowNs) {
        return nowNs - deadlineNs >= 0;
    }

    /** {@return the status of an answer that was begun; 0 for none} */
    int work(final HttpHandler handler, final long nowNs) {
        try {
            return switch (step) {
                case READING -> read(handler, nowNs);
                case WRITING -> write(nowNs);
                case DRAINING -> drain();
                case CLOSED -> 0;
            };
        } catch (final IOException ex) {
            close();
            return 0;
        }
    }

    private int read(final HttpHandler handler, final long nowNs) throws IOException {
        final int count = channel.read(input);
        if (count < 0) {
            close();
            return 0;
        }
        final HttpRequest.Parsed parsed = HttpRequest.parse(input.array(), input.position());
        if (parsed.verdict() == HttpRequest.Verdict.INCOMPLETE) {
            return 0;
        }
        final HttpResponse response = parsed.request() == null ?
            HttpResponse.refusal(parsed.verdict().status()) : handler.respond(parsed.request());
        output = ByteBuffer.wrap(response.octets(parsed.request() == null || !"HEAD".equals(parsed.request().method())));
        step = Step.WRITING;
        deadlineNs = nowNs + stepNs;
        key.interestOps(SelectionKey.OP_WRITE);
        write(nowNs);
        return response.status();
    }

    private int write(final long nowNs) throws IOException {
        channel.write(output);
        if (!output.hasRemaining()) {
            channel.shutdownOutput();
            output = null;
            step = Step.DRAINING;
            deadlineNs = nowNs + DRAIN_NS;
            key.interestOps(SelectionKey.OP_READ);
        }
        return 0;
    }

    private int drain() throws IOException {
        input.clear();
        final int count = channel.read(input);
        drainedBytes += Math.max(0, count);
        if (count < 0 || drainedBytes > DRAIN_BYTES) {
            close();
        }
        return 0;
    }

    void close() {
        step = Step.CLOSED;
        output = null;
        key.cancel();
        try {
            channel.close();
        } catch (final IOException ex) {
            // It is gone either way.
            step = Step.CLOSED;
        }
    }
}
