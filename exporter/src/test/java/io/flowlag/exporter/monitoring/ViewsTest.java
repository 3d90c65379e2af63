package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What people see: the screen of top, the table and JSON of flows, their filters. */
class ViewsTest {
    private static final StatusSnapshot SNAPSHOT = Snapshots.of(1000);
    private static final List<FlowView> FLOWS = SNAPSHOT.flows().flows();

    private static long count(final FlowFilter filter) {
        return FLOWS.stream().filter(filter::matches).count();
    }

    private static FlowFilter either(final String prefix) {
        return new FlowFilter(null, null, Prefix.of(prefix), -1, -1, -1, -1, null, false);
    }

    @Test
    void shouldFitAScreen() {
        for (final int width : new int[]{40, 80, 200}) {
            final List<String> lines = new TopView().lines(SNAPSHOT, null, width, 24);
            assertEquals(24, lines.size());
            for (final String line : lines) {
                assertTrue(line.length() <= width, line);
                assertTrue(line.chars().noneMatch(Character::isISOControl), line);
            }
        }
        final String screen = String.join("\n", new TopView().lines(SNAPSHOT, null, 80, 24));
        assertTrue(screen.contains("agree in 195 of 200 flows, 97.5 %"), screen);
        assertTrue(screen.contains("9.00ms"), screen);
        assertTrue(screen.contains("ok: threads, exchange"), screen);
        assertTrue(screen.contains("spool     held 11 (94 % full)  recovered 12  perhaps twice 15  errors 19"), screen);
    }

    /** The second class was matched; of the first there are estimates alone. */
    @Test
    void shouldShowWhatIsExactBesideWhatIsEstimated() throws Exception {
        final String screen = String.join("\n", new TopView().lines(SNAPSHOT, null, 80, 24));
        assertTrue(screen.contains("dscp 0     rli      2000   2.00ms   1.00ms   9.00ms   2.00ms   3.00ms"), screen);
        assertTrue(screen.contains("dscp 46    exact    1900   1.00ms   1.00ms        -   2.00ms"), screen);
        assertTrue(screen.contains("matched   1000  lost 1000 (50.000 %)  not of the segment 1000"), screen);
        assertEquals(1, screen.lines().filter((each) -> each.contains(" exact ") && each.contains("10.0.0.38")).count(), screen);

        assertTrue(FlowListing.lines(FLOWS).get(2).matches("10\\.0\\.0\\.38 .* 8\\.75ms +exact +125us +8\\.75ms +9\\.50ms .*"),
            FlowListing.lines(FLOWS).get(2));
        final JsonNode exact = new ObjectMapper().readTree(FlowListing.json(FLOWS).split("\n")[1]);
        assertTrue(exact.get("exact").asBoolean());
        final JsonNode referred = new ObjectMapper().readTree(FlowListing.json(FLOWS).split("\n")[0]);
        assertNull(referred.get("exact"));
        final JsonNode page = new ObjectMapper().readTree(new StatusJson().status(SNAPSHOT, history()));
        assertFalse(page.get("history").get(0).get("classes").get(0).get("exact").asBoolean());
        assertTrue(page.get("history").get(0).get("classes").get(1).get("exact").asBoolean());
        assertEquals(1_000_000, page.get("history").get(0).get("classes").get(1).get("mean_ns").asLong());
        assertEquals(2_000_000, page.get("history").get(0).get("classes").get(1).get("interpolated_mean_ns").asLong());
    }

    private static List<HistoryRow> history() {
        final History history = new History();
        history.add(SNAPSHOT.statistics());
        return history.rows();
    }

    @Test
    void shouldShowRatesAndStaleness() {
        final TopView view = new TopView();
        assertFalse(view.lines(Snapshots.of(1000), null, 120, 24).get(2).contains("/s"));
        assertTrue(view.lines(Snapshots.of(1010), null, 120, 24).get(2).contains("captured 1010 (1/s)"));
        assertEquals("STALE: gone", view.lines(Snapshots.of(1010), "gone", 120, 24).get(1));
        assertTrue(view.lines(Snapshots.of(1001), null, 120, 24).get(1).startsWith("FAILING: exchange"));
    }

