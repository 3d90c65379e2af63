package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.listing.FlowQuery;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowFilter;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTraffic;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What people see: the screen of top, the table and JSON of flows, their filters. */
class ViewsTest {
    private static final long MS = 1_000_000;
    private static final StatusSnapshot SNAPSHOT = Snapshots.of(1000);
    private static final List<FlowView> FLOWS = SNAPSHOT.flows().flows();

    private static long count(final RowFilter.Condition condition, final String value) {
        return FlowRows.of(FLOWS, FlowQuery.ALL.with(RowFilter.ALL.with(condition, value))).size();
    }

    private static List<String> lines(final RowFormat format) {
        final StringBuilder text = new StringBuilder();
        FlowRows.append(FLOWS, Listing.of(format), text);
        return text.toString().lines().toList();
    }

    /** What nothing matches is said, below a header, or no line where a format has none. */
    @Test
    void shouldSayThatNothingIsShown() {
        final FlowQuery none = FlowQuery.ALL.with(RowFilter.ALL.with(RowFilter.Condition.DPORT, "1"));
        for (final RowFormat format : RowFormat.values()) {
            final StringBuilder text = new StringBuilder();
            final String remark = FlowRows.append(FLOWS, new Listing(format, none, false), text);
            assertEquals("of " + FLOWS.size() + " records none matches", remark);
            assertEquals(format == RowFormat.JSON ? 0 : 1, text.toString().lines().count(), text::toString);
            assertEquals("no such flow lives or ended in the last minute",
                FlowRows.append(List.of(), new Listing(format, none, false), text));
        }
    }

    @Test
    void shouldFitAScreen() {
        TopControl.HELP.forEach((line) -> assertTrue(line.length() <= 80, line));
        for (final int width : new int[]{40, 80, 200}) {
            final List<String> lines = new TopView(new TopControl(FlowQuery.ALL)).lines(SNAPSHOT, null, width, 24);
            assertEquals(24, lines.size());
            for (final String line : lines) {
                assertTrue(line.length() <= width, line);
                assertTrue(line.chars().noneMatch(Character::isISOControl), line);
            }
        }
        final String screen = String.join("\n", new TopView(new TopControl(FlowQuery.ALL)).lines(SNAPSHOT, null, 80, 24));
        assertTrue(screen.contains("agree in 195 of 200 flows, 97.5 %"), screen);
        assertTrue(screen.contains("9.00ms"), screen);
        assertTrue(screen.contains("ok: threads, exchange"), screen);
        assertTrue(screen.contains("spool     held 11 (94 % full)  recovered 12  perhaps twice 15  errors 19"), screen);
    }

    /** The second class was matched; of the first there are estimates alone. */
    @Test
    void shouldShowWhatIsExactBesideWhatIsEstimated() throws Exception {
        final String screen = String.join("\n", new TopView(new TopControl(FlowQuery.ALL)).lines(SNAPSHOT, null, 80, 24));
        assertTrue(screen.contains("dscp 0     rli      2000   2.00ms   1.00ms   9.00ms   2.00ms   3.00ms"), screen);
        assertTrue(screen.contains("dscp 46    exact    1900   1.00ms   1.00ms        -   2.00ms"), screen);
        assertTrue(screen.contains("matched   1000  lost 1000 (50.000 %)  not of the segment 1000"), screen);
        assertEquals(1, screen.lines().filter((each) -> each.contains("  100us ") && each.contains("10.0.0.38")).count(), screen);

        final String second = lines(RowFormat.TABLE).get(2);
        assertTrue(second.matches(
            "10\\.0\\.0\\.38 .* 8750\\.000 +125\\.000 +100\\.000 +interpolated .* 9500\\.000 +\\+8\\.6"), second);
    }

    @Test
    void shouldShowRatesAndStaleness() {
        final TopView view = new TopView(new TopControl(FlowQuery.ALL));
        assertFalse(view.lines(Snapshots.of(1000), null, 120, 24).get(2).contains("/s"));
        assertTrue(view.lines(Snapshots.of(1010), null, 120, 24).get(2).contains("captured 1010 (1/s)"));
        assertEquals("STALE: gone", view.lines(Snapshots.of(1010), "gone", 120, 24).get(1));
        assertTrue(view.lines(Snapshots.of(1001), null, 120, 24).get(1).startsWith("FAILING: exchange"));
    }

