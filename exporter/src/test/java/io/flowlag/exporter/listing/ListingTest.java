package io.flowlag.exporter.listing;

import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.config.ConfigLoader;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What rows add up to, their order, and how they are written. */
class ListingTest {
    private static final long START_NS = 1_700_000_000_123_456_789L;
    private static final long BOUND_NS = 1_000;

    /** A flow with these delays; its mean is wrong by an error. */
    private static FlowRow flow(final String destination, final long[] delaysNs, final long errorNs, final Long boundNs) {
        final double mean = LongStream.of(delaysNs).average().orElseThrow();
        final double variance =
            LongStream.of(delaysNs).mapToDouble((each) -> (each - mean) * (each - mean)).sum() / (delaysNs.length - 1);
        return new FlowRow(
            new RowKey(Prefix.of("192.0.2.1"), Prefix.of(destination), 17, 1, 53, 46, 1),
            new RowTraffic(1, (long)delaysNs.length, 100L * delaysNs.length, START_NS, 1_000_000L, 1),
            new RowDelay(Math.round(mean) + errorNs, (long)delaysNs.length, boundNs, false, 1, new RowSpread(
                delaysNs.length == 1 ? null : Math.round(Math.sqrt(variance)), LongStream.of(delaysNs).min().orElseThrow(), 1L,
                2L, 3L, LongStream.of(delaysNs).max().orElseThrow()), null, null),
            new RowLoss(1L, true));
    }

    private static FlowRow flow(final String destination, final long delayNs) {
        return flow(destination, new long[]{delayNs}, 0, BOUND_NS);
    }

    private static List<FlowRow> rows(final FlowQuery query, final List<FlowRow> flows) {
        final HeldRows held = new HeldRows(query);
        flows.stream().filter((each) -> HeldRows.matches(query, each)).forEach((each) -> held.add(each, null));
        final List<FlowRow> rows = new ArrayList<>();
        held.take((row, text) -> rows.add(row));
        return rows;
    }

    private static FlowRow sum(final FlowRow... flows) {
        final List<FlowRow> rows = rows(FlowQuery.ALL.by(Grouping.parse("src")), List.of(flows));
        assertEquals(1, rows.size());
        return rows.get(0);
    }

    /** However packets are split into flows, the group says what one flow would; its bound holds if those of flows do. */
    @Property(tries = 200)
    void shouldAddUpToWhatAllPacketsSay(
        @ForAll @LongRange(min = 0) final long seed, @ForAll @IntRange(min = 2, max = 20) final int n) {
        final Random random = new Random(seed);
        final List<FlowRow> flows = new ArrayList<>();
        final LongStream.Builder all = LongStream.builder();
        for (int i = 0; i < n; i++) {
            final long[] delaysNs = random.longs(1 + random.nextInt(5), -1_000_000, 1_000_000_000).toArray();
            LongStream.of(delaysNs).forEach(all::add);
            flows.add(flow("10.0.0." + i, delaysNs, random.nextLong(-BOUND_NS, BOUND_NS + 1), BOUND_NS));
        }
        final long[] packets = all.build().toArray();
        final FlowRow whole = flow("10.0.0.0", packets, 0, BOUND_NS);

        final FlowRow group = sum(flows.toArray(FlowRow[]::new));

        assertEquals(n, group.traffic().flows());
        assertEquals(packets.length, group.traffic().packets());
        assertEquals(packets.length, group.delay().measured());
        assertEquals(n, group.loss().packets());
        assertEquals(whole.delay().spread().minimumNs(), group.delay().spread().minimumNs());
        assertEquals(whole.delay().spread().maximumNs(), group.delay().spread().maximumNs());
        assertEquals(BOUND_NS, group.delay().boundNs());
        assertEquals(whole.delay().meanNs(), group.delay().meanNs(), BOUND_NS + 2);
        assertEquals(whole.delay().spread().standardDeviationNs(), group.delay().spread().standardDeviationNs(), 2 * BOUND_NS);
        assertNull(group.delay().spread().p50Ns());
    }

