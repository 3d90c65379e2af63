package io.flowlag.common.http;

import org.agrona.CloseHelper;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.http.HttpStatus;
import org.eclipse.jetty.http.UriCompliance;
import org.eclipse.jetty.io.ArrayByteBufferPool;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.io.EndPoint;
import org.eclipse.jetty.io.ssl.SslConnection;
import org.eclipse.jetty.server.ConnectionFactory;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.server.SslConnectionFactory;
import org.eclipse.jetty.util.Callback;
import org.eclipse.jetty.util.ssl.SslContextFactory;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;
import org.eclipse.jetty.util.thread.QueuedThreadPool;
import org.eclipse.jetty.util.thread.ScheduledExecutorScheduler;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.StandardSocketOptions;
import java.nio.channels.ServerSocketChannel;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Function;
import java.util.function.IntToLongFunction;
import javax.net.ssl.SSLContext;

/**
 * Jetty with one request per connection, bounded connections and buffers, and deadlines that slow clients cannot extend. A
 * connection above the limit closes the oldest one that has not sent its request. The selector's thread parses and writes without
 * blocking, and answers if the handler does not block. The pool has at most {@link #MAXIMUM_THREADS} threads. Any thread may
 * close it.
 */
public final class HttpServer implements AutoCloseable {
    /** For reading a request, and for sending a response. */
    public static final long STEP_NS = 10_000_000_000L;
    /** Octets of a request head, at most. */
    public static final int MAXIMUM_HEAD_BYTES = 8192;
    private static final int MAXIMUM_THREADS = 4;
    private static final long POOLED_BYTES = 1 << 20;
    private static final long DRAIN_NS = 1_000_000_000L;
    private static final long TICK_MS = 250;
    private static final int BACKLOG = 64;
    private static final int LARGEST_STATUS = 600;
    private static final int[] STATUSES = {200, 400, 401, 404, 405, 414, 421, 431, 500, 503, 505};

    private final Function<Request, HttpResponse> handler;
    private final ErrorHandler errorHandler;
    private final int maximumConnections;
    private final long stepNs;
    private final ServerSocketChannel channel;
    private final Server server;
    /** The oldest first; guarded by itself. */
    private final Map<Connection, Progress> connections = new LinkedHashMap<>();
    private final Runnable onTick;
    private final AtomicIntegerArray answers = new AtomicIntegerArray(LARGEST_STATUS);
    private final AtomicLong evicted = new AtomicLong();
    private final AtomicLong overdue = new AtomicLong();

    /**
     * TLS of a server.
     *
     * @param context its certificate, and trust in those of clients.
     * @param clients whether clients must have a certificate.
     */
    public record Tls(SSLContext context, Certificates clients) {
        /** Of clients. */
        public enum Certificates { NONE, ASKED, REQUIRED }

        private SslContextFactory.Server factory() {
            final SslContextFactory.Server factory = new SslContextFactory.Server();
            factory.setSslContext(context);
            factory.setNeedClientAuth(clients == Certificates.REQUIRED);
            factory.setWantClientAuth(clients == Certificates.ASKED);
            factory.setIncludeProtocols("TLSv1.3", "TLSv1.2");
            return factory;
        }
    }

    private record Progress(boolean isReading, long deadlineNs) {
    }

    /**
     * Listens at once.
     *
     * @param address            port 0 for any.
     * @param maximumConnections at the same time.
     * @param stepNs             for reading a request, and for sending a response.
     * @param handler            answers.
     * @param invocation         whether the handler may block; one that does runs on a thread of the pool.
     * @param tls                empty for none.
     * @param onTick             runs on a thread of the pool, some four times a second.
     * @throws IOException if the port cannot be bound.
     */
    public HttpServer(
        final InetSocketAddress address, final int maximumConnections, final long stepNs,
        final Function<Request, HttpResponse> handler, final InvocationType invocation, final ErrorHandler errorHandler,
        final Optional<Tls> tls, final Runnable onTick) throws IOException {
        this.handler = handler;
        this.errorHandler = errorHandler;
        this.maximumConnections = maximumConnections;
        this.stepNs = stepNs;
        this.onTick = onTick;
        channel = ServerSocketChannel.open();
        try {
            channel.setOption(StandardSocketOptions.SO_REUSEADDR, true);
            channel.bind(address, BACKLOG);
            server = server(invocation, tls);
            server.start();
        } catch (final IOException | RuntimeException ex) {
            CloseHelper.quietClose(channel);
            throw ex;
        } catch (final Exception ex) {
            CloseHelper.quietClose(channel);
            throw new IllegalStateException(ex);
        }
        tick();
    }

