package io.flowlag.station.view;

import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.HttpRules;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.MetricText;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;

/** Serves {@code /metrics} of a part of a station that runs without a view. Any thread may close it. */
public final class MetricsServer implements AutoCloseable {
    private static final int CONNECTIONS = 16;
    private static final String METRICS = "/metrics";

    private final ViewGuard guard;
    private final HttpRules rules;
    private final Supplier<Map<String, Long>> counters;
    private final HttpServer server;

    /**
     * Serves at once.
     *
     * @param settings where, and who may look.
     * @param counters asked at each request, by any thread.
     * @throws IOException if the port cannot be bound, or everybody could look.
     */
    public MetricsServer(
        final View.Settings settings, final Supplier<Map<String, Long>> counters,
        final ErrorHandler errorHandler) throws IOException {
        final InetSocketAddress listen = settings.listen();
        final Optional<String> open = settings.access().fault(listen);
        if (open.isPresent()) {
            throw new IOException("view.listen=" + listen.getHostString() + ": " + open.get());
        }
        this.counters = counters;
        guard = new ViewGuard(settings.access(), HttpResponse.refusal(401));
        rules = new HttpRules(listen, listen.getHostString(), Set.of(METRICS));
        server = new HttpServer(listen, CONNECTIONS, HttpServer.STEP_NS, this::respond, InvocationType.NON_BLOCKING, errorHandler,
            settings.access().server(), () -> { });
    }

    private HttpResponse respond(final Request request) {
        return rules.refusal(request).or(() -> guard.answer(request))
            .orElseGet(() -> MetricText.response(request, ViewMetrics.ofCounters(counters.get())));
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return server.address();
    }

    @Override
    public void close() {
        server.close();
    }
}