    @Test
    void shouldFilterFlows() {
        assertEquals(40, FlowRows.of(FLOWS, FlowQuery.ALL).size());
        assertEquals(1, count(RowFilter.Condition.PREFIX, "10.0.0.7"));
        assertEquals(32, count(RowFilter.Condition.PREFIX, "10.0.0.0/8"));
        assertEquals(32, count(RowFilter.Condition.PREFIX, "192.0.2.0/24"));
        assertEquals(8, count(RowFilter.Condition.PREFIX, "2001:db8::/32"));
        assertEquals(40, count(RowFilter.Condition.PORT, "443"));
        assertEquals(1, count(RowFilter.Condition.PORT, "50001"));
        assertEquals(40, count(RowFilter.Condition.DPORT, "443"));
        assertEquals(0, count(RowFilter.Condition.SPORT, "443"));
        assertEquals(1, count(RowFilter.Condition.SPORT, "50001"));
        assertEquals(20, count(RowFilter.Condition.PROTOCOL, "tcp"));
        assertEquals(20, count(RowFilter.Condition.PROTOCOL, "17"));
        assertEquals(14, count(RowFilter.Condition.DSCP, "46"));
        assertEquals(1, count(RowFilter.Condition.MIN_DELAY, "9ms"));
        assertEquals(0, count(RowFilter.Condition.SOURCE, "192.0.2.0/24"));
    }

