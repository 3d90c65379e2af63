package io.flowlag.station.view;

import com.fasterxml.jackson.databind.JsonNode;
import io.flowlag.station.schema.PathWindow;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.flowlag.station.view.Samples.S;
import static io.flowlag.station.view.Samples.START_NS;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Flows along their paths: what is found, what is summed, and that the bound holds. */
class PathsTest {
    @TempDir
    private Path directory;

    private ViewFixture fixture() throws Exception {
        final ViewFixture fixture = new ViewFixture(directory.resolve("history.db"), () -> START_NS + 90 * S);
        for (int port = 1; port <= 3; port++) {
            fixture.view().onResult(Samples.path(port, START_NS, 10).build());
            fixture.view().onResult(Samples.path(port, START_NS + 10 * S, 10).build());
        }
        fixture.view().onResult(Samples.path(4, START_NS + 10 * S, 10).setSrcAddr(Samples.address(
            0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7)).setProto(17).build());
        fixture.view().onResult(Samples.unknownPath(5, START_NS + 10 * S, 10));
        fixture.view().awaitWritten();
        return fixture;
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "|5", "src=10.1.0.0/16|4", "src=10.1.0.2|1", "src=10.2.0.0/16|0", "dst=10.9.0.0/24&src=2001:db8::/32|1", "src=::/0|1",
        "protocol=17|1", "protocol=6&dst_port=443|4", "src_port=40003|1", "network=other|0",
        "at=2025-11-24T16:00:15Z|3", "at=2025-11-24T16:00:09Z|0"})
    void shouldFindFlowsOfTheNewestWindow(final String question, final int flows) throws Exception {
        try (ViewFixture fixture = fixture()) {
            final JsonNode answer = fixture.json("/api/paths?" + (question == null ? "" : question));
            assertEquals(flows, answer.get("flows").asInt(), answer::toString);
            assertEquals(flows, answer.get("paths").size());
            assertEquals(2, answer.get("window_ends_ms").size());
            if (flows == 3) {
                assertEquals((START_NS + 10 * S) / 1_000_000, answer.at("/paths/0/end_ms").asLong());
            }
        }
    }

    @Test
    void shouldSumWhatFlowsOfARouteHave() throws Exception {
        try (ViewFixture fixture = fixture()) {
            final JsonNode answer = fixture.json("/api/paths?src=10.1.0.0/16");
            final JsonNode route = answer.at("/routes/0");
            assertEquals(3, route.get("flows").asInt());
            final double mean = (1 + 2 * 2 + 3 * 3) / 6.0;
            assertEquals(1_800_000 + mean, route.get("mean_ns").asDouble(), 1e-6);
            double stretches = 0;
            for (final JsonNode stretch : route.get("stretches")) {
                stretches += stretch.get("mean_ns").asDouble();
            }
            assertEquals(route.get("mean_ns").asDouble(), stretches, 1e-6, "means of stretches add up");
            assertEquals(600, route.at("/stretches/0/packets").asLong());
            assertEquals(3, route.at("/stretches/0/lost_packets").asLong());
            assertEquals(45_000, route.get("clock_bound_ns").asDouble());
            assertEquals(70_000, route.get("bound_ns").asDouble(), 1e-6, "bounds of one sign");
            assertFalse(route.at("/stretches/1").has("segment") || route.at("/stretches/1").has("lost_packets"));
            final JsonNode unknown = answer.at("/routes/1");
            assertFalse(unknown.has("mean_ns") || unknown.at("/stretches/1").has("mean_ns"), unknown::toString);
            assertEquals("10.1.0.5", answer.at("/paths/3/source").asText(), "without a sum, last");
            assertEquals(1_800_003, answer.at("/paths/0/mean_ns").asDouble(), "the slowest first");
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "src=zrh|src: is no prefix", "dst=10.0.0.0/33|dst: has no length",
        "protocol=256|protocol: must be a number from 0 to 255",
        "src_port=-1|src_port: must be", "at=now|at: must be a time"})
    void shouldRefuseWithTheWayOut(final String question, final String part) throws Exception {
        try (ViewFixture fixture = fixture()) {
            final String body = fixture.get("/api/paths?" + question).body();
            assertTrue(body.contains("\"status\":400") && body.contains(part), body);
        }
    }

    @Test
    void shouldHoldAtMostItsBound() {
        final long mostBytes = 20_000;
        final RecentPaths paths = new RecentPaths(mostBytes);
        final Random random = new Random(3);
        final List<PathWindow> newest = new ArrayList<>();
        for (int i = 0; i < 400; i++) {
            final long startNs = START_NS + (i / 8 - random.nextInt(3)) * 10 * S;
            final PathWindow path = Samples.path(1 + random.nextInt(12), startNs, 10).build();
            if (paths.add(path) && path.getStartNs() == START_NS + 49 * 10 * S) {
                newest.add(path);
            }
            assertTrue(paths.heldBytes() <= mostBytes, paths.heldBytes() + " octets");
        }
        assertTrue(paths.ends().size() > 1 && paths.ends().size() < 8, () -> paths.ends().toString());
        assertEquals(newest.stream().distinct().count(), paths.newest((flow) -> true, Long.MAX_VALUE).size());
        boolean isFull = false;
        for (int port = 1; port < 200; port++) {
            isFull |= !paths.add(Samples.path(port, START_NS + 90 * 10 * S, 10).build());
        }
        assertTrue(isFull && paths.heldBytes() <= mostBytes && paths.ends().size() == 1, "one window too large is cut");
    }

    @Test
    void shouldNotReplaceWhatIsFinal() {
        final RecentPaths paths = new RecentPaths(RecentPaths.MOST_BYTES);
        final PathWindow whole = Samples.path(1, START_NS, 10).build();
        paths.add(whole.toBuilder().setFinal(false).setMeanNs(7).build());
        paths.add(whole);
        paths.add(whole.toBuilder().setFinal(false).setMeanNs(7).build());
        assertEquals(List.of(whole), paths.newest((flow) -> true, Long.MAX_VALUE));
    }
}
