package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.config.ExporterConfig;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.http.HttpMethod;
import org.eclipse.jetty.server.Request;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntToLongFunction;

/**
 * HTTP for monitoring: {@code /metrics}, {@code /healthz}, {@code /status.json} and the status page at {@code /}. Read-only, from
 * memory. On loopback it accepts only loopback host names, which prevents DNS rebinding. It has its own thread; any thread may
 * close it.
 */
public final class StatusServer implements AutoCloseable {
    private static final Set<String> PATHS = Set.of("/", "/metrics", "/healthz", "/status.json");
    private static final int MAXIMUM_TARGET_CHARS = 1024;
    private static final int[] STATUSES = {200, 400, 404, 405, 414, 421, 431, 500, 503, 505};

    private final StatusSource source;
    private final StatusJson json = new StatusJson();
    private final StatusPage page = new StatusPage();
    private final boolean isLoopback;
    private final String host;
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
        this.host = host.toLowerCase(Locale.ROOT);
        isLoopback = address.getAddress().isLoopbackAddress();
        server = new HttpServer(address, connections, stepNs, this::respond, errorHandler);
    }

    /** {@return the address it listens on} */
    public InetSocketAddress address() throws IOException {
        return server.address();
    }

    private HttpResponse respond(final Request request) {
        final String path = request.getHttpURI().getPath();
        if (request.getHttpURI().getPathQuery().length() > MAXIMUM_TARGET_CHARS) {
            return HttpResponse.refusal(414);
        }
        if (isLoopback && !isHostOfLoopback(header(request, HttpHeader.HOST))) {
            return HttpResponse.refusal(421);
        }
        if (!PATHS.contains(path)) {
            return HttpResponse.refusal(404);
        }
        if (!HttpMethod.GET.is(request.getMethod()) && !HttpMethod.HEAD.is(request.getMethod())) {
            return HttpResponse.refusal(405).with("Allow", "GET, HEAD");
        }
        if ("/".equals(path)) {
            return page.response();
        }
        final StatusSnapshot snapshot = source.snapshot();
        if (snapshot == null) {
            return HttpResponse.plain(503, "the process starts: nothing to tell yet");
        }
        return switch (path) {
            case "/metrics" -> metrics(snapshot, header(request, HttpHeader.ACCEPT).contains("application/openmetrics-text"));
            case "/healthz" -> HttpResponse.of(
                snapshot.isOk() ? 200 : 503, StatusJson.TYPE, json.health(snapshot));
            default -> HttpResponse.of(200, StatusJson.TYPE, json.status(snapshot, source.history()));
        };
    }

    private static String header(final Request request, final HttpHeader name) {
        return Objects.requireNonNullElse(request.getHeaders().get(name), "");
    }

    private HttpResponse metrics(final StatusSnapshot snapshot, final boolean isOpenMetrics) {
        final Collection<MetricFamily> families = new ArrayList<>(Metrics.of(snapshot));
        families.addAll(own(server::answers, server.evictedCount(), server.overdueCount()));
        return HttpResponse.of(
            200, isOpenMetrics ? MetricText.OPEN_METRICS_TYPE : MetricText.PROMETHEUS_TYPE,
            MetricText.write(families, isOpenMetrics));
    }

    /** The metrics of the server itself; responses by status code. */
    static List<MetricFamily> own(final IntToLongFunction answerCounts, final long evictedCount, final long overdueCount) {
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

    /** An address, localhost, or the configured name. */
    private boolean isHostOfLoopback(final String written) {
        final String name = written.toLowerCase(Locale.ROOT).replaceFirst(":[0-9]*$", "");
        return name.isEmpty() || "localhost".equals(name) || name.equals(host) || name.startsWith("[") ||
            name.matches("[0-9]+(\\.[0-9]+){3}");
    }

    @Override
    public void close() {
        server.close();
    }
}
