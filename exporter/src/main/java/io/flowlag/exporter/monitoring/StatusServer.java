package io.flowlag.exporter.monitoring;

import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.HttpRules;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricText;
import io.flowlag.common.http.PageFiles;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.status.Heartbeat;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * HTTP for monitoring: {@code /metrics}, {@code /healthz}, {@code /status.json}, {@code /history.json} and the status page at
 * {@code /} with what it loads. Read-only, from memory. On loopback it accepts only loopback host names, which prevents DNS
 * rebinding. It has its own thread; any thread may close it.
 */
public final class StatusServer implements AutoCloseable {
    private static final Set<String> DATA = Set.of("/metrics", "/healthz", "/status.json", "/history.json");

    private final StatusSource source;
    private final StatusJson json = new StatusJson();
    private final Map<String, HttpResponse> files =
        PageFiles.of(StatusServer.class, List.of("status.css", "charts.js", "status.js"));
    private final HttpRules rules;
    private final Heartbeat heartbeat = Heartbeat.of("http", Heartbeat.STUCK_NS);
    private final HttpServer server;

    /** Starts serving; throws an {@link IOException} if the port cannot be bound. */
    public StatusServer(final ExporterConfig.Metrics config, final StatusSource source, final ErrorHandler errorHandler)
        throws IOException {
        this(new InetSocketAddress(InetAddress.getByName(config.listen().host()), config.listen().port()), config.listen().host(),
            config.connections(), HttpServer.STEP_NS, source, errorHandler);
    }

    StatusServer(
        final InetSocketAddress address, final String host, final int connections, final long stepNs,
        final StatusSource source, final ErrorHandler errorHandler) throws IOException {
        this.source = source;
        files.put("/", PageFiles.page(StatusServer.class, "status.html"));
        rules = new HttpRules(
            address, host, Stream.concat(DATA.stream(), files.keySet().stream()).collect(Collectors.toSet()));
        server = new HttpServer(
            address, connections, stepNs, this::respond, InvocationType.NON_BLOCKING, errorHandler, Optional.empty(),
            heartbeat::beat);
        heartbeat.onStart();
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return server.address();
    }

    private HttpResponse respond(final Request request) {
        return rules.refusal(request).orElseGet(() -> serve(request));
    }

    private HttpResponse serve(final Request request) {
        final String path = request.getHttpURI().getPath();
        if (files.containsKey(path)) {
            return files.get(path);
        }
        final StatusSnapshot snapshot = source.snapshot();
        if (snapshot == null) {
            return HttpResponse.plain(503, "the process starts: nothing to tell yet");
        }
        return switch (path) {
            case "/metrics" -> metrics(request, snapshot);
            case "/healthz" -> HttpResponse.of(
                snapshot.isOk() ? 200 : 503, StatusJson.TYPE, json.health(snapshot));
            case "/history.json" -> history(request);
            default -> HttpResponse.of(200, StatusJson.TYPE, json.status(snapshot));
        };
    }

    private HttpResponse history(final Request request) {
        final String flow;
        try {
            flow = Request.extractQueryParameters(request).getValue("flow");
        } catch (final RuntimeException ex) {
            return HttpResponse.plain(400, "the query is no list of NAME=VALUE in UTF-8");
        }
        return HttpResponse.of(200, StatusJson.TYPE, source.history(flow));
    }

    private HttpResponse metrics(final Request request, final StatusSnapshot snapshot) {
        final Collection<MetricFamily> families = new ArrayList<>(Metrics.of(snapshot));
        families.addAll(HttpServer.metrics(server::answers, server.evictedCount(), server.overdueCount()));
        return MetricText.response(request, families);
    }

    @Override
    public void close() {
        heartbeat.onClose();
        server.close();
    }
}
