package io.flowlag.station.view;

import io.flowlag.common.http.HttpResponse;
import io.flowlag.common.http.HttpRules;
import io.flowlag.common.http.HttpServer;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricText;
import io.flowlag.common.http.PageFiles;
import io.flowlag.network.topology.NetworkMap;
import org.agrona.ErrorHandler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.util.thread.Invocable.InvocationType;

import java.io.IOException;
import java.net.InetSocketAddress;
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
    /** Beside this class. */
    private static final List<String> OWN = List.of(
        "view.css", "base.js", "map.js", "path.js", "alerts.js", "verdicts.js", "segment.js", "exporters.js", "pages.js",
        "login.js");
    private static final Map<String, String> FORCES = Map.of(
        "/d3-dispatch.js", "d3-dispatch/3.0.1/dist/d3-dispatch.min.js", "/d3-force.js", "d3-force/3.0.0/dist/d3-force.min.js",
        "/d3-quadtree.js", "d3-quadtree/3.0.1/dist/d3-quadtree.min.js", "/d3-timer.js", "d3-timer/3.0.1/dist/d3-timer.min.js");

    private final ViewApi api;
    private final Map<String, HttpResponse> files;
    private final HttpRules rules;
    private final ViewGuard guard;
    private final HttpServer server;

    /** Serves at once; throws an {@link IOException} if the port cannot be bound. */
    ViewServer(
        final InetSocketAddress listen, final ViewAccess access, final ViewApi api, final ErrorHandler errorHandler)
        throws IOException {
        this.api = api;
        guard = new ViewGuard(access, PageFiles.page(ViewServer.class, "login.html"));
        files = PageFiles.of(ViewServer.class, OWN);
        files.put("/", PageFiles.page(ViewServer.class, "view.html"));
        FORCES.forEach((path, library) -> files.put(
            path, PageFiles.file(path, PageFiles.text(ViewServer.class, PageFiles.LIBRARIES + library))));
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
