package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.http.MetricFamily;
import io.flowlag.common.http.MetricText;
import io.flowlag.exporter.docs.GeneratedDocs;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.DelayStatistics;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MetricsTest {
    private static final long NUMBER = 1000;

    private static StrictMetrics metrics(final boolean isOpenMetrics) {
        return StrictMetrics.parse(MetricText.write(Metrics.of(Snapshots.of(NUMBER)), isOpenMetrics), isOpenMetrics);
    }

    @Test
    void shouldBeReadByAStrictReaderInBothFormats() {
        final StrictMetrics prometheus = metrics(false);
        final StrictMetrics open = metrics(true);
        assertEquals(prometheus.samples(), open.samples());
        assertTrue(prometheus.samples().size() > 300, prometheus.samples().size() + " samples");
        assertEquals("histogram", prometheus.types().get("flowlag_packet_delay_seconds"));
        assertEquals(0.077, prometheus.samples().get("flowlag_packet_delay_seconds_sum{sender=0, class=0, dscp=}"), 1e-12);
        assertEquals(0.5, prometheus.samples().get("flowlag_utilization_ratio{class=0}"));
        assertEquals(1.5e-6,
            prometheus.samples().get("flowlag_session_stamp_correction_seconds{class=1, session=7}"), 1e-15);
        assertEquals(9.0, prometheus.samples().get("flowlag_a_figure_of_the_future{}"));
    }

    @Test
    void shouldTellWrongTextFromRight() {
        assertThrows(AssertionError.class, () -> StrictMetrics.parse("flowlag_x 1", false));
        assertThrows(AssertionError.class, () -> StrictMetrics.parse(
            "# HELP flowlag_x_total x\n# TYPE flowlag_x_total counter\nflowlag_x_total{a=\"1\"} 1\nflowlag_x_total{a=\"1\"} 2\n",
            false));
        assertThrows(AssertionError.class, () -> StrictMetrics.parse(
            "# HELP flowlag_x_ms x\n# TYPE flowlag_x_ms gauge\nflowlag_x_ms 1\n", false));
    }

    /** Every figure under counters and gauges of --stats is a metric with the same value. */
    @Test
    void shouldShowEveryCounterOfTheStatistics() throws IOException {
        final Map<String, Double> samples = metrics(false).samples();
        final JsonNode stats = new ObjectMapper().readTree(new StatusJson().status(Snapshots.of(NUMBER)))
            .get("statistics");
        final Set<String> seen = new HashSet<>();
        for (final Map.Entry<String, String> each : names(stats).entrySet()) {
            assertTrue(samples.containsKey(each.getValue()), each.getKey() + ": no " + each.getValue());
            assertTrue(seen.add(each.getValue()), "two figures of one name: " + each);
        }
        assertEquals(NUMBER, samples.get("flowlag_captured_packets_total{}"));
    }

    private static Map<String, String> names(final JsonNode stats) {
        final Map<String, String> names = new TreeMap<>();
        final Map<String, String> units = new TreeMap<>();
        for (int i = 0; i < CounterId.count(); i++) {
            final CounterId id = CounterId.of(i);
            units.put(id.label(), id.unit());
            names.put(id.label(), sample(id.label(), MetricCatalogue.of(id)));
        }
        stats.get("counters").fieldNames().forEachRemaining((label) ->
            assertTrue(units.containsKey(label) || "refused".equals(label), label));
        stats.get("delay").get("counters").fieldNames().forEachRemaining((label) ->
            names.put(label, sample(label, MetricCatalogue.delayCounter(label))));
        stats.get("delay").get("gauges").fieldNames().forEachRemaining((label) ->
            names.put(label, sample(label, MetricCatalogue.gauge(label))));
        return names;
    }

    private static String sample(final String label, final MetricCatalogue.Entry entry) {
        final MetricName name = MetricName.of(label, entry.unit());
        final List<String> labels = new ArrayList<>();
        for (int i = 0; i < name.labels().size(); i += 2) {
            labels.add(name.labels().get(i) + "=" + name.labels().get(i + 1));
        }
        return name.name() + (entry.type() == MetricFamily.Type.COUNTER ? "_total" : "") + "{" + String.join(", ", labels) + "}";
    }

    @Test
    void shouldKnowEveryLabelThatTheDelayStageHas() {
        Snapshots.of(1).statistics().delay().counters().keySet().stream()
            .filter((label) -> !label.startsWith("a_figure"))
            .forEach((label) -> assertTrue(MetricCatalogue.delayCounter(label) != MetricCatalogue.UNKNOWN, label));
    }

    @Test
    void shouldHaveEveryFigureOfTheCatalogueInTheProcessThatIsDocumented() {
        final DelayStatistics delay = Snapshots.of(1).statistics().delay();
        final Set<String> labels = new HashSet<>(delay.counters().keySet());
        delay.gauges().keySet().forEach((label) -> labels.add(label.replaceFirst("(_session_[0-9]+)?(_class_[0-9]+)?$", "")));

        MetricCatalogue.delayCounters().keySet().forEach((each) -> assertTrue(labels.contains(each), each));
        MetricCatalogue.gauges().keySet().forEach((each) -> assertTrue(labels.contains(each), each));
    }

    /** The page names the family of each metric of a process that has everything; each metric says what it is. */
    @Test
    void shouldHaveAFamilyOnThePageAndAHelpText() throws IOException {
        final String page = Files.readString(GeneratedDocs.directory().resolve("observe.md"));
        final int begin = page.indexOf("| family | measures | labels |");
        final String names = page.substring(begin, page.indexOf("\n\n", begin)).lines()
            .map((row) -> row.split("\\|")[1]).collect(Collectors.joining());
        final List<String> families = Pattern.compile("`([a-z0-9_]+)`").matcher(names).results()
            .map((each) -> "flowlag_" + each.group(1)).toList();
        final String text;
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(NUMBER))) {
            text = fixture.get("/metrics").body();
        }
        final StrictMetrics metrics = StrictMetrics.parse(text, false);
        metrics.types().forEach((name, type) -> {
            if (!"untyped".equals(type)) {
                assertTrue(families.stream().anyMatch(name::startsWith), () -> name + ": no row of a family in observe.md");
                assertFalse(metrics.helps().get(name).isBlank(), name);
            }
        });
        families.forEach((family) -> assertTrue(
            metrics.types().keySet().stream().anyMatch((name) -> name.startsWith(family)), () -> "no metric of " + family));
    }

    @Test
    void shouldListEveryMetricThatIsServed() throws IOException {
        final Map<String, MetricList.Row> listed = listed();
        final StrictMetrics served;
        try (StatusServerFixture fixture = new StatusServerFixture(Snapshots.of(NUMBER))) {
            served = StrictMetrics.parse(fixture.get("/metrics").body(), false);
        }
        served.types().forEach((name, type) -> {
            if (!"untyped".equals(type)) {
                assertTrue(listed.containsKey(name), name);
                assertEquals(type, listed.get(name).type(), name);
                assertEquals(served.helps().get(name), listed.get(name).help(), name);
            }
        });
        listed.values().forEach((row) -> assertTrue(!"untyped".equals(row.type()), row::name));
        assertEquals("seconds", listed.get("flowlag_packet_delay_seconds").unit());
        assertEquals("", listed.get("flowlag_captured_packets_total").unit());
        assertEquals(List.copyOf(new TreeMap<>(listed).keySet()),
            MetricList.lines().stream().map((line) -> line.replaceFirst(" .*", "")).toList());
    }

    @Test
    void shouldListTheSameAsJson() throws IOException {
        final List<String> names = new ArrayList<>();
        new ObjectMapper().readTree(MetricList.json()).forEach((each) -> names.add(each.get("name").textValue()));
        assertEquals(MetricList.rows().stream().map(MetricList.Row::name).toList(), names);
    }

    @Test
    void shouldNameOnlyListedMetricsInThePage() throws IOException {
        final Set<String> listed = listed().keySet();
        final Matcher named = Pattern.compile("\\bflowlag_[a-z0-9_]*[a-z0-9]\\b(?!\\*)")
            .matcher(Files.readString(GeneratedDocs.directory().resolve("observe.md")));
        while (named.find()) {
            final String name = named.group();
            assertTrue(listed.contains(name) || listed.contains(name.replaceFirst("_(bucket|sum|count)$", "")), name);
        }
    }

    private static Map<String, MetricList.Row> listed() {
        final Map<String, MetricList.Row> listed = new TreeMap<>();
        MetricList.rows().forEach((row) -> listed.put(row.name(), row));
        return listed;
    }

    /** Alert rules and dashboard ask for metrics that exist, by labels that these have. */
    @Test
    void shouldHaveWhatAlertsAndDashboardAskFor() throws IOException {
        final StrictMetrics metrics = metrics(false);
        final String rules = Files.readString(GeneratedDocs.directory().resolve("observe/alerts.yml"));
        final String[] alerts = rules.split("- alert: ");
        assertTrue(alerts.length > 5);
        for (final String asked : List.of(
            "rate(flowlag_match_lost_packets_total", "rate(flowlag_captured_packets_total[5m]) == 0",
            "rate(flowlag_packet_delay_seconds_bucket")) {
            assertTrue(rules.contains(asked), () -> "loss, silence and delay: " + asked);
        }
        for (int i = 1; i < alerts.length; i++) {
            final int expression = alerts[i].indexOf("expr:");
            assertAnswered(metrics, alerts[i].substring(expression, alerts[i].indexOf("labels: {")), alerts[i]);
        }
        final JsonNode dashboard =
            new ObjectMapper().readTree(GeneratedDocs.directory().resolve("observe/grafana.json").toFile());
        int targets = 0;
        for (final JsonNode panel : dashboard.get("panels")) {
            for (final JsonNode target : panel.get("targets")) {
                assertAnswered(metrics, target.get("expr").textValue(), target.get("legendFormat").textValue());
                targets++;
            }
        }
        assertTrue(targets > 5);
        final String variables = dashboard.get("templating").toString();
        assertTrue(variables.contains("label_values(flowlag_start_time_seconds, instance)") &&
            metrics.types().containsKey("flowlag_start_time_seconds"), variables);
    }

    /** Every metric of an expression exists, and a label that it or its text names is left over by it. */
    private static void assertAnswered(final StrictMetrics metrics, final String expression, final String text) {
        final Set<String> known = new HashSet<>(Set.of("instance", "job"));
        final Matcher asked = Pattern.compile("flowlag_[a-z0-9_]+").matcher(expression);
        int count = 0;
        while (asked.find()) {
            final String metric = asked.group();
            assertTrue(metrics.samples().keySet().stream().anyMatch((each) -> each.startsWith(metric + "{")), metric);
            known.addAll(List.of(labels(metrics, metric.replaceFirst("_bucket$", "")).split(", ")));
            count++;
        }
        assertTrue(count > 0 || expression.contains("up{"), expression);
        final Set<String> left = new HashSet<>();
        final Matcher grouped = Pattern.compile("\\bby \\(([^)]*)\\)").matcher(expression);
        while (grouped.find()) {
            left.addAll(List.of(grouped.group(1).split(", ")));
        }
        assertTrue(known.containsAll(left), () -> expression + ": " + left + " of " + known);
        if (left.isEmpty() && !expression.matches("(sum|max)\\(.*")) {
            left.addAll(known);
        }
        final Matcher named = Pattern.compile("\\{\\{ ?(?:\\$labels\\.)?([a-z]+) ?}}").matcher(text);
        while (named.find()) {
            assertTrue(left.contains(named.group(1)), text + " has " + named.group() + ", but " + expression + " leaves " + left);
        }
    }

    private static String labels(final StrictMetrics metrics, final String name) {
        for (final String sample : metrics.samples().keySet()) {
            if (sample.startsWith(name + "{") || sample.startsWith(name + "_bucket{")) {
                return sample.substring(sample.indexOf('{') + 1, sample.length() - 1).replaceAll("=[^,]*", "");
            }
        }
        return "";
    }
}
