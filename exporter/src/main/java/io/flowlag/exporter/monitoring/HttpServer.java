package io.flowlag.exporter.monitoring;

import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.ServerSocketChannel;
import java.nio.channels.SocketChannel;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A small HTTP/1.1 server: one thread, at most so many connections of 8 KiB and one answer each, one request a connection,
 * deadlines
 * for every step. A connection too many ends the one that has waited longest for its request, so that slow clients cannot keep
 * others out. Any thread may close it.
 */
final class HttpServer implements AutoCloseable {
    private static final long TICK_MS = 250;
    private static final int BACKLOG = 64;
    private static final int LARGEST_STATUS = 600;

    private final HttpHandler handler;
    private final ErrorHandler errorHandler;
    private final int maximumConnections;
    private final long stepNs;
    private final ServerSocketChannel server;
    private final Selector selector;
    private final SelectionKey acceptKey;
    private final List<HttpConnection> connections = new ArrayList<>();
    private final AtomicIntegerArray answers = new AtomicIntegerArray(LARGEST_STATUS);
    private final AtomicLong evicted = new AtomicLong();
    private final AtomicLong overdue = new AtomicLong();
    private final Thread thread;
    private volatile boolean isClosed;

    /**
     * A server that listens at once.
     *
     * @param address            to listen on; port 0 for any.
     * @param maximumConnections at the same time.
     * @param stepNs             for a whole request, and for taking a whole answer.
     * @param handler            answers.
     * @param errorHandler       takes what nobody foresaw.
     * @throws IOException if the port cannot be bound.
     */
    HttpServer(
        final InetSocketAddress address, final int maximumConnections, final long stepNs, final HttpHandler handler,
        final ErrorHandler errorHandler) throws IOException {
        this.handler = handler;
        this.errorHandler = errorHandler;
        this.maximumConnections = maximumConnections;
        this.stepNs = stepNs;
        server = ServerSocketChannel.open();
        try {
            server.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            server.bind(address, BACKLOG);
            server.configureBlocking(false);
            selector = Selector.open();
            acceptKey = server.register(selector, SelectionKey.OP_ACCEPT);
        } catch (final IOException | RuntimeException ex) {
            CloseHelper.quietClose(server);
            throw ex;
        }
        thread = new Thread(this::run, "http");
        thread.setDaemon(true);
        thread.start();
    }

    /** {@return where it listens} */
    InetSocketAddress address() throws IOException {
        return (InetSocketAddress)server.getLocalAddress();
    }

    /**
     * How often an answer was given.
     *
     * @param status of the answer.
     * @return since the start.
     */
    int answers(final int status) {
        return answers.get(status);
    }

    /** {@return connections ended for others} */
    long evictedCount() {
        return evicted.get();
    }

    /** {@return connections ended because they took too long} */
    long overdueCount() {
        return overdue.get();
    }

    private void run() {
        while (!isClosed) {
            try {
                selector.select(TICK_MS);
                work(System.nanoTime());
            } catch (final IOException | RuntimeException ex) {
                if (!isClosed) {
                    errorHandler.onError(ex);
                }
            }
        }
        connections.forEach(HttpConnection::close);
        CloseHelper.quietCloseAll(selector, server);
    }

    private void work(final long nowNs) throws IOException {
        acceptKey.interestOps(SelectionKey.OP_ACCEPT);
        final Iterator<SelectionKey> ready = selector.selectedKeys().iterator();
        while (ready.hasNext()) {
            final SelectionKey key = ready.next();
            ready.remove();
            if (key == acceptKey) {
                accept(nowNs);
            } else if (key.isValid()) {
                serve((HttpConnection)key.attachment(), nowNs);
            }
        }
        for (int i = connections.size() - 1; i >= 0; i--) {
            final HttpConnection connection = connections.get(i);
            if (!connection.isClosed() && connection.isOverdue(nowNs)) {
                overdue.incrementAndGet();
                connection.close();
            }
            if (connection.isClosed()) {
                connections.remove(i);
            }
        }
    }

    private void serve(final HttpConnection connection, final long nowNs) {
        try {
            final int status = connection.work(handler, nowNs);
            if (status > 0) {
                answers.incrementAndGet(status);
            }
        } catch (final RuntimeException ex) {
            connection.close();
            errorHandler.onError(ex);
        }
    }

    private void accept(final long nowNs) throws IOException {
        final SocketChannel channel;
        try {
            channel = server.accept();
        } catch (final IOException ex) {
            // Out of descriptors: what waits is taken at the next tick, not in a loop.
            acceptKey.interestOps(0);
            throw ex;
        }
        if (channel == null) {
            return;
        }
        connections.removeIf(HttpConnection::isClosed);
        if (connections.size() >= maximumConnections) {
            evict();
        }
        try {
            channel.configureBlocking(false);
            final SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            final HttpConnection connection = new HttpConnection(channel, key, nowNs, stepNs);
            key.attach(connection);
            connections.add(connection);
        } catch (final IOException ex) {
            CloseHelper.quietClose(channel);
            throw ex;
        }
    }

    /** The oldest of those that have not sent their request; without one, the oldest. */
    private void evict() {
        HttpConnection victim = null;
        for (final HttpConnection each : connections) {
            if (victim == null || each.isReading() && !victim.isReading() ||
                each.isReading() == victim.isReading() && each.acceptedNs() - victim.acceptedNs() < 0) {
                victim = each;
            }
        }
        if (victim != null) {
            victim.close();
            evicted.incrementAndGet();
            connections.remove(victim);
        }
    }

    @Override
    public void close() {
        isClosed = true;
        selector.wakeup();
        try {
            thread.join(2 * HttpConnection.STEP_NS / 1_000_000);
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
    }
}
