package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.flowlag.station.schema.Alert;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The dashboard and the alert rules of the station ask for metrics that it has, by labels that these have. */
class DashboardTest {
    private static final Path OBSERVE = Path.of("../docs/observe");
    private static final Pattern METRIC = Pattern.compile("flowlag_[a-z0-9_]+");
    private static final Pattern LABEL = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?([a-z]+) ?}}");
    private static final Pattern KEPT = Pattern.compile("\\bby \\(([^)]*)\\)");

    @TempDir
    private Path directory;
    /** By name. */
    private final Map<String, Set<String>> labels = new HashMap<>();
    private final Set<String> asked = new TreeSet<>();

    @Test
    void shouldAskForWhatThereIs() throws Exception {
        final View.Settings settings = new View.Settings(
            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), ViewAccess.LOOPBACK, directory.resolve("history.db"),
            Optional.of(URI.create("http://127.0.0.1:9/")));
        try (ViewFixture fixture = new ViewFixture(settings, () -> START_NS + 60 * S)) {
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(Samples.verdict(START_NS, 10, START_NS).build());
            fixture.view().onResult(Samples.alert("burns", START_NS).setKind(Alert.Kind.BUDGET_BURNS).build());
            fixture.view().onResult(Samples.level("voice", START_NS, 1.5));
            fixture.view().awaitWritten();
            read(fixture.get("/metrics").body());
        }
        final JsonNode dashboard = new ObjectMapper().readTree(OBSERVE.resolve("station-grafana.json").toFile());
        for (final JsonNode panel : dashboard.get("panels")) {
            for (final JsonNode target : panel.get("targets")) {
                check(target.get("expr").textValue(), target.get("legendFormat").textValue());
            }
        }
        final int ofDashboard = asked.size();
        assertTrue(ofDashboard > 15, asked::toString);
        check(dashboard.at("/templating/list/1/query").textValue().replaceAll("label_values\\(|, instance\\)", ""), "");
        final JsonNode rules = new ObjectMapper(new YAMLFactory()).readTree(OBSERVE.resolve("station-alerts.yml").toFile());
        for (final JsonNode rule : rules.at("/groups/0/rules")) {
            check(rule.get("expr").textValue(), rule.at("/annotations/summary").textValue());
        }
        final Set<String> segments = new TreeSet<>(labels.keySet());
        segments.removeIf((each) -> !each.matches("flowlag_(segment|verdict|slo|exporter|alert)_.*"));
        segments.removeAll(asked);
        assertEquals(Set.of("flowlag_exporter_messages_total", "flowlag_segment_packets"), segments, "shown nowhere");
    }

    private void read(final String metrics) {
        metrics.lines().filter((line) -> !line.startsWith("#")).forEach((line) -> {
            final Set<String> names = labels.computeIfAbsent(line.replaceFirst("[{ ].*", ""), (name) -> new HashSet<>());
            final Matcher label = Pattern.compile("([a-z]+)=\"").matcher(line);
            while (label.find()) {
                names.add(label.group(1));
            }
        });
    }

    private void check(final String expression, final String text) {
        final Set<String> left = new HashSet<>(Set.of("instance", "job"));
        final Matcher metric = METRIC.matcher(expression);
        while (metric.find()) {
            assertTrue(labels.containsKey(metric.group()), () -> metric.group() + " is no metric of the station");
            left.addAll(labels.get(metric.group()));
            asked.add(metric.group());
        }
        final Matcher kept = KEPT.matcher(expression);
        if (kept.find()) {
            left.retainAll(Set.of(kept.group(1).split(", ")));
        }
        final Matcher named = LABEL.matcher(text);
        while (named.find()) {
            assertTrue(left.contains(named.group(1)), () -> text + ": " + named.group() + " of " + expression + ", " + left);
        }
    }
}
