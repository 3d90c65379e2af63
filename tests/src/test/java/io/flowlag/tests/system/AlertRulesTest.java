package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Prometheus' own promtool judges the shipped alert rules and the queries of the dashboards. Grafana itself is not in Debian. */
class AlertRulesTest {
    private static final Path OBSERVE = Checkout.root().resolve("docs/observe");
    private static final Path TESTS = Checkout.root().resolve("tests/src/test/resources/alerts");
    /** Grafana's names of units of what is counted. */
    private static final Set<String> COUNTS = Set.of("pps", "short", "none");

    @TempDir
    private Path directory;

    @ParameterizedTest
    @ValueSource(strings = {"alerts", "station-alerts"})
    void shouldFireWhereSomethingIsWrongAndNowhereElse(final String name) throws IOException {
        final Path rules = OBSERVE.resolve(name + ".yml");
        final Path tests = TESTS.resolve(name + "-test.yml");
        promtool("check", "rules", rules);
        promtool("test", "rules", tests);

        assertEquals(found("- alert: (\\w+)", Files.readString(rules)), found("alertname: (\\w+)", Files.readString(tests)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"grafana.json", "station-grafana.json"})
    void shouldDrawPanelsWithUnitsFromQueriesThatPrometheusTakes(final String name) throws IOException {
        final JsonNode dashboard = new ObjectMapper().readTree(OBSERVE.resolve(name).toFile());
        final Set<Integer> ids = new TreeSet<>();
        final StringBuilder rules = new StringBuilder("groups: [{name: dashboard, rules: [");
        for (final JsonNode panel : dashboard.get("panels")) {
            final String title = panel.get("title").textValue();
            final String unit = panel.at("/fieldConfig/defaults/unit").asText();
            assertTrue(ids.add(panel.get("id").intValue()), title + ": its id is another's");
            assertTrue(panel.at("/datasource/uid").asText().equals("${datasource}") && panel.get("gridPos").size() == 4, title);
            for (final JsonNode target : panel.get("targets")) {
                final String query = target.get("expr").textValue();
                assertTrue(isOfUnit(query, unit), title + ": " + unit + " for " + query);
                final String asked = query.replace("$instance", ".*").replace("$__rate_interval", "1m");
                rules.append("{record: x, labels: {number: n").append(rules.length()).append("}, expr: '").append(asked)
                    .append("'},\n");
            }
        }
        promtool("check", "rules", Files.writeString(directory.resolve("rules.yml"), rules.append("]}]\n")));
    }

    /** Times are seconds, shares are shares; the rest are counts, or how often a budget is burnt. */
    private static boolean isOfUnit(final String query, final String unit) {
        final boolean isCount = query.startsWith("count(");
        if (!isCount && query.contains("_seconds")) {
            return unit.equals("s");
        }
        final boolean isShare = !isCount && query.matches("(?s).*( / |_ratio|_probability).*") && !query.contains("_burn_ratio");
        return isShare ? unit.equals("percentunit") : COUNTS.contains(unit);
    }

    /** Who gets an alert finds its figures on the dashboard. */
    @Test
    void shouldShowOnTheDashboardWhatAlertsLookAt() throws IOException {
        final Set<String> alerts = found("(flowlag_\\w+)", Files.readString(OBSERVE.resolve("alerts.yml")));
        assertTrue(alerts.size() > 20);
        alerts.removeAll(found("(flowlag_\\w+)", Files.readString(OBSERVE.resolve("grafana.json"))));
        assertEquals(Set.of(), alerts);
    }

    private static Set<String> found(final String pattern, final String text) {
        final Set<String> found = new TreeSet<>();
        Pattern.compile(pattern).matcher(text).results().forEach((each) -> found.add(each.group(1)));
        return found;
    }

    private static void promtool(final String verb, final String what, final Path file) {
        Command.of(Tools.require("promtool", "prometheus"), verb, what, file).run().orFail();
    }
}
