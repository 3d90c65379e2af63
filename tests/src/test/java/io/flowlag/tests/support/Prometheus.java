package io.flowlag.tests.support;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;

/** A Prometheus in a network namespace that scrapes a process there twice a second and evaluates the shipped rules as often. */
public final class Prometheus implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String ADDRESS = "127.0.0.1:9090";
    private static final ObjectMapper JSON = new ObjectMapper();

    private final NetworkNamespace namespace;
    private final Command.Running process;

    /**
     * Starts it.
     *
     * @param namespace   where it runs.
     * @param metricsPort of the process, on loopback.
     * @param rules       the file of alert rules.
     * @param directory   for its configuration and its data.
     */
    public Prometheus(final NetworkNamespace namespace, final int metricsPort, final Path rules, final Path directory)
        throws IOException {
        this.namespace = namespace;
        final Path configuration = Files.writeString(directory.resolve("prometheus.yml"),
            "global: {scrape_interval: 500ms, evaluation_interval: 500ms}\nrule_files: ['" + rules + "']\n" +
            "scrape_configs: [{job_name: flowlag, static_configs: [{targets: ['127.0.0.1:" + metricsPort + "']}]}]\n");
        process = Command.of("ip", "netns", "exec", namespace.name(), "nice", "-n", "-19",
            Tools.require("prometheus", "prometheus"), "--config.file=" + configuration,
            "--storage.tsdb.path=" + directory.resolve("tsdb"), "--web.listen-address=" + ADDRESS).timeout(TIMEOUT).start();
    }

    /** Waits until it scrapes the process. */
    public void awaitScrapes() {
        Deadline.await(TIMEOUT, () -> process.isAlive() &&
            process.errors().contains("Server is ready") && query("up == 1").size() == 1, process::errors);
    }

    /** {@return the alerts that are active, as its API has them} */
    public JsonNode alerts() {
        return get("/api/v1/alerts").get("data").get("alerts");
    }

    /** {@return the time series that an expression has now} */
    public JsonNode query(final String expression) {
        return get("/api/v1/query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8)).get("data").get("result");
    }

    private JsonNode get(final String path) {
        try {
            return namespace.call(() -> {
                try (InputStream answer = URI.create("http://" + ADDRESS + path).toURL().openStream()) {
                    return JSON.readTree(answer);
                }
            });
        } catch (final Exception ex) {
            throw new AssertionError(path + " " + process.errors(), ex);
        }
    }

    @Override
    public void close() {
        process.close();
    }
}