    @Example
    void shouldKnowNoMoreThanItsRecords() {
        final FlowRow known = flow("10.0.0.1", new long[]{5, 7}, 0, BOUND_NS);
        final FlowRow unbounded = flow("10.0.0.2", new long[]{5, 7}, 0, null);
        final FlowRow unmeasured = new FlowRow(known.key(), known.traffic(), RowDelay.NONE, RowLoss.UNKNOWN);

        assertNull(sum(known, unbounded).delay().boundNs());
        assertEquals(6, sum(known, unbounded).delay().meanNs());
        final FlowRow half = sum(known, unmeasured);
        assertEquals(4, half.traffic().packets());
        assertEquals(2, half.delay().measured());
        assertEquals(BOUND_NS, half.delay().boundNs());
        assertEquals(new RowLoss(1L, true, 2L), half.loss());
        assertEquals(1 / 3.0, half.lossShare());
        assertEquals(RowLoss.UNKNOWN, sum(unmeasured, unmeasured).loss());
        assertEquals(RowDelay.NONE, sum(unmeasured, unmeasured).delay());
        assertEquals(known.delay(), sum(known).delay());
        final FlowRow twin = new FlowRow(known.key(), known.traffic(),
            new RowDelay(99L, 0L, BOUND_NS, false, 6, RowSpread.UNKNOWN, null, null), RowLoss.UNKNOWN);
        assertEquals(6, sum(twin, known, twin).delay().meanNs());
        assertEquals(RowDelay.NONE, sum(twin, twin).delay());
        final FlowRow exact = new FlowRow(known.key(), known.traffic(),
            new RowDelay(6L, 2L, null, true, 6, RowSpread.UNKNOWN, null, null), new RowLoss(1L, false));
        assertTrue(sum(exact, exact).delay().isExact());
        assertEquals(BOUND_NS / 2, sum(exact, known).delay().boundNs());
        assertEquals(RowDelay.MIXED, sum(exact, known).delay().estimator());
        assertEquals(new RowLoss(2L, false), sum(exact, known).loss());
        assertEquals(RowLoss.UNKNOWN, sum(exact, unmeasured).loss());
    }

    private static FlowRow connection(final int protocol, final RowTcp tcp) {
        return new FlowRow(new RowKey(Prefix.of("192.0.2.1"), Prefix.of("10.0.0.1"), protocol, 50_000, 443, 0, RowKey.NONE),
            new RowTraffic(1, 1L, 1L, START_NS, 1L, 1), RowDelay.NONE, RowLoss.UNKNOWN, tcp);
    }

    @Example
    void shouldAddUpWhatIsKnownOfTcp() {
        final RowTcp first = new RowTcp(5_000L, 3_000L, 1L, 1_000L, 1_000L, 1_000L, 2L, 200L, 1L, 0L);
        final RowTcp later = new RowTcp(null, null, 3L, 2_000L, 500L, 4_000L, 1L, 100L, 0L, 4L);
        final FlowRow udp = connection(17, RowTcp.NONE);

        assertEquals(new RowTcp(5_000L, 3_000L, 4L, 1_750L, 500L, 4_000L, 3L, 300L, 1L, 4L),
            sum(connection(6, first), udp, connection(6, later)).tcp());
        final RowTcp unknown = new RowTcp(5_000L, 3_000L, 1L, 1_000L, 1_000L, 1_000L, null, null, null, null);
        assertEquals(unknown, sum(connection(6, first), connection(6, RowTcp.NONE)).tcp());
        assertEquals(RowTcp.NONE, sum(udp, udp).tcp());

        final List<FlowRow> flows = List.of(udp, connection(6, first), connection(6, later));
        assertEquals(List.of(first, later, RowTcp.NONE),
            rows(FlowQuery.ALL.sorted("retransmitted"), flows).stream().map(FlowRow::tcp).toList());
        for (final String filter : List.of("min-rtt 2us", "min-zero-windows 4")) {
            assertEquals(List.of(flows.get(2)), rows(FlowQuery.ALL.with(RowFilter.parse(filter)), flows), filter);
        }
        for (final String filter : List.of("min-handshake 5us", "min-reordered 1", "min-retransmitted 2 min-rtt 1us")) {
            assertEquals(List.of(flows.get(1)), rows(FlowQuery.ALL.with(RowFilter.parse(filter)), flows), filter);
        }
        final String[] table = text(RowFormat.TABLE, null, flows).split("\n");
        assertTrue(table[0].endsWith("handshake_us  rtt_us  retransmitted  reordered  zero_windows"), table[0]);
        assertTrue(table[1].endsWith(" -       -              -          -             -"), table[1]);
        assertTrue(table[2].endsWith(" 5.000   1.000              2          1             0"), table[2]);
        assertTrue(text(RowFormat.JSON, null, flows).contains("\"flowlagTcpRoundTripMeanNanoseconds\":2000,"));
        assertTrue(text(RowFormat.CSV, null, flows).contains(",,,3,2000,500,4000,1,100,0,4,,\n"));
    }