    @Test
    void shouldFilterFlows() {
        assertEquals(40, count(FlowFilter.ALL));
        assertEquals(1, count(either("10.0.0.7")));
        assertEquals(32, count(either("10.0.0.0/8")));
        assertEquals(32, count(either("192.0.2.0/24")));
        assertEquals(8, count(either("2001:db8::/32")));
        assertEquals(40, count(new FlowFilter(null, null, null, 443, -1, -1, -1, null, false)));
        assertEquals(1, count(new FlowFilter(null, null, null, 50_001, -1, -1, -1, null, false)));
        assertEquals(20, count(new FlowFilter(null, null, null, -1, 6, -1, -1, null, false)));
        assertEquals(20, count(new FlowFilter(null, null, null, -1, 17, -1, -1, null, false)));
        assertEquals(14, count(new FlowFilter(null, null, null, -1, -1, 46, 1, null, false)));
        assertEquals(30, count(new FlowFilter(null, null, null, -1, -1, -1, -1, null, true)));
        assertEquals(1, count(new FlowFilter(null, null, null, -1, -1, -1, -1, 9_000_000L, false)));
        assertEquals(0, count(new FlowFilter(Prefix.of("192.0.2.0/24"), null, null, -1, -1, -1, -1, null, false)));
    }

    @Test
    void shouldTellIpv4MappedAddressesFromThoseOfIpv4() {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[FlowDelay.IMAGE_LENGTH_BYTES]);
        FlowEntry.ipVersion(buffer, 0, 6);
        FlowEntry.sourceLow(buffer, 0, 0xFFFF_C000_0201L);
        FlowEntry.destinationLow(buffer, 0, 1);
        final FlowView flow = FlowView.of(buffer, 0);
        assertEquals("0:0:0:0:0:ffff:c000:201", flow.source());
        assertFalse(either("192.0.2.0/24").matches(flow));
        assertTrue(either("::ffff:192.0.2.1").matches(flow));
    }

    @Test
    void shouldListTheSlowestFirstAndSayAbsentAsAbsent() throws Exception {
        final List<String> lines = FlowListing.lines(FLOWS);
        assertEquals(41, lines.size());
        assertTrue(lines.get(1).startsWith("10.0.0.39 "), lines.get(1));
        final String[] json = FlowListing.json(FLOWS).split("\n");
        final JsonNode slowest = new ObjectMapper().readTree(json[0]);
        assertEquals(9_000_000, slowest.get("mean_ns").asLong());
        assertEquals(100_000, slowest.get("bound_ns").asLong());
        final JsonNode unmeasured = new ObjectMapper().readTree(json[39]);
        assertNull(unmeasured.get("mean_ns"));
        assertNull(unmeasured.get("lost"));
        assertTrue(lines.get(40).contains("        -"), lines.get(40));
    }

    @Test
    void shouldKnowNoDeviationOfOneDelay() {
        final UnsafeBuffer flow = new UnsafeBuffer(new byte[FlowDelay.IMAGE_LENGTH_BYTES]);
        FlowEntry.ipVersion(flow, 0, 4);
        FlowDelay.estimator(flow, FlowEntry.BASE_LENGTH_BYTES, FlowDelay.ESTIMATOR_INTERPOLATED);
        Snapshots.delays(flow, FlowEntry.BASE_LENGTH_BYTES, 1, 5, 0);
        assertNull(FlowView.of(flow, 0).standardDeviationNs());
        assertEquals(-1_000_000, FlowView.of(flow, 0).minimumNs());

        Snapshots.delays(flow, FlowEntry.BASE_LENGTH_BYTES, 2, 5, 0);
        assertEquals(0, FlowView.of(flow, 0).standardDeviationNs());
    }

    @Test
    void shouldWriteDurationsShortly() {
        assertEquals("-", Durations.text(null));
        assertEquals("-1.50us", Durations.text(-1500L));
        assertEquals("999ns", Durations.text(999L));
        assertEquals("12.3ms", Durations.text(12_345_678L));
        assertEquals("2.00s", Durations.text(2_000_000_000L));
        assertEquals("9999", Durations.count(9999));
        assertEquals("12.3k", Durations.count(12_345));
    }
}
