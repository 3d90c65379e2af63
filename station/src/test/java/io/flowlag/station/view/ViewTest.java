package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ViewTest {
    private static final String FROM = Instant.ofEpochSecond(START_NS / S).toString();

    @TempDir
    private Path directory;
    private volatile long nowNs = START_NS + 90 * S;

    private ViewFixture fixture() throws IOException {
        return new ViewFixture(directory.resolve("history.db"), () -> nowNs);
    }

    @Test
    void shouldShowTheNewestWindowAndLeaveOutWhatIsNotKnown() throws Exception {
        try (ViewFixture fixture = fixture()) {
            final SegmentWindow whole = Samples.window("zrh-gva", START_NS + 10 * S, 10).build();
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(whole);
            fixture.view().onResult(whole.toBuilder().setFinal(false).setMeanNs(7).build());
            fixture.view().onResult(SegmentWindow.newBuilder().setNetwork("backbone").setSegment("192.0.2.9/1/5")
                .setStartNs(START_NS).setEndNs(START_NS + 10 * S).build());
            fixture.view().awaitWritten();
            final JsonNode answer = fixture.json("/api/segments");
            assertEquals(nowNs / 1_000_000, answer.get("now_ms").asLong());
            assertEquals((START_NS + 20 * S) / 1_000_000, answer.get("newest_ms").asLong());
            assertEquals(2, answer.get("segments").size());
            final JsonNode empty = answer.at("/segments/0");
            assertEquals("192.0.2.9/1/5", empty.get("segment").asText());
            for (final String name : List.of(
                "class", "source", "mean_ns", "bound_ns", "floor_ns", "excess_ns", "lost_packets", "loss_kind", "p50_ns")) {
                assertFalse(empty.has(name), name);
            }
            final JsonNode segment = answer.at("/segments/1");
            assertEquals(1_250_000, segment.get("mean_ns").asDouble(), "what is final stays");
            assertEquals(250_000, segment.get("excess_ns").asDouble());
            assertEquals(1_250_000, segment.get("p99_ns").asDouble(), 12_500);
            assertEquals(List.of("192.0.2.9/1/5"), new ObjectMapper().convertValue(
                fixture.json("/api/network").get("not_on_the_map"), List.class));
            assertEquals(List.of(), List.copyOf(fixture.errors()));
        }
    }

    @Test
    void shouldSayWhichHopsAreBlind() throws Exception {
        try (ViewFixture fixture = fixture()) {
            assertEquals(6, blind(fixture), "nothing is measured yet");
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(Samples.window("gva-zrh", START_NS, 10).clearMeanNs().build());
            fixture.view().awaitWritten();
            assertEquals(4, blind(fixture), "zrh bern gva is seen");
            assertEquals(2, fixture.json("/api/network").at("/segments/0/hops").size());
        }
    }

    @Test
    void shouldShowASegmentThatIsSilentAsSuch() throws Exception {
        try (ViewFixture fixture = fixture()) {
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(Samples.window("gva-zrh", START_NS + 30 * S, 10).build());
            fixture.view().awaitWritten();
            assertTrue(fixture.json("/api/segments").at("/segments/1/is_current").asBoolean(), "three windows behind");
            assertEquals(2, blind(fixture));
            fixture.view().onResult(Samples.window("gva-zrh", START_NS + 40 * S, 10).build());
            fixture.view().awaitWritten();
            assertFalse(fixture.json("/api/segments").at("/segments/1/is_current").asBoolean());
            assertEquals(4, blind(fixture));
            final String metrics = fixture.get("/metrics").body();
            assertFalse(metrics.contains("segment=\"zrh-gva\""), "metrics of now");
            assertTrue(metrics.contains("segment=\"gva-zrh\""));
        }
    }

    private static long blind(final ViewFixture fixture) throws Exception {
        long blind = 0;
        for (final JsonNode hop : fixture.json("/api/network").get("hops")) {
            blind += hop.get("is_blind").asBoolean() ? 1 : 0;
        }
        return blind;
    }

    @Test
    void shouldTakeAVerdictBack() throws Exception {
        try (ViewFixture fixture = fixture()) {
            final View view = fixture.view();
            view.onResult(Samples.window("zrh-gva", START_NS, 10).build());
            view.onResult(Samples.verdict(START_NS, 10, START_NS).build());
            view.onResult(Samples.verdict(START_NS + 10 * S, 10, START_NS).setFinal(false).build());
            view.awaitWritten();
            final JsonNode current = fixture.json("/api/verdicts").get("verdicts");
            assertEquals(1, current.size(), "one fault");
            assertTrue(current.get(0).get("is_current").asBoolean());
            assertTrue(fixture.get("/metrics").body().contains(
                "flowlag_verdict_probability{network=\"backbone\",from=\"bern\",to=\"gva\",class=\"0\"} 0.93\n"));

            view.onResult(Samples.window("zrh-gva", START_NS + 20 * S, 10).build());
            view.onResult(Samples.verdict(START_NS, 10, START_NS + S).setClock("zrh")
                .setKind(Verdict.Kind.CLOCK_MOVED).build());
            view.awaitWritten();
            final JsonNode later = fixture.json("/api/verdicts").get("verdicts");
            assertEquals(1, later.size(), "the provisional one did not become final");
            assertEquals("zrh", later.get(0).get("clock").asText());
            assertFalse(later.get(0).get("is_current").asBoolean());
            assertFalse(fixture.get("/metrics").body().contains("flowlag_verdict_probability{"));
        }
    }

    @Test
    void shouldShowHowFastEachServiceLevelBurnsWhileItIsToldOf() throws Exception {
        try (ViewFixture fixture = fixture()) {
            final View view = fixture.view();
            view.onResult(Samples.window("zrh-gva", START_NS, 10).build());
            view.onResult(Samples.level("kept", START_NS + 10 * S, 0));
            view.onResult(Samples.level("voice", START_NS + 10 * S, 14.5));
            view.onResult(Samples.level("voice", START_NS, 3)); // told of again, behind a restart of the job
            view.awaitWritten();
            assertEquals(List.of("{network=\"backbone\",slo=\"kept\",class=\"46\",window=\"5m\"} 0",
                "{network=\"backbone\",slo=\"kept\",class=\"46\",window=\"3d\"} 0",
                "{network=\"backbone\",slo=\"voice\",class=\"46\",window=\"5m\"} 14.5",
                "{network=\"backbone\",slo=\"voice\",class=\"46\",window=\"3d\"} 14.5"), burning(fixture));
            view.onResult(Samples.level("voice", START_NS + 50 * S, 2));
            view.onResult(Samples.window("zrh-gva", START_NS + 40 * S, 10).build());
            view.awaitWritten();
            assertEquals(List.of("{network=\"backbone\",slo=\"voice\",class=\"46\",window=\"5m\"} 2",
                "{network=\"backbone\",slo=\"voice\",class=\"46\",window=\"3d\"} 2"), burning(fixture));
        }
    }

    private static List<String> burning(final ViewFixture fixture) throws Exception {
        return fixture.get("/metrics").body().lines().filter((line) -> line.startsWith("flowlag_slo_burn_ratio{"))
            .map((line) -> line.substring("flowlag_slo_burn_ratio".length())).toList();
    }

    @Test
    void shouldShowAlertsUntilTheyEndOrAreNotToldOf() throws Exception {
        try (ViewFixture fixture = fixture()) {
            final View view = fixture.view();
            view.onResult(Samples.window("zrh-gva", START_NS, 10).build());
            view.awaitWritten();
            view.onResult(Samples.alert("changed", START_NS).build());
            view.onResult(Samples.alert("burns", START_NS - 5 * S).setKind(Alert.Kind.BUDGET_BURNS).setValue(14.5).build());
            view.awaitWritten();
            assertEquals(List.of(true, true), current(fixture));
            final String metrics = fixture.get("/metrics").body();
            assertFalse(metrics.contains("flowlag_slo_burn_ratio{"), "of alerts nothing is known but the worst");
            assertTrue(metrics.contains("kind=\"delay_changed\",id=\"changed\"} 1764000000\n"), metrics);
            view.onResult(Samples.alert("changed", START_NS).setEndsNs(START_NS + 20 * S).build());
            view.onResult(Samples.alert("changed", START_NS).build()); // told of again, behind a restart of the job
            view.onResult(Samples.window("zrh-gva", START_NS + 40 * S, 10).build());
            view.awaitWritten();
            assertEquals(List.of(false, false), current(fixture), "one is over, one was not told of for four windows");
            view.onResult(Samples.alert("changed", START_NS + 40 * S).build());
            view.awaitWritten();
            assertEquals(List.of(true, false), current(fixture), "it came back");
        }
        try (ViewFixture fixture = fixture()) {
            assertEquals(List.of(true, true), current(fixture), "until windows come without them");
        }
    }

    private static List<Boolean> current(final ViewFixture fixture) throws Exception {
        final List<Boolean> current = new ArrayList<>();
        fixture.json("/api/alerts").get("alerts").forEach((alert) -> current.add(alert.get("is_current").asBoolean()));
        return current;
    }

    @Test
    void shouldLoseNothingFinalInARestart() throws Exception {
        final JsonNode segments;
        final JsonNode verdicts;
        try (ViewFixture fixture = fixture()) {
            for (int i = 0; i < 9; i++) {
                fixture.view().onResult(Samples.window("zrh-gva", START_NS + i * 10 * S, 10).build());
            }
            fixture.view().onResult(Samples.verdict(START_NS, 10, START_NS).build());
            fixture.view().awaitWritten();
            segments = fixture.json("/api/segments");
            verdicts = fixture.json("/api/verdicts");
            fixture.view().onResult(Samples.window("gva-zrh", START_NS, 10).build()); // close waits for it
        }
        try (ViewFixture fixture = fixture()) {
            assertEquals(segments.get("segments").get(0), fixture.json("/api/segments").get("segments").get(1));
            assertEquals("gva-zrh", fixture.json("/api/segments").at("/segments/0/segment").asText());
            assertEquals(verdicts.get("verdicts"), fixture.json("/api/verdicts").get("verdicts"));
            assertEquals(9, fixture.json("/api/history?segment=zrh-gva&class=0&from=" + FROM).get("windows").size());
        }
    }

    @Test
    void shouldKeepWhatIsFinalWhileTheFileIsLocked() throws Exception {
        try (ViewFixture fixture = fixture()) {
            try (Connection other = DriverManager.getConnection("jdbc:sqlite:" + directory.resolve("history.db"));
                Statement statement = other.createStatement()) {
                statement.execute("BEGIN IMMEDIATE");
                fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
                fixture.view().awaitWritten();
                final JsonNode answer = fixture.json("/api/segments");
                assertEquals(1, answer.get("segments").size(), "shown, but not written");
                assertTrue(answer.get("history_fault").asText().contains("another program keeps it locked"), answer::toString);
                statement.execute("ROLLBACK");
            }
            fixture.view().onResult(Samples.window("zrh-gva", START_NS + 10 * S, 10).build());
            fixture.view().awaitWritten();
            assertFalse(fixture.json("/api/segments").has("history_fault"));
            assertEquals(2, fixture.json("/api/history?segment=zrh-gva&class=0&from=" + FROM).get("windows").size());
            assertEquals(1, fixture.errors().size(), "told once");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "/api/nothing|404|/api/segments", "/api/segments?x=1|400|x: is no parameter",
        "/api/segments?at=1|400|at: must be a time", "/api/history|400|segment: is missing",
        "/api/history?segment=zrh-gva|404|without a class", "/api/history?segment=zrh-gva&class=64|400|class: must be",
        "/api/history?segment=zrh-gva&class=0&segment=a|400|more than once", "/api/history?segment=x&class=0|404|nothing",
        "/api/history?segment=zrh-gva&class=0&network=other|404|of the network other",
        "/api/history?segment=zrh-gva&class=0&from=yesterday|400|from: must be a time",
        "/api/history?segment=zrh-gva&class=0&to=+1000000000-01-01T00:00:00Z|400|to: must be a time",
        "/api/history?segment=zrh-gva&class=0&from=2030-01-01T00:00:00Z|400|from: must be before to"})
    void shouldAnswerFaultsAsProblems(final String target, final int status, final String part) throws Exception {
        try (ViewFixture fixture = fixture()) {
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().awaitWritten();
            final HttpResponse<String> answer = fixture.get(target);
            assertEquals(status, answer.statusCode(), answer::body);
            assertEquals("application/problem+json", answer.headers().firstValue("Content-Type").orElse(""));
            final JsonNode problem = new ObjectMapper().readTree(answer.body());
            assertEquals(status, problem.get("status").asInt());
            assertTrue(problem.get("detail").asText().contains(part), answer::body);
        }
    }

    @Test
    void shouldServeMetricsInBaseUnits() throws Exception {
        try (ViewFixture fixture = fixture()) {
            fixture.view().onResult(Samples.window("zrh-gva", START_NS, 10).build());
            fixture.view().onResult(Samples.window("gva-zrh", START_NS, 10).clearDscp().clearBoundNs().build());
            fixture.view().awaitWritten();
            final String metrics = fixture.get("/metrics").body();
            for (final String line : List.of(
                "flowlag_segment_delay_mean_seconds{network=\"backbone\",segment=\"zrh-gva\",class=\"0\"} 0.00125",
                "flowlag_segment_delay_mean_seconds{network=\"backbone\",segment=\"gva-zrh\"} 0.00125",
                "flowlag_segment_delay_excess_seconds{network=\"backbone\",segment=\"zrh-gva\",class=\"0\"} 2.5E-4",
                "flowlag_segment_lost_packets{network=\"backbone\",segment=\"zrh-gva\",class=\"0\"} 3",
                "flowlag_exporter_missing_records_total{peer=\"192.0.2.7\",domain=\"12\"} 7",
                "flowlag_station_too_late_total 2", "flowlag_station_view_dropped_overflow_total 0")) {
                assertTrue(metrics.contains("\n" + line + "\n"), line + " in\n" + metrics);
            }
            assertFalse(metrics.contains("delay_bound_seconds{network=\"backbone\",segment=\"gva-zrh\"}"), "it is not known");
            assertTrue(metrics.contains("flowlag_segment_delay_bound_seconds{"));
        }
    }

    @Test
    void shouldShowTheNetworkOfAFileThatHasChanged() throws Exception {
        final Path file = Files.writeString(directory.resolve("network.yaml"), "nodes: {a: {}, b: {}}\nlinks: ['a b']\n");
        final MapFile maps = new MapFile("", file.toString());
        assertTrue(maps.get().isEmpty() && maps.get().isEmpty(), "it has not changed");
        Files.writeString(file, "nodes: {a: {}, b: {}, c: {}}\nlinks: ['a b', 'b c']\n");
        assertTrue(maps.get().isEmpty(), "it may be in the making");
        final NetworkMap changed = maps.get().orElseThrow();
        Files.writeString(file, "nodes: {a: {}, b: {}, c: {}, d: [");
        assertTrue(maps.get().isEmpty() && maps.get().isEmpty(), "it has faults");
        Files.delete(file);
        assertTrue(maps.get().isEmpty() && new MapFile("", "").get().isEmpty());
        try (View view = new View(Samples.network(), View.Settings.onLoopback(0, directory.resolve("history.db")),
            new View.Sources(Map::of, List::of, () -> Optional.of(changed)), () -> nowNs, (error) -> { })) {
            view.awaitWritten();
            final String shown = HttpClient.newHttpClient().send(HttpRequest.newBuilder(view.uri().resolve("/api/network"))
                .build(), HttpResponse.BodyHandlers.ofString()).body();
            assertTrue(shown.contains("\"name\":\"c\"") && !shown.contains("zrh"), shown);
        }
    }

    @Test
    void shouldServeOnLoopbackAlone() {
        final IOException ex = assertThrows(IOException.class, () -> new View(
            Samples.network(), new View.Settings(new InetSocketAddress("0.0.0.0", 0), ViewAccess.LOOPBACK,
            directory.resolve("history.db"), Optional.empty()),
            new View.Sources(Map::of, List::of), () -> nowNs, (error) -> { }));
        assertTrue(ex.getMessage().contains("on loopback only"), ex.getMessage());
        assertFalse(Files.exists(directory.resolve("history.db")));
    }
}