    /** Of 100 packets of one in 10 the deviation is 10 √(100 · 0.9) = 95, and 1.96 of that 186. */
    @Example
    void shouldSayWhatSampledPacketsStandFor() {
        final FlowRow sampled = new FlowRow(new RowKey(Prefix.of("192.0.2.1"), Prefix.of("10.0.0.1"), 17, 1, 53, 0, RowKey.NONE),
            new RowTraffic(1, 100L, 1L, START_NS, 1L, 1, RowSample.of(100, 10)), RowDelay.NONE, RowLoss.UNKNOWN);
        final FlowRow whole = flow("10.0.0.1", new long[]{5, 7}, 0, BOUND_NS);
        assertEquals(186, sampled.traffic().sample().error());
        assertEquals(new RowSample(1002, 9000), sum(sampled, whole).traffic().sample());
        assertEquals(new RowSample(2000, 18000), sum(sampled, sampled).traffic().sample());
        assertNull(sum(whole, whole).traffic().sample());
        final String[] table = text(RowFormat.TABLE, null, List.of(sampled, whole)).split("\n");
        assertTrue(table[0].contains("packets  octets  estimate   +-  start"), table[0]);
        assertTrue(table[1].contains("    100       1      1000  186  2023"), table[1]);
        assertTrue(table[2].contains("      2     200         -    -  2023"), table[2]);
        assertTrue(text(RowFormat.JSON, null, List.of(sampled)).contains(
            "\"_estimatedPackets\":1000,\"_estimatedPacketsError\":186}"));
    }

    private static FlowRow ports(final int protocol, final int source, final int destination) {
        return new FlowRow(
            new RowKey(Prefix.of("192.0.2.1"), Prefix.of("10.0.0.1"), protocol, source, destination, 0, RowKey.NONE),
            new RowTraffic(1, 1L, 1L, START_NS, 1L, 1), RowDelay.NONE, RowLoss.UNKNOWN);
    }

    /** Both directions have the name of the smaller port that has one. */
    @Example
    void shouldNameApplicationsByPort() {
        final List<FlowRow> flows = List.of(
            ports(6, 50_000, 443), ports(6, 443, 50_000), ports(6, 8080, 443), ports(17, 443, 8080), ports(17, 5, 53),
            ports(6, 50_000, 50_001), ports(1, 0, 0));
        final Grouping grouping = Grouping.parse("app");
        final List<FlowRow> groups = rows(FlowQuery.ALL.by(grouping).sorted("flows"), flows);
        assertEquals(List.of("app https", "all", "app domain"), groups.stream().map((each) -> each.key().text()).toList());
        assertEquals(List.of(4L, 2L, 1L), groups.stream().map((each) -> each.traffic().flows()).toList());
        assertTrue(text(RowFormat.JSON, grouping, groups).contains("\"applicationName\":\"https\",\"deltaFlowCount\":4,"));
        assertTrue(text(RowFormat.TABLE, grouping, groups).startsWith("app     flows"), text(RowFormat.TABLE, grouping, groups));
        for (final String filter : List.of("app dns", "DNS", "domain udp")) {
            assertEquals(List.of(flows.get(4)), rows(FlowQuery.ALL.with(RowFilter.parse(filter)), flows), filter);
        }
        assertThrows(IllegalArgumentException.class, () -> RowFilter.parse("app nothing"));
        final FlowRow foreign = ports(17, 50_000, new ConfigLoader().conclude().rli().references().port());
        assertEquals(List.of(foreign), rows(FlowQuery.ALL.with(RowFilter.parse("app flowlag-reference")), List.of(foreign)),
            "of another session, which is traffic here");
    }

