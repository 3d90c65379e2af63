package io.flowlag.exporter.runtime;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.exporter.runtime.delay.CaptureSurvey;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.runtime.delay.DelayProcess;
import io.flowlag.exporter.runtime.delay.DelaySizing;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What {@code delay} says of captures as users have them, without an option. */
class DelayCapturesTest {
    private static final long SECOND_NS = 1_000_000_000L;
    /** Ethernet with a tag, IPv6 and some more. */
    private static final int HEADERS_BYTES = 80;
    private static List<CapturePacket> allSent;
    private static List<CapturePacket> allReceived;
    private static JsonNode ofWhole;

    @TempDir
    private Path directory;
    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(
        new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8), false);
    private final List<CapturePacket> sent = new ArrayList<>(allSent);
    private final List<CapturePacket> received = new ArrayList<>(allReceived);

    @BeforeAll
    static void makeCaptures(@TempDir final Path once) throws IOException {
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(
            once.resolve("s"), once.resolve("r"), CaptureWriter.Format.PCAP_NANOSECONDS);
        allSent = CapturePacket.read(once.resolve("s"));
        allReceived = CapturePacket.read(once.resolve("r"));
        ofWhole = null;
    }

    /** What matching says of the captures as they are: the same for each test. */
    private JsonNode measureWhole() throws IOException {
        if (ofWhole == null) {
            ofWhole = measure(sent, received);
        }
        return ofWhole;
    }

    private Path path(final String name) {
        return directory.resolve(name + ".pcap");
    }

    private DelayOptions options(final boolean isInterpolated, final boolean isSketched, final boolean isExact) {
        return new DelayOptions(List.of(path("s").toString()), List.of(path("r").toString()), ReferenceMode.MARKED,
            isInterpolated, isSketched, isExact, directory.resolve("truth.csv"), 0);
    }

    private JsonNode measure(final List<CapturePacket> atSender, final List<CapturePacket> atReceiver) throws IOException {
        return measure(atSender, atReceiver, "", options(false, false, true));
    }

    private JsonNode measure(
        final List<CapturePacket> atSender, final List<CapturePacket> atReceiver, final String yaml, final DelayOptions options)
        throws IOException {
        out.reset();
        err.reset();
        CapturePacket.write(path("s"), atSender);
        CapturePacket.write(path("r"), atReceiver);
        final ExporterConfig config = new ConfigLoader().text("test", yaml)
            .option("--stats", ConfigTable.STATS_FILE, List.of(directory.resolve("stats.json").toString()))
            .option("--export", ConfigTable.DESTINATIONS, List.of("file:" + directory.resolve("flows.ipfix"))).conclude();
        assertEquals(ExitCode.DONE, DelayProcess.run(config, options, terminal), err::toString);
        final JsonNode delay = new ObjectMapper().readTree(directory.resolve("stats.json").toFile()).get("delay");
        assertTrue(delay.get("identity").get("holds").asBoolean(), delay::toString);
        return delay;
    }

    private static long count(final JsonNode delay, final String counter) {
        return delay.get("counters").get(counter).asLong();
    }

    private List<String> truth() throws IOException {
        return Files.readAllLines(directory.resolve("truth.csv"));
    }

    @Test
    void shouldSumUpMatchedPacketsAndSayHowLongItWaited() throws IOException {
        final JsonNode delay = measure(sent, received);
        final long matched = count(delay, "match_matched");
        assertEquals(matched, delay.get("total").get(0).get("matched").get("count").asLong());
        final String text = out.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("matched "), "with --export too: " + text);
        assertTrue(text.lines().anyMatch((line) -> line.matches(
            "a packet counts as lost after [0-9]+\\.[0-9] ms \\(max-delay, derived from these captures\\)")), text);
        for (final Map<String, List<String>> flow : IpfixRecords.flows(directory.resolve("flows.ipfix"))) {
            assertEquals(flow.get("packetDeltaCount"), flow.get("flowlagDelaySampleCount"), flow::toString);
        }
    }

    /** Nothing is lost that is there, however much each capture holds of a packet. */
    @ParameterizedTest
    @CsvSource({"65535, 96", "96, 65535", "65535, 60", "68, 65535", "64, 64", "80, 128", "60, 96"})
    void shouldMatchCapturesOfDifferentSnapLengths(final int senderSnap, final int receiverSnap) throws IOException {
        final JsonNode whole = measureWhole();
        final JsonNode cut = measure(
            sent.stream().map((each) -> each.cut(senderSnap)).toList(),
            received.stream().map((each) -> each.cut(receiverSnap)).toList());
        final long tooShort = count(cut, "match_sent_digest_short");
        if (Math.min(senderSnap, receiverSnap) >= HEADERS_BYTES) {
            assertEquals(0, tooShort, cut::toString);
            assertEquals(count(whole, "match_matched"), count(cut, "match_matched"), 2, cut::toString);
        } else {
            assertTrue(count(cut, "match_matched") + tooShort >= count(whole, "match_matched"), cut::toString);
            assertEquals(
                tooShort > 0, out.toString(StandardCharsets.UTF_8).contains(" cut too short to be matched"), out::toString);
        }
        assertTrue(count(cut, "match_lost") <= count(whole, "match_lost"), cut::toString);
        assertEquals(0, count(cut, "match_unexpected"), cut::toString);
    }

    /** The wait is as long as the captures need, and a packet that comes late is not lost. */
    @ParameterizedTest
    @ValueSource(longs = {-5_000_000, -300_000, 5_000_000, 700_000_000, 3_000_000_000L})
    void shouldWaitAsLongAsPacketsAreUnderWayOrClocksAreApart(final long offsetNs) throws IOException {
        final JsonNode together = measureWhole();
        final JsonNode apart = measure(sent, received.stream().map((each) -> each.later(offsetNs)).toList());
        assertEquals(count(together, "match_matched"), count(apart, "match_matched"), apart::toString);
        assertTrue(count(apart, "match_lost") <= count(together, "match_lost"), apart::toString);
        assertEquals(0, count(apart, "match_unexpected"));
        assertEquals(
            count(together, "match_lost"), count(apart, "match_lost") + count(apart, "match_sent_undecided"), apart::toString);
    }

    /** The output explains "undecided", but only if there are such packets. */
    @Test
    void shouldExplainUndecidedPackets() throws IOException {
        final JsonNode whole = measure(sent, received);
        assertEquals(0, count(whole, "match_sent_undecided") + count(whole, "match_received_undecided"));
        assertFalse(out.toString(StandardCharsets.UTF_8).contains("undecided packets"), out::toString);
        final JsonNode shorter = measure(sent, received.subList(0, received.size() / 2));
        final long undecided =
            count(shorter, "match_sent") - count(shorter, "match_matched") - count(shorter, "match_lost");
        assertTrue(undecided > received.size() / 3, shorter::toString);
        assertTrue(out.toString(StandardCharsets.UTF_8).contains(
            undecided + " undecided packets were sent or came where one capture begins or ends"), out::toString);
    }

    /** More flows than live limits are made for. */
    @Test
    void shouldHaveRoomForAllThatCapturesHold() throws IOException {
        final int flows = 70_000;
        final CapturePacket one = sent.stream().filter(
            (each) -> each.isIpv4() && each.octets()[each.ipOffset() + 9] == 17 && !each.isReference()).findFirst().orElseThrow();
        final List<CapturePacket> many = new ArrayList<>();
        for (int i = 0; i < flows; i++) {
            final byte[] changed = one.octets().clone();
            ByteBuffer.wrap(changed).putInt(one.ipOffset() + 12, 0x0A00_0000 + i);
            many.add(new CapturePacket(one.timeNs() + 10_000L * i, one.wireBytes(), changed));
        }
        CapturePacket.write(path("s"), many);
        CapturePacket.write(path("r"), many.stream().map((each) -> each.later(1_000_000)).toList());
        final ExporterConfig config = new ConfigLoader().text("test", "reconcile: {enabled: on}").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, true);
        final CaptureSurvey survey =
            CaptureSurvey.of(config, options(true, true, false), FilterSupplier.ALL, DelaySizing.defaultMemoryBytes());
        final ExporterConfig sized = DelaySizing.of(config, survey, wiring, 1L << 34);

        assertTrue(config.joint().maxFlows() < flows, "the default would do");
        assertTrue(sized.metering().maxFlows() >= flows, sized.metering()::toString);
        assertTrue(sized.joint().maxFlows() >= flows, sized.joint()::toString);
        assertTrue(sized.joint().pendingPackets() >= flows, sized.joint()::toString);
        assertEquals(Long.MAX_VALUE, sized.joint().budgetNs(), "nothing presses");
        assertTrue(sized.lds().waitingRecords() >= flows, sized.lds()::toString);
        assertTrue(sized.reconcile().packets() >= flows, sized.reconcile()::toString);
        assertTrue(sized.segment().exactPackets() >= 2 * 1_000_000 / 10_000, sized.segment()::toString);
    }

    /** With or without a router, that is with and without another time to live, and in the right order or not. */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "true, true"})
    void shouldMeasureBothDirectionsOfTwoCaptures(final boolean isRouted, final boolean areSwapped) throws IOException {
        final JsonNode forward = measure(sent, received);
        final List<String> oneWay = truth();
        final long backNs = 40_000_000L;
        final List<CapturePacket> atSender = new ArrayList<>(sent);
        final List<CapturePacket> atReceiver = received.stream().map((each) -> isRouted ? each.routed() : each).collect(
            Collectors.toCollection(ArrayList::new));
        sent.forEach((each) -> atReceiver.add(each.answer().later(backNs)));
        received.forEach((each) -> atSender.add((isRouted ? each.routed() : each).answer().later(backNs)));
        final JsonNode both =
            areSwapped ? measure(atReceiver, atSender) : measure(atSender, atReceiver);
        assertEquals(2 * count(forward, "match_matched"), count(both, "match_matched"), both::toString);
        assertTrue(count(both, "match_lost") <= 2 * count(forward, "match_lost"), both::toString);
        assertEquals(0, count(both, "match_negative"), both::toString);
        assertEquals(2, both.get("total").size());
        assertEquals(
            both.get("total").get(0).get("matched").get("mean_ns").asLong(),
            both.get("total").get(1).get("matched").get("mean_ns").asLong());
        assertTrue(truth().containsAll(oneWay), "each flow's delay as before");
        final String text = out.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains("round_trip_us"), text);
        final String[] trip = text.substring(text.indexOf("round_trip_us")).lines().toList().get(1).trim().split(" +");
        assertEquals(
            2 * Double.parseDouble(trip[5]), Double.parseDouble(trip[7]), 0.002, "there and back take the same: " + text);
        assertEquals(2, IpfixRecords.flows(directory.resolve("flows.ipfix")).stream()
            .map((each) -> each.get("flowlagSegmentId")).distinct().filter((each) -> each != null).count());
    }

    /**
     * Flows that end within the wait for a packet: each record waits for its packets. One packet is lost when the flow's last
     * record has been made.
     */
    @Test
    void shouldTellEachLossInARecordOrBehindTheLast() throws IOException {
        final CapturePacket late = received.stream().filter((each) -> !each.isReference()).findFirst().orElseThrow();
        sent.add(late.later(60_000_000_000L));
        sent.add(late.answer().later(70_000_000_000L));
        received.add(late.answer().later(70_001_000_000L));
        final JsonNode delay = measure(
            sent, received, "metering: {idle-timeout: 5ms, tcp-end-timeout: 0s}", options(false, false, true));
        long told = 0;
        for (final Map<String, List<String>> record : IpfixRecords.flows(directory.resolve("flows.ipfix"))) {
            assertTrue(record.containsKey("flowlagLostPacketDeltaCount"), record::toString);
            told += Long.parseLong(record.get("flowlagLostPacketDeltaCount").get(0));
        }
        final Matcher behind = Pattern.compile("(\\d+) of the lost packets were sent after the last record of their flow")
            .matcher(out.toString(StandardCharsets.UTF_8));
        assertTrue(behind.find(), out::toString);
        assertEquals("1", behind.group(1));
        assertEquals(count(delay, "match_lost"), told + 1, out::toString);
    }

    /**
     * Captures with both directions at one point and one at the other. Packets of the other direction are not lost, however
     * delays are found, and real losses are still reported. A selector that covers both directions makes them lost.
     */
    @ParameterizedTest
    @CsvSource({"false, false", "true, false", "false, true", "true, true"})
    void shouldNotCallLostWhatGoesTheOtherWay(final boolean isJoint, final boolean isSelected) throws IOException {
        final String yaml = "rli: {capacity: 20m}\nreconcile: {enabled: " + (isJoint ? "on" : "off") + "}\nsegment: {" +
            (isSelected ? "source: [0.0.0.0/0, '::/0']}" : "max-delay: 100ms}");
        final DelayOptions how = options(isJoint, isJoint, !isJoint);
        final JsonNode oneWay = measure(sent, received, yaml, how);
        final List<CapturePacket> atSender = new ArrayList<>(sent);
        received.forEach((each) -> atSender.add(each.answer().later(-40_000_000L)));
        final JsonNode both = measure(atSender, received, yaml, how);
        final long stray = received.size();
        assertTrue(count(oneWay, "match_lost") > 10, oneWay::toString);
        final String kind = isSelected ? "match_lost" : "match_not_of_segment";
        final long strayTold = count(both, kind) - count(oneWay, kind);
        final long undecided = count(both, "match_sent_undecided") - count(oneWay, "match_sent_undecided");
        assertEquals(stray, strayTold + undecided, both::toString);
        assertTrue(undecided < stray / 100, "before the other capture: " + undecided);
        assertEquals(count(oneWay, "match_lost"), count(both, "match_lost") - (isSelected ? strayTold : 0), both::toString);
        final String text = out.toString(StandardCharsets.UTF_8);
        assertTrue(text.contains(" " + count(both, "match_lost") + " lost, "), text);
        assertEquals(isSelected ? 0 : 1, text.lines().filter((line) -> line.matches(
            strayTold + " packets are of [0-9]+ flows of which nothing arrived: lost, or not part of this segment; .*")).count(),
            text);
        if (!isSelected) {
            final long told = IpfixRecords.flows(directory.resolve("flows.ipfix")).stream()
                .filter((each) -> each.containsKey("flowlagLostPacketDeltaCount"))
                .mapToLong((each) -> Long.parseLong(each.get("flowlagLostPacketDeltaCount").get(0))).sum();
            assertEquals(count(oneWay, "match_lost"), told, text);
        }
        if (isJoint && !isSelected) {
            assertTrue(text.contains("; " + count(oneWay, "match_lost") + " lost packets and 0 unexpected ones listed"), text);
            assertEquals(0, count(both, "lds_intervals_cut"), "the other direction says nothing of the captures' ends");
        }
    }

    /**
     * One capture begins or ends seconds before the other, or has hardly a packet: while packets wait for the other point, none
     * is forgotten. What the other capture may have missed is undecided, and the sums add up.
     */
    @ParameterizedTest
    @CsvSource({"0.4, 1", "0, 0.5", "0.3, 0.6", "-0.4, 1", "-0.3, 0.7", "0, 0"})
    void shouldMatchWhatBothCapturesHold(final double from, final double until) throws IOException {
        final List<CapturePacket> whole = sent.stream().filter((each) -> !each.isReference()).toList();
        final List<CapturePacket> later = whole.stream().map((each) -> each.later(1_000_000)).toList();
        final int first = (int)(Math.abs(from) * whole.size());
        final int last = (int)(until * whole.size());
        final boolean isSparse = until == 0;
        final List<CapturePacket> part = isSparse ?
            List.of(later.get(5), later.get(later.size() / 2), later.get(later.size() - 5)) : later.subList(first, last);
        final JsonNode delay = from < 0 ? measure(whole.subList(first, last), later) : measure(whole, part);
        final String text = out.toString(StandardCharsets.UTF_8);
        assertEquals(isSparse ? 3 : last - first, count(delay, "match_matched"), text);
        assertEquals(0, count(delay, "match_lost") * (isSparse ? 0 : 1) + count(delay, "match_unexpected"), text);
        final long undecided = count(delay, "match_sent_undecided") + count(delay, "match_received_undecided") +
            count(delay, "match_sent_overflow") + count(delay, "match_received_overflow");
        assertTrue(text.contains(" unexpected, " + undecided + " undecided"), text);
        assertEquals(0, count(delay, "match_sent_overflow") + count(delay, "match_received_overflow"), text);
    }

    @Test
    void shouldTurnCapturesRoundThatAreSwapped() throws IOException {
        final JsonNode right = measureWhole();
        final JsonNode swapped = measure(received.stream().map(CapturePacket::routed).toList(), sent);
        assertEquals(count(right, "match_matched"), count(swapped, "match_matched"));
        assertEquals(0, count(swapped, "match_negative"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("-s and -r are taken the other way round"), err::toString);
    }

    /** A card that joins packets at one point makes no loss. */
    @Test
    void shouldNotCallPacketsLostThatAnOffloadJoined() throws IOException {
        final JsonNode plain = measureWhole();
        final List<CapturePacket> atSender = new ArrayList<>();
        for (final CapturePacket each : sent) {
            if (each.isIpv4() && each.wireBytes() > 1000) {
                final byte[] joined = Arrays.copyOf(each.octets(), each.octets().length);
                joined[each.ipOffset() + 2] = (byte)(2934 >> 8);
                joined[each.ipOffset() + 3] = (byte)2934;
                joined[each.ipOffset() + 4] ^= 1;
                atSender.add(new CapturePacket(each.timeNs(), 2948, joined));
            } else {
                atSender.add(each);
            }
        }
        final JsonNode joined = measure(atSender, received);
        assertTrue(count(joined, "match_matched") < count(plain, "match_matched"));
        assertTrue(count(joined, "match_lost") <= count(plain, "match_lost"), joined::toString);
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("ethtool -K"), err::toString);
    }

    /** In one interval, whose beginning and end are those of the captures. */
    @Test
    void shouldTellLossesByReconciliationToBothEndsOfWholeCaptures() throws IOException {
        final JsonNode delay = measure(
            sent, received, "rli: {capacity: 20m}\nreconcile: {enabled: on}", options(true, true, false));
        assertEquals(1, count(delay, "lds_intervals"), delay::toString);
        assertEquals(0, count(delay, "lds_intervals_cut"), delay::toString);
        int jointFlows = 0;
        for (final Map<String, List<String>> flow : IpfixRecords.flows(directory.resolve("flows.ipfix"))) {
            if (List.of("4").equals(flow.get("flowlagDelayEstimator"))) {
                jointFlows += Long.parseLong(flow.getOrDefault("flowlagDelaySampleCount", List.of("0")).get(0)) >= 20 ? 1 : 0;
                assertFalse(flow.containsKey("flowlagDelayP50Nanoseconds"), () -> "of another estimator: " + flow);
                assertFalse(flow.containsKey("flowlagDelayStandardDeviationNanoseconds"), () -> "of another estimator: " + flow);
            }
        }
        assertTrue(jointFlows > 10, jointFlows + " joint flows that have quantiles by references");
        final long told = IpfixRecords.flows(directory.resolve("flows.ipfix")).stream()
            .filter((each) -> List.of("1").equals(each.get("flowlagLossKind")))
            .mapToLong((each) -> Long.parseLong(each.get("flowlagLostPacketDeltaCount").get(0))).sum();
        assertEquals(count(delay, "match_lost"), told, delay::toString);
        assertTrue(told > 10, "losses: " + told);
        assertFalse(out.toString(StandardCharsets.UTF_8).contains(" cut, 1"), out::toString);
    }

    /** As behind a proxy: every packet is new, but for references, which carry the time that they were sent. */
    @Test
    void shouldLeadWithReferencesOfTheCapturesWherePacketsDoNotMatch() throws IOException {
        final JsonNode matching = measure(sent, received);
        assertFalse(err.toString(StandardCharsets.UTF_8).contains("fewer than half"), err::toString);
        assertFalse(matching.get("counters").has("rli_packets"), "references are not needed: " + matching);
        final JsonNode few = measure(sent, received.stream().map(CapturePacket::renewed).toList());
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("estimated from the "), err::toString);
        assertTrue(count(few, "rli_references") > 100, few::toString);
        assertTrue(2 * count(few, "match_matched") < count(matching, "match_matched"), few::toString);
        final List<Map<String, List<String>>> flows = IpfixRecords.flows(directory.resolve("flows.ipfix"));
        final long withMean =
            flows.stream().filter((each) -> List.of("1").equals(each.get("flowlagDelayEstimator"))).count();
        assertTrue(withMean > 0.8 * flows.size(), withMean + " of " + flows.size());
    }

    @Test
    void shouldSayWhatWouldHelpWherePacketsDoNotMatchAndThereAreNoReferences() throws IOException {
        measure(sent.stream().filter((each) -> !each.isReference()).toList(),
            received.stream().filter((each) -> !each.isReference()).map(CapturePacket::renewed).toList());
        final String text = err.toString(StandardCharsets.UTF_8);
        assertEquals(1, text.lines().filter((each) -> each.contains("fewer than half of the packets match")).count(), text);
        assertTrue(text.contains("rli.target"), text);
    }

    /** What a user left open and matching alone does not show. */
    @Test
    void shouldSayInOneLineWhatItChoseForSketches() throws IOException {
        CapturePacket.write(path("s"), sent);
        CapturePacket.write(path("r"), received);
        final String chosen = "derived from these captures: .*intervals of [0-9.]+ s, sketches of [0-9]+ rows and [0-9]+ " +
            "columns, [0-9]+ of [0-9]+ MiB of memory \\(--memory\\)";
        for (final boolean isSketched : new boolean[] {true, false}) {
            out.reset();
            DelayProcess.run(new ConfigLoader().text("test", "rli: {capacity: 20m}").conclude(),
                options(isSketched, isSketched, true), terminal);
            assertEquals(isSketched ? 1 : 0,
                out.toString(StandardCharsets.UTF_8).lines().filter((line) -> line.matches(chosen)).count(), out::toString);
        }
        out.reset();
        DelayProcess.run(
            new ConfigLoader().text("test", "rli: {capacity: 20m}\nsegment: {interval: 10s}\nlds: {columns: 20000}")
                .conclude(), options(true, true, true), terminal);
        assertTrue(out.toString(StandardCharsets.UTF_8).lines()
            .anyMatch((line) -> line.matches("derived from these captures: [0-9]+ of [0-9]+ MiB of .*")), out::toString);
    }

    /** Each step down: fewer flows are matched, exactly; the others have means whose bounds hold; what would do does. */
    @ParameterizedTest
    @CsvSource({"4, 0", "2, 0", "2, 30000000", "4, -30000000", "3, 0"})
    void shouldMatchAsManyFlowsAsMemoryAllowsAndEstimateTheOthersBetweenThem(final int memoryMebibytes, final long clockNs)
        throws IOException {
        final List<CapturePacket> arrived = received.stream().map((each) -> each.later(clockNs)).toList();
        final String waiting = "segment: {max-delay: 60s}";
        final JsonNode all = measure(sent, arrived, waiting, options(false, false, true));
        assertFalse(err.toString(StandardCharsets.UTF_8).contains("--memory"), err::toString);
        final Map<String, Map<String, List<String>>> truth = flows();

        // A secret chooses the flows: now and then those whose packets are too few for any bound or most means, not three times.
        int bounded = 0;
        for (int draw = 0; draw < 3 && bounded == 0; draw++) {
            bounded = boundedOfPart(arrived, waiting, memoryMebibytes, count(all, "match_matched"), truth);
        }
        assertTrue(bounded > 0);
    }

    /**
     * Matches as memory allows; checks what each flow has then, and how many bounds hold. Returns how many there are, or 0 if few
     * flows have means.
     */
    private int boundedOfPart(
        final List<CapturePacket> arrived, final String waiting, final int memoryMebibytes, final long allMatched,
        final Map<String, Map<String, List<String>>> truth) throws IOException {
        final JsonNode part = measure(sent, arrived, waiting, options(memoryMebibytes));
        final String said = err.toString(StandardCharsets.UTF_8);
        final Matcher line = Pattern.compile("flowlag: --memory " + memoryMebibytes + "m is too little to match every packet: " +
            "one flow in ([0-9]+) is matched, the others have means interpolated between matched packets and no loss; " +
            "--memory ([0-9]+)m would match each").matcher(said);
        assertTrue(line.find(), said);
        final int oneIn = Integer.parseInt(line.group(1));
        assertTrue(count(part, "match_matched") < allMatched, part::toString);

        int matched = 0;
        int estimated = 0;
        int bounded = 0;
        int held = 0;
        for (final Map.Entry<String, Map<String, List<String>>> each : flows().entrySet()) {
            final Map<String, List<String>> flow = each.getValue();
            final Map<String, List<String>> exact = truth.get(each.getKey());
            if (List.of("6").equals(flow.get("flowlagDelayEstimator"))) {
                assertSame(exact, flow);
                matched++;
            } else if (flow.containsKey("flowlagDelayEstimator")) {
                assertEquals(List.of("1"), flow.get("flowlagDelayEstimator"), flow::toString);
                assertFalse(flow.containsKey("flowlagLostPacketDeltaCount"), "nobody counted: " + flow);
                final long errorNs = Math.abs(number(flow, "flowlagDelayMeanNanoseconds") -
                    number(exact, "flowlagDelayMeanNanoseconds"));
                if (flow.containsKey("flowlagDelayErrorBoundNanoseconds")) {
                    held += errorNs <= number(flow, "flowlagDelayErrorBoundNanoseconds") ? 1 : 0;
                    bounded++;
                }
                estimated++;
            }
        }
        assertTrue(matched > 0 && estimated >= (oneIn - 1) * matched / 4, matched + " and " + estimated + ": " + said);
        // So few flows have errors in common.
        assertTrue(held >= 0.7 * bounded, held + " of " + bounded + " bounds hold");

        measure(sent, arrived, waiting, options(Integer.parseInt(line.group(2))));
        assertFalse(err.toString(StandardCharsets.UTF_8).contains("--memory"), "that would do: " + err);
        flows().forEach((key, flow) -> {
            assertEquals(List.of("6"), flow.get("flowlagDelayEstimator"));
            assertSame(truth.get(key), flow);
        });
        return matched + estimated >= 0.8 * truth.size() ? bounded : 0;
    }

    /** Mean and loss are the same, where packets found room. */
    private static void assertSame(final Map<String, List<String>> exact, final Map<String, List<String>> flow) {
        if (exact.get("flowlagDelayPacketDeltaCount").equals(flow.get("flowlagDelayPacketDeltaCount"))) {
            assertEquals(exact.get("flowlagDelayMeanNanoseconds"), flow.get("flowlagDelayMeanNanoseconds"));
        }
        if (Objects.equals(exact.get("flowlagLossKind"), flow.get("flowlagLossKind"))) {
            assertEquals(exact.get("flowlagLostPacketDeltaCount"), flow.get("flowlagLostPacketDeltaCount"));
        }
    }

    /** Each line is an object; the last one has what is printed below a table. */
    @Test
    void shouldEndJsonWithTotals() throws IOException {
        CapturePacket.write(path("s"), sent);
        CapturePacket.write(path("r"), received);
        DelayProcess.run(new ConfigLoader().text("test", "rli: {capacity: 20m}").conclude(),
            options(false, false, true).with(Listing.of(RowFormat.JSON)), terminal);
        final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        long lost = 0;
        for (final String line : lines.subList(0, lines.size() - 1)) {
            final JsonNode flow = new ObjectMapper().readTree(line);
            assertTrue(flow.has("packetDeltaCount") && !flow.has("_totals"), line);
            lost += flow.path("flowlagLostPacketDeltaCount").asLong();
        }
        final JsonNode totals = new ObjectMapper().readTree(lines.get(lines.size() - 1));
        assertTrue(totals.at("/_totals").asBoolean() && totals.at("/max_delay_ns").asLong() > 0, totals::toString);
        final JsonNode counters = totals.at("/delay/counters");
        assertEquals(sent.size(), counters.path("match_sent").asLong());
        assertTrue(totals.at("/delay/total/0/matched/mean_ns").isNumber(), totals::toString);
        assertEquals(counters.path("match_lost").asLong() - counters.path("match_lost_of_unseen_flows").asLong(),
            lost + totals.at("/lost_in_no_row").asLong());
    }

    /** Though the first flow is IPv4 and too short for quantiles, others are IPv6, and delays are long. */
    @ParameterizedTest
    @CsvSource({"false, 0", "true, 0", "false, 3000000000"})
    void shouldPrintTheHeaderOnce(final boolean isSketched, final long laterNs) throws IOException {
        final CapturePacket first =
            sent.stream().filter(CapturePacket::isIpv4).findFirst().orElseThrow().answer().later(-20 * SECOND_NS);
        sent.add(first);
        received.add(first.later(1_000));
        CapturePacket.write(path("s"), sent);
        CapturePacket.write(path("r"), received.stream().map((each) -> each.later(laterNs)).toList());
        DelayProcess.run(
            new ConfigLoader().text("test", "rli: {capacity: 20m}").conclude(), options(isSketched, isSketched, true), terminal);
        final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().toList();
        assertTrue(lines.get(0).matches("src .* max_us" + (isSketched ? " +sketch_us +sketch_%" : "")), lines.get(0));
        assertEquals(1, lines.stream().filter((line) -> line.matches("src +dst +proto .*")).count());
        assertTrue(lines.stream().anyMatch((line) -> line.contains("2001:db8:") || line.contains("fd")), "no IPv6");
    }

    @Test
    void shouldSayThatRecordsAreCutWhereFlowsFindNoRoom() throws IOException {
        measure(sent, received, "metering: {max-flows: 16}", options(false, false, true));
        final String said = err.toString(StandardCharsets.UTF_8);
        assertTrue(said.matches("(?s)flowlag: [0-9]+ records were cut, for there is room for 16 flows at once, .* a larger " +
            "metering.max-flows would do\n"), said);
    }

    private DelayOptions options(final int memoryMebibytes) {
        return new DelayOptions(List.of(path("s").toString()), List.of(path("r").toString()), ReferenceMode.MARKED, false, false,
            true, null, (long)memoryMebibytes << 20);
    }

    /** What the records say of delays, by flow; a flow has one record here. */
    private Map<String, Map<String, List<String>>> flows() throws IOException {
        return IpfixRecords.flows(directory.resolve("flows.ipfix")).stream().collect(Collectors.toMap(
            (each) -> Stream.of("sourceIPv4Address", "sourceIPv6Address", "destinationIPv4Address", "destinationIPv6Address",
                "sourceTransportPort", "destinationTransportPort", "protocolIdentifier")
                .map((name) -> String.valueOf(each.get(name))).collect(Collectors.joining(" ")),
            (each) -> each.entrySet().stream().filter((field) -> field.getKey().startsWith("flowlag"))
                .collect(Collectors.toMap(Map.Entry::getKey, Map.Entry::getValue))));
    }

    private static long number(final Map<String, List<String>> flow, final String element) {
        return Long.parseLong(flow.get(element).get(0));
    }
}