    @Test
    void shouldTellIpv4MappedAddressesFromThoseOfIpv4() {
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[FlowDelay.IMAGE_LENGTH_BYTES]);
        FlowEntry.ipVersion(buffer, 0, 6);
        FlowEntry.sourceLow(buffer, 0, 0xFFFF_C000_0201L);
        FlowEntry.destinationLow(buffer, 0, 1);
        final FlowView flow = FlowView.of(buffer, 0);
        assertEquals("0:0:0:0:0:ffff:c000:201", flow.source());
        final RowFilter ipv4 = RowFilter.ALL.with(RowFilter.Condition.PREFIX, "192.0.2.0/24");
        final RowFilter mapped = RowFilter.ALL.with(RowFilter.Condition.PREFIX, "::ffff:192.0.2.1");
        assertEquals(0, FlowRows.of(List.of(flow), FlowQuery.ALL.with(ipv4)).size());
        assertEquals(1, FlowRows.of(List.of(flow), FlowQuery.ALL.with(mapped)).size());
    }

    @Test
    void shouldListTheSlowestFirstAndSayAbsentAsAbsent() throws Exception {
        final List<String> lines = lines(RowFormat.TABLE);
        assertEquals(41, lines.size());
        assertTrue(lines.get(1).startsWith("10.0.0.39 "), lines.get(1));
        final List<String> json = lines(RowFormat.JSON);
        final JsonNode slowest = new ObjectMapper().readTree(json.get(0));
        assertEquals(9_000_000, slowest.get("flowlagDelayMeanNanoseconds").asLong());
        assertEquals(100_000, slowest.get("flowlagDelayErrorBoundNanoseconds").asLong());
        assertTrue(slowest.get("_start").asText().matches("[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:]{8}\\.[0-9]{9}Z"), json.get(0));
        final JsonNode unmeasured = new ObjectMapper().readTree(json.get(39));
        assertNull(unmeasured.get("flowlagDelayMeanNanoseconds"));
        assertNull(unmeasured.get("flowlagLostPacketDeltaCount"));
        assertTrue(lines.get(40).matches(".*( +-){11}.*"), lines.get(40));
        assertEquals(41, lines(RowFormat.CSV).size());
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

    private static String press(final TopView view, final TopControl control, final String keys) {
        final byte[] octets = keys.getBytes(StandardCharsets.US_ASCII);
        assertFalse(control.onKeys(octets, octets.length));
        return String.join("\n", view.lines(SNAPSHOT, null, 120, 40));
    }

    @Test
    void shouldDoWhatKeysSay() {
        final TopControl control = new TopControl(FlowQuery.ALL.with(RowFilter.ALL.with(RowFilter.Condition.PROTOCOL, "udp")));
        final TopView view = new TopView(control);
        assertTrue(press(view, control, "").contains("sorted by mean; group flow; filter as asked; h for help"));
        assertTrue(press(view, control, "h").contains("sort by the next of"));
        assertTrue(press(view, control, "h>>").contains("*sd") || control.line().startsWith("sorted by sd;"), control::line);
        assertTrue(press(view, control, "\033[D\033[D").contains("*mean"));
        assertTrue(press(view, control, "r").contains("by mean, the smallest first"));
        assertTrue(press(view, control, "/port 5x\177").contains("filter> port 5_"));
        assertTrue(press(view, control, "x\r").contains("filter> port 5x_   5x must be 0 to 65535"));
        assertTrue(press(view, control, "\033").contains("filter as asked"));
        final String filtered = press(view, control, "/10.0.0.0/28 tcp min-packets 1003\r");
        assertEquals(5, filtered.lines().filter((line) -> line.startsWith("10.0.0.")).count(), filtered);
        assertEquals(0, control.chosen(5));
        press(view, control, "jj\033[B");
        assertEquals(3, control.chosen(5));
        final String third = view.lines(SNAPSHOT, null, 120, 40).get(view.chosenLine()).replaceFirst(" .*", "");
        final String page = press(view, control, "\r");
        assertTrue(page.lines().anyMatch((line) -> line.startsWith(third + " > ")) && page.contains("packets/s"), page);
        assertTrue(press(view, control, "\033gdst/24,proto\r").contains("dst 192.0.2.0/24  proto TCP"));
        assertTrue(press(view, control, "/port 1\r\r").contains("no flow is in the list"));
        assertTrue(control.onKeys(new byte[]{'q'}, 1));
        assertTrue(control.onKeys(new byte[]{'/', 3}, 2));
    }

    private static FlowRow record(final long startNs, final long packets, final Long meanNs, final Long lost) {
        return new FlowRow(new RowKey(null, null, 6, -1, -1, -1, -1),
            new RowTraffic(1, packets, packets, startNs, packets, lost == null ? RowTraffic.LIVING : 1),
            meanNs == null ? RowDelay.NONE : new RowDelay(meanNs, packets, null, false, 6, RowSpread.UNKNOWN, null, null),
            lost == null ? RowLoss.UNKNOWN : new RowLoss(lost, true));
    }

    private static void add(final RowHistory history, final long timeMs, final FlowRow... records) {
        final Grouping flows = Grouping.ofFlows();
        final List<FlowRow> all = List.of(records);
        history.add(timeMs, all, FlowRows.ordered(all, FlowQuery.ALL.by(flows)), flows::of);
    }

    @Test
    void shouldTellWhatHappenedBetweenSnapshots() {
        final RowHistory history = new RowHistory();
        add(history, 1000, record(MS, 100, MS, null));
        add(history, 1000, record(MS, 100, MS, null));
        add(history, 3000, record(MS, 300, 3 * MS, null));
        add(history, 4000, record(MS, 300, 3 * MS, 30L), record(2 * MS, 50, MS, null));
        add(history, 5000, record(2 * MS, 150, MS, null)); // the first record is no longer in the list
        add(history, 6000, record(3 * MS, 10, 30L, null)); // the second one waits for the other point
        add(history, 7000, record(2 * MS, 190, 2 * MS, 0L), record(3 * MS, 20, 30L, null));
        add(history, 8000, record(2 * MS, 190, 2 * MS, 0L), record(3 * MS, 21, 30L, null));
        final RowKey key = record(0, 0, null, null).key();
        assertEquals(List.of(
            // A nanosecond of rounding for each packet says nothing of one.
            new RowHistory.Step(8000, 1.0, null, null, 0, null, null, null),
            new RowHistory.Step(7000, 10.0, Math.round((190 * 2.0 * MS + 10 * 30) / 200), 200L, 0, 2L, 0L, 2L),
            new RowHistory.Step(6000, null, null, null, 0, null, null, null),
            new RowHistory.Step(5000, 100.0, MS, 100L, 0, null, null, null),
            new RowHistory.Step(4000, 50.0, MS, 50L, 0, 2L, 30L, 1L),
            new RowHistory.Step(3000, 100.0, 4 * MS, 200L, 0, null, null, null)), history.steps(key));
        for (int i = 0; i < RowHistory.POINTS; i++) {
            history.add(9000 + i, List.of(), List.of(), (row) -> row);
        }
        assertEquals(List.of(), history.steps(key));
        assertEquals(List.of(), history.rows());
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