    /** Where the system has names of ports, they are IANA's too. */
    @Example
    void shouldNamePortsAsTheSystemDoes() throws IOException {
        final Path services = Path.of("/etc/services");
        int compared = 0;
        for (final String line : Files.exists(services) ? Files.readAllLines(services) : List.<String>of()) {
            final String[] words = line.replaceFirst("#.*", "").strip().split("[\\s/]+");
            final int protocol = words.length < 3 ? -1 : Protocols.number(words[2]);
            final String own = protocol < 0 ? null : Applications.name(protocol, Integer.parseInt(words[1]), RowKey.NONE);
            if (own != null && !"514".equals(words[1])) {
                assertTrue(Stream.of(words).map(Applications::named).anyMatch(own::equals), line);
                compared++;
            }
        }
        assertTrue(compared > 50 || !Files.exists(services), () -> "few names are known");
    }

    @Property(tries = 100)
    void shouldHoldTheFirstOfTheOrder(
        @ForAll @Size(max = 60) final List<@LongRange(min = 1, max = 50) Long> delaysNs,
        @ForAll @IntRange(min = 1, max = 70) final int limit, @ForAll final boolean rises) {
        final List<FlowRow> flows = delaysNs.stream().map((each) -> flow("10.0.0.1", each)).toList();
        final Comparator<Long> order = rises ? Comparator.naturalOrder() : Comparator.reverseOrder();
        assertEquals(delaysNs.stream().sorted(order).limit(limit).toList(),
            rows(FlowQuery.ALL.sorted(SortKey.MEAN, rises).first(limit), flows).stream()
                .map((each) -> each.delay().meanNs()).toList());
    }

    @Example
    void shouldPutUnknownValuesLastAndRankLosses() {
        final FlowRow known = flow("10.0.0.1", 1);
        final FlowRow unknown = new FlowRow(known.key(), known.traffic(), RowDelay.NONE, RowLoss.UNKNOWN);
        for (final String order : List.of("mean", "mean:a", "loss", "loss:a", "p99:d")) {
            assertEquals(List.of(known, unknown), rows(FlowQuery.ALL.sorted(order), List.of(unknown, known)), order);
        }
        final FlowRow large = flow("10.0.0.2", new long[]{1, 1, 1, 1}, 0, null);
        assertEquals(List.of(known, large), rows(FlowQuery.ALL.sorted("loss"), List.of(large, known)));
        assertThrows(IllegalArgumentException.class, () -> FlowQuery.ALL.sorted("mean:x"));
    }

    @Example
    void shouldAskGroupsAndRecordsForTheLeastNumberOfPackets() {
        final FlowQuery atLeastTwo = FlowQuery.ALL.with(RowFilter.ALL.with(RowFilter.Condition.MIN_PACKETS, "2"));
        final List<FlowRow> flows = List.of(flow("10.0.0.1", 1), flow("10.0.0.2", 1), flow("10.0.1.1", 1));
        assertEquals(0, rows(atLeastTwo, flows).size());
        assertEquals(1, rows(atLeastTwo.by(Grouping.parse("dst/24")), flows).size());
    }

    @Example
    void shouldSayWhatNoRecordHas() {
        final UnknownValues unknown =
            new UnknownValues(FlowQuery.ALL.with(RowFilter.ALL.with(RowFilter.Condition.MIN_RTT, "5ms")).sorted("mean"));
        assertEquals("", unknown.remark());
        final FlowRow known = flow("10.0.0.1", 1);
        unknown.onRow(new FlowRow(known.key(), known.traffic(), RowDelay.NONE, RowLoss.UNKNOWN));
        assertTrue(unknown.remark().contains("; no record has mean, rtt: "), unknown.remark());
        unknown.onRow(known);
        assertTrue(unknown.remark().startsWith("of 2 records none matches; no record has rtt: "), unknown.remark());
        unknown.onShown();
        assertTrue(unknown.remark().startsWith("no record has rtt: "), unknown.remark());
    }

