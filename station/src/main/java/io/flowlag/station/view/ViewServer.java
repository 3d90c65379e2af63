package io.flowlag.station.view;

import io.flowlag.common.http.HtmlPage;
import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.HttpRules;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricText;
import io.flowlag.network.topology.NetworkMap;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

import java.io.IOException;
import java.io.InputStream;
import java.net.InetSocketAddress;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** HTTP of the station: the page, the libraries it uses, REST and metrics. Any thread may close it. */
final class ViewServer implements AutoCloseable {
    /** At the same time; each has {@link HttpServer#STEP_NS} for its request, and as long to read the answer. */
    static final int CONNECTIONS = 64;
    private static final String API = "/api/";
    private static final String METRICS = "/metrics";
    private static final String STYLE = "text/css; charset=utf-8";
    private static final String SCRIPT = "text/javascript; charset=utf-8";
    private static final String LIBRARIES = "/META-INF/resources/webjars/";
    /** Beside this class. */
    private static final List<String> OWN = List.of("/view.css", "/base.js", "/map.js", "/path.js", "/alerts.js",
        "/verdicts.js", "/segment.js", "/exporters.js", "/pages.js", "/login.js");
    private static final Map<String, String> FILES = Map.of(
        "/uplot.js", "uplot/1.6.30/dist/uPlot.iife.min.js", "/uplot.css", "uplot/1.6.30/dist/uPlot.min.css",
        "/d3-dispatch.js", "d3-dispatch/3.0.1/dist/d3-dispatch.min.js", "/d3-force.js", "d3-force/3.0.0/dist/d3-force.min.js",
        "/d3-quadtree.js", "d3-quadtree/3.0.1/dist/d3-quadtree.min.js", "/d3-timer.js", "d3-timer/3.0.1/dist/d3-timer.min.js");

    private final ViewApi api;
    private final Map<String, HttpResponse> files = new HashMap<>();
    private final HttpRules rules;
    private final ViewGuard guard;
    private final HttpServer server;

    /** Serves at once; throws an {@link IOException} if the port cannot be bound. */
    ViewServer(
        final InetSocketAddress listen, final ViewAccess access, final ViewApi api, final ErrorHandler errorHandler)
        throws IOException {
        this.api = api;
        guard = new ViewGuard(access, new HtmlPage(ViewServer.class, "login.html", HtmlPage.SAME_SERVER).response());
        files.put("/", new HtmlPage(ViewServer.class, "view.html", HtmlPage.SAME_SERVER).response());
        for (final Map.Entry<String, String> file : FILES.entrySet()) {
            files.put(file.getKey(), file(file.getKey(), LIBRARIES + file.getValue()));
        }
        files.put("/common.css", HttpResponse.of(200, STYLE, HtmlPage.commonStyle()));
        for (final String own : OWN) {
            files.put(own, file(own, own.substring(1)));
        }
        final Set<String> paths = new HashSet<>(files.keySet());
        paths.add(METRICS);
        if (access.token().isPresent()) {
            paths.add(ViewGuard.LOGIN);
        }
        ViewApi.PATHS.forEach((path) -> paths.add(API + path));
        rules = new HttpRules(listen, listen.getHostString(), paths);
        server = new HttpServer(
            listen, CONNECTIONS, HttpServer.STEP_NS, this::respond, InvocationType.BLOCKING, errorHandler,
            access.server(), () -> { });
    }

    private static HttpResponse file(final String path, final String resource) throws IOException {
        try (InputStream stream = ViewServer.class.getResourceAsStream(resource)) {
            if (stream == null) {
                throw new IOException(resource + ": is not on the class path: build the station again");
            }
            return new HttpResponse(
                200, Map.of("Content-Type", path.endsWith(".css") ? STYLE : SCRIPT), stream.readAllBytes());
        }
    }

    void onNetwork(final NetworkMap map) {
        api.onNetwork(new MapJson(map));
    }

    InetSocketAddress address() throws IOException {
        return server.address();
    }

    private HttpResponse respond(final Request request) {
        final String path = request.getHttpURI().getPath();
        final HttpResponse refusal = rules.refusal(request).orElse(null);
        if (refusal != null) {
            return path.startsWith(API) ? refusedApi(refusal) : refusal;
        }
        final HttpResponse refused = guard.answer(request).orElse(null);
        if (refused != null) {
            return refused;
        }
        if (path.startsWith(API)) {
            return api.answer(path.substring(API.length()), request);
        }
        if (METRICS.equals(path)) {
            final List<MetricFamily> families = api.metrics();
            families.addAll(HttpServer.metrics(server::answers, server.evictedCount(), server.overdueCount()));
            return MetricText.response(request, families);
        }
        return files.get(path);
    }

    private static HttpResponse refusedApi(final HttpResponse refusal) {
        HttpResponse problem = ViewJson.problem(refusal.status(), refusal.status() == 404 ?
            "there is " + String.join(", ", ViewApi.PATHS.stream().map(API::concat).sorted().toList()) :
            "only GET and HEAD of known paths, by a name of this host");
        for (final Map.Entry<String, String> header : refusal.headers().entrySet()) {
            problem = "Content-Type".equals(header.getKey()) ? problem : problem.with(header.getKey(), header.getValue());
        }
        return problem;
    }

    @Override
    public void close() {
        server.close();
    }
}