    private Server server(final InvocationType invocation, final Optional<Tls> tls) throws IOException {
        final QueuedThreadPool threads = new QueuedThreadPool(MAXIMUM_THREADS, 1);
        threads.setName("http");
        threads.setDaemon(true);
        threads.setReservedThreads(0);
        final Server jetty = new Server(threads, new ScheduledExecutorScheduler("http-timer", true),
            new ArrayByteBufferPool(0, 1024, 2 * MAXIMUM_HEAD_BYTES, maximumConnections, POOLED_BYTES, POOLED_BYTES));
        final HttpConnectionFactory http = new HttpConnectionFactory(limits());
        final ConnectionFactory[] layers = tls.isEmpty() ? new ConnectionFactory[]{http} :
            new ConnectionFactory[]{new SslConnectionFactory(tls.get().factory(), http.getProtocol()), http};
        final ServerConnector connector = new ServerConnector(jetty, 1, 1, layers) {
            @Override
            protected boolean handleAcceptFailure(final Throwable failure) {
                if (isRunning()) {
                    errorHandler.onError(failure);
                }
                return super.handleAcceptFailure(failure);
            }
        };
        connector.setIdleTimeout(TimeUnit.NANOSECONDS.toMillis(stepNs));
        connector.addBean(new Connection.Listener() {
            @Override
            public void onOpened(final Connection connection) {
                if (!(connection instanceof SslConnection)) { // which has one of HTTP in it
                    open(connection);
                }
            }

            @Override
            public void onClosed(final Connection connection) {
                synchronized (connections) {
                    connections.remove(connection);
                }
            }
        });
        connector.open(channel);
        jetty.addConnector(connector);
        jetty.setHandler(new Handler.Abstract(invocation) {
            @Override
            public boolean handle(final Request request, final Response response, final Callback callback) {
                send(request, response, callback, answer(request));
                return true;
            }
        });
        jetty.setErrorHandler((request, response, callback) -> {
            final int status = response.getStatus();
            send(request, response, callback, HttpResponse.refusal(status == HttpStatus.UPGRADE_REQUIRED_426 ? 505 : status));
            return true;
        });
        return jetty;
    }

    private static HttpConfiguration limits() {
        final HttpConfiguration limits = new HttpConfiguration();
        limits.setRequestHeaderSize(MAXIMUM_HEAD_BYTES);
        limits.setInputBufferSize(MAXIMUM_HEAD_BYTES);
        limits.setPersistentConnectionsEnabled(false);
        limits.setMaxUnconsumedRequestContentReads(0);
        limits.setUriCompliance(UriCompliance.UNSAFE);
        limits.setSendServerVersion(false);
        limits.setSendDateHeader(false);
        return limits;
    }

    /** {@return whether the client has shown a certificate that is trusted} */
    public static boolean hasCertificate(final Request request) {
        final EndPoint.SslSessionData session =
            request.getConnectionMetaData().getConnection().getEndPoint().getSslSessionData();
        return session != null && session.peerCertificates() != null && session.peerCertificates().length > 0;
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return (InetSocketAddress)channel.getLocalAddress();
    }

    /** {@return responses of a status since the start} */
    public int answers(final int status) {
        return answers.get(status);
    }

    /** {@return connections closed in favour of others} */
    public long evictedCount() {
        return evicted.get();
    }

    /** {@return connections closed by a deadline} */
    public long overdueCount() {
        return overdue.get();
    }

    /** The metrics of the server itself; responses by status code. */
    public static List<MetricFamily> metrics(
        final IntToLongFunction answerCounts, final long evictedCount, final long overdueCount) {
        final MetricFamily answers = new MetricFamily(
            "flowlag_http_answers", MetricFamily.Type.COUNTER, "Answers of this server, by status code.");
        for (final int status : STATUSES) {
            answers.add(answerCounts.applyAsLong(status), "code", Integer.toString(status));
        }
        final MetricFamily evicted = new MetricFamily("flowlag_http_evicted_connections", MetricFamily.Type.COUNTER,
            "Connections ended because there were too many; the one that had waited longest goes.");
        evicted.add(evictedCount);
        final MetricFamily overdue = new MetricFamily("flowlag_http_overdue_connections", MetricFamily.Type.COUNTER,
            "Connections ended because a request or an answer took too long.");
        overdue.add(overdueCount);
        return List.of(answers, evicted, overdue);
    }

    private HttpResponse answer(final Request request) {
        try {
            return handler.apply(request);
        } catch (final RuntimeException | Error ex) {
            errorHandler.onError(ex);
            return HttpResponse.refusal(500);
        }
    }

    private void send(final Request request, final Response response, final Callback callback, final HttpResponse answer) {
        final Connection connection = request.getConnectionMetaData().getConnection();
        advance(connection, stepNs);
        answers.incrementAndGet(answer.status());
        answer.write(response, Callback.from(callback, () -> advance(connection, DRAIN_NS)));
    }

    private void open(final Connection connection) {
        Connection victim = null;
        synchronized (connections) {
            if (connections.size() >= maximumConnections) {
                victim = connections.entrySet().stream().filter((each) -> each.getValue().isReading()).map(Map.Entry::getKey)
                    .findFirst().orElseGet(() -> connections.keySet().iterator().next());
                connections.remove(victim);
                evicted.incrementAndGet();
            }
            connections.put(connection, new Progress(true, System.nanoTime() + stepNs));
        }
        if (victim != null) {
            victim.getEndPoint().close();
        }
    }

    private void advance(final Connection connection, final long patienceNs) {
        synchronized (connections) {
            connections.replace(connection, new Progress(false, System.nanoTime() + patienceNs));
        }
    }

    private void endOverdue() {
        final long nowNs = System.nanoTime();
        final List<Connection> ended = new ArrayList<>();
        synchronized (connections) {
            connections.forEach((connection, progress) -> {
                if (nowNs - progress.deadlineNs() >= 0) {
                    ended.add(connection);
                }
            });
            connections.keySet().removeAll(ended);
        }
        overdue.addAndGet(ended.size());
        ended.forEach((connection) -> connection.getEndPoint().close());
    }

    /** The timer works, and a thread of the pool too if it beats. */
    private void tick() {
        try {
            endOverdue();
            server.getThreadPool().execute(onTick);
        } catch (final RejectedExecutionException ex) {
            return; // the server ends
        } catch (final RuntimeException | Error ex) {
            errorHandler.onError(ex);
        }
        server.getScheduler().schedule(this::tick, TICK_MS, TimeUnit.MILLISECONDS);
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (final Exception ex) {
            errorHandler.onError(ex);
        }
    }
}