    @Example
    void shouldCountWhatThereIsNoRoomFor() {
        final HeldRows rows = new HeldRows(FlowQuery.ALL.sorted("mean"), 2);
        final HeldRows groups = new HeldRows(FlowQuery.ALL.by(Grouping.parse("dst")), 2);
        final HeldRows few = new HeldRows(FlowQuery.ALL.first(1), 2);
        for (int i = 0; i < 5; i++) {
            rows.add(flow("10.0.0." + i, i), null);
            groups.add(flow("10.0.0." + i, i), null);
            few.add(flow("10.0.0." + i, i), null);
        }
        assertTrue(rows.remark().startsWith("3 records are left out"), rows.remark());
        assertTrue(groups.remark().startsWith("3 records are left out"), groups.remark());
        assertEquals("", few.remark());
    }

    private static String text(final RowFormat format, final Grouping grouping, final List<FlowRow> rows) {
        final StringBuilder text = new StringBuilder();
        final RowWriter writer = RowWriter.of(format, grouping);
        rows.forEach((row) -> writer.append(row, text));
        writer.finish(text);
        return text.toString();
    }

    @Example
    void shouldWriteGroupsByTheNamesOfElements() {
        final Grouping grouping = Grouping.parse("dst/24,DSCP");
        final List<FlowRow> rows = rows(FlowQuery.ALL.by(grouping), List.of(flow("10.0.0.1", 5), flow("2001:db8:1:2:3::1", 7)));
        final String json = text(RowFormat.JSON, grouping, rows);
        assertTrue(json.startsWith("{\"_start\":\"2023-11-14T22:13:20.123456789Z\",\"_end\":\"2023-11-14T22:13:20.124456789Z\"," +
            "\"destinationIPv6Prefix\":\"2001:db8:1:2::/64\",\"ipDiffServCodePoint\":46,\"deltaFlowCount\":1,"), json);
        assertTrue(json.contains("\"destinationIPv4Prefix\":\"10.0.0.0/24\""), json);
        final String[] csv = text(RowFormat.CSV, grouping, rows).split("\n");
        assertTrue(csv[0].startsWith("destinationIPv4Prefix,destinationIPv6Prefix,ipDiffServCodePoint,deltaFlowCount,"), csv[0]);
        assertTrue(csv[1].startsWith(",2001:db8:1:2::/64,46,1,1,100,1700000000123456789,"), csv[1]);
        final String[] table = text(RowFormat.TABLE, grouping, rows).split("\n");
        assertTrue(table[0].startsWith("dst                dscp  flows  packets  octets  start "), table[0]);
        assertTrue(table[2].startsWith("10.0.0.0/24          46      1        1     100  2023-11-14 22:13:20.123 "), table[2]);
    }

    @Example
    void shouldRepeatTheHeaderWhenAColumnGrowsAfterTheFirstRows() {
        final StringBuilder text = new StringBuilder();
        final RowWriter table = RowWriter.of(new Listing(RowFormat.TABLE, FlowQuery.ALL, true));
        table.append(flow("10.0.0.1", 5), text);
        assertEquals("", text.toString());
        table.settle(text);
        table.append(flow("10.0.0.2", 5), text);
        assertEquals(3, text.toString().lines().count());
        assertTrue(text.toString().startsWith("\033[1msrc              dst              proto"), text::toString);
        assertTrue(text.toString().contains("\033[31m1\033[0m"), text::toString);
        table.append(flow("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 5), text);
        table.finish(text);
        assertEquals(5, text.toString().lines().count());
    }

    /** Any terminal shows a line a row of what fits; what matters, and what is asked for, comes first. */
    @Property(tries = 50)
    void shouldFitTheTerminal(@ForAll @IntRange(min = 60, max = 250) final int width) {
        final StringBuilder text = new StringBuilder();
        final RowWriter table = RowWriter.of(new Listing(RowFormat.TABLE, FlowQuery.ALL.sorted("sd"), false).fitting(width));
        final FlowRow row = flow("10.0.0.1", new long[]{5, 7}, 0, BOUND_NS);
        table.append(row, text);
        table.finish(text);
        final List<String> lines = text.toString().lines().toList();
        final List<String> header = List.of(lines.get(lines.size() - 2).split(" +"));
        assertTrue(lines.get(lines.size() - 1).length() <= width, text::toString);
        assertEquals(List.of("src", "dst", "proto", "sport", "dport"), header.subList(0, 5));
        assertTrue(header.containsAll(List.of("mean_us", "sd_us")), text::toString);
        final Set<String> shown = new HashSet<>(header);
        if (lines.size() == 3) {
            final String leftOut = lines.get(0).replaceFirst("\\(no room for (.*): a pipe, .*", "$1");
            shown.addAll(List.of(leftOut.split(", ")));
        }
        final String wide = text(RowFormat.TABLE, null, List.of(row)).lines().findFirst().orElseThrow();
        final String[] all = wide.split(" +");
        assertEquals(Set.of(all), shown);
        assertEquals(all.length, header.size() + (lines.size() == 3 ? lines.get(0).split(", ").length - 2 : 0));
        assertEquals(wide.length() <= width, lines.size() == 2);
    }

    /** Two addresses of IPv6 leave no room on a line; rows say more than who, and take two lines. */
    @Example
    void shouldTakeTwoLinesForLongAddresses() {
        final StringBuilder text = new StringBuilder();
        final RowWriter table = RowWriter.ofStream(Listing.DEFAULT.fitting(80));
        final FlowRow row = flow("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 5);
        table.append(new FlowRow(new RowKey(row.key().destination(), row.key().destination(), 17, 1, 53, 46, 1), row.traffic(),
            row.delay(), row.loss()), text);
        table.settle(text);
        table.append(flow("10.0.0.1", 5), text);
        table.finish(text);
        final List<String> lines = text.toString().lines().toList();
        assertEquals(4, lines.size(), text::toString);
        assertTrue(lines.get(1).contains(" mean_us ") && lines.get(1).contains(" lost "), text::toString);
        assertTrue(lines.stream().skip(1).allMatch((line) -> line.length() <= 160), text::toString);
    }

    /** A column without a value gives way, until it has one. */
    @Example
    void shouldRankColumnsWithoutAValueLast() {
        final StringBuilder text = new StringBuilder();
        final RowWriter table = RowWriter.ofStream(Listing.DEFAULT.fitting(100));
        table.append(matched(new RowSpread(1L, 10_000L, null, null, null, 98_765L)), text);
        table.settle(text);
        assertEquals("max_us", text.toString().lines().toList().get(1).replaceFirst(".* ", ""));
        table.append(matched(new RowSpread(1L, 10_000L, 12_345L, 50_000L, 70_000L, 98_765L)), text);
        assertEquals("p99_us", text.toString().lines().toList().get(4).replaceFirst(".* ", ""), text::toString);
        assertEquals(6, text.toString().lines().count());
    }

    /** Rows in order of their end leave it to the eye to find what matters. */
    @Example
    void shouldNameTheSlowestAndTheMostLostOfRowsThatCome() {
        final RowWriter table = RowWriter.ofStream(Listing.DEFAULT);
        final StringBuilder text = new StringBuilder();
        final long[] few = LongStream.range(0, 9).map((each) -> 4_000 + each).toArray();
        final long[] many = LongStream.range(0, 19).map((each) -> 5_000 + each).toArray();
        final FlowRow first = flow("10.0.0.1", many, 0, BOUND_NS);
        for (final FlowRow row : List.of(first, flow("10.0.0.2", few, 0, BOUND_NS), flow("10.0.0.3", 90_000),
            new FlowRow(first.key(), first.traffic(), first.delay(), RowLoss.UNKNOWN))) {
            table.append(row, text);
        }
        assertFalse(table.remark().contains("most lost"), "of a file one can ask for an order");
        table.settle(text);
        final String lost = "most lost 192.0.2.1:1 > 10.0.0.2:53 udp, 1 or 10.00 %; " +
            "lost is - where it is not known, as of flows that began before the measurement or were live at its end";
        assertEquals(lost, table.remark(), "none of 10 packets is slow");
        for (int i = 5; i < 10; i++) {
            table.append(flow("10.0.0." + i, many, 0, BOUND_NS), text);
        }
        table.append(flow("10.0.0.4", LongStream.of(many).map((each) -> 3 * each).toArray(), 0, BOUND_NS), text);
        assertEquals("slowest 192.0.2.1:1 > 10.0.0.4:53 udp, mean 15.027 us; " + lost, table.remark());
    }

    /** A quantile within some percent has three digits, and is not above the exact maximum. */
    @Example
    void shouldPrintTheDigitsThatQuantilesDeserve() {
        final FlowRow row = matched(new RowSpread(1L, 10_000L, 12_345L, 50_000L, 98_764L, 98_765L));
        final String table = text(RowFormat.TABLE, null, List.of(row,
            matched(new RowSpread(1L, 10_000_000L, 12_345_678L, 23_456_789L, null, 1_200_000_000L))));
        assertTrue(table.lines().skip(1).findFirst().orElseThrow().matches(".* 12.3 +50.0 +98.765 +98.765"), table);
        assertTrue(table.matches("(?s).* 12300 +23500 +- +1200000.000\n"), table);
        final String json = text(RowFormat.JSON, null, List.of(row));
        assertTrue(json.contains("P50Nanoseconds\":12345,"), json);
        assertTrue(json.endsWith(",\"_delayQuantileErrorPartsPerMillion\":10000}\n"), json);
    }

    private static FlowRow matched(final RowSpread spread) {
        final FlowRow row = flow("10.0.0.1", 5);
        return new FlowRow(row.key(), row.traffic(), new RowDelay(1L, 1_000L, null, true, 6, spread, null, null), row.loss());
    }

    /** Where the header cannot be repeated it names at first what rows may have, and stands alone. */
    @Example
    void shouldPrintOneHeaderWhereNoTerminalIs() {
        final FlowRow known = flow("10.0.0.1", 5);
        final FlowRow unknown = new FlowRow(known.key(), known.traffic(), RowDelay.NONE, RowLoss.UNKNOWN);
        final Set<RowPart> parts = EnumSet.of(RowPart.TRAFFIC, RowPart.DELAY);
        final Listing listing = Listing.DEFAULT.with(EnumSet.allOf(RowPart.class)).within(parts);
        final StringBuilder text = new StringBuilder();
        final RowWriter stream = RowWriter.ofStream(listing);
        for (final FlowRow row : List.of(unknown, known, flow("2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", 5))) {
            stream.append(row, text);
            stream.settle(text);
        }
        stream.finish(text);
        final String[] lines = text.toString().split("\n");
        assertEquals(4, lines.length, text::toString);
        assertTrue(lines[0].endsWith(" max_us"), lines[0]);
        for (final String line : lines) {
            assertEquals(lines[0].split(" +").length, line.replaceFirst("-14 22", "-14_22").split(" +").length, line);
        }

        text.setLength(0);
        final RowWriter small = RowWriter.ofStream(listing);
        small.append(unknown, text);
        small.finish(text);
        assertTrue(text.toString().lines().findFirst().orElseThrow().endsWith(" end"), text::toString);
        assertNull(Listing.DEFAULT.within(parts).parts());
    }

    /** A mean that is not the row's comes with its distance from that. */
    @Example
    void shouldSayHowFarOtherMeansAreOff() {
        final FlowRow row = flow("10.0.0.1", 1_000_000);
        final String[] table = text(RowFormat.TABLE, null, List.of(new FlowRow(row.key(), row.traffic(),
            new RowDelay(1_000_000L, 1L, null, true, 6, RowSpread.UNKNOWN, 1_900_000L, 999_000L), row.loss()))).split("\n");
        assertTrue(table[0].matches(".* interp_us +interp_% .* sketch_us +sketch_%"), table[0]);
        assertTrue(table[1].matches(".* 1900.000 +\\+90.0 .* 999.000 +-0.1"), table[1]);
    }
}
