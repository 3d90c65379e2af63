package io.flowlag.exporter.export;

import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.JointStatistics;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelayOptionsWriterTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final String DEVIATION = "flowlagDelayStandardDeviationNanoseconds";
    private static final String BOUND = "flowlagDelayErrorBoundNanoseconds";
    private static final String CLOCK_ERROR = "flowlagClockErrorBoundNanoseconds";
    private static final String CLOCK_CORRECTION = "flowlagClockCorrectionNanoseconds";
    private static final String HISTOGRAM = "flowlagDelayHistogram";
    /** A level 0, buckets 483 and 484. */
    private static final byte[] OCTETS = HexFormat.of().parseHex("010001e3069003");

    @TempDir
    Path directory;

    private List<Map<String, List<String>>> records(final int messageBytes, final Consumer<DelayOptionsWriter> writing)
        throws IOException {
        final Path file = directory.resolve("options.ipfix");
        final TemplateCatalog catalog =
            new TemplateCatalog(FlowElements.registry(FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER), 64);
        final ExportingSession session = new ExportingSession(
            new FileTransport(file), new SessionSettings().maxMessageBytes(messageBytes), catalog);
        session.doWork(NOW_MS);
        writing.accept(new DelayOptionsWriter(session, catalog));
        session.flush(NOW_MS);
        session.close();
        return IpfixRecords.options(file);
    }

    @Test
    void shouldLeaveOutTheDeviationOfAClassWithOneDelay() throws IOException {
        final List<Map<String, List<String>>> records = records(1400, (writer) -> {
            writer.summary(1, interval(1, null, OCTETS), "estimates", NOW_MS);
            writer.summary(1, interval(2, 0L, OCTETS), "estimates", NOW_MS);
        });
        assertEquals(List.of("-5"), records.get(0).get("flowlagDelayMinimumNanoseconds"));
        assertEquals(List.of("7"), records.get(0).get("flowlagDelayMaximumNanoseconds"));
        assertFalse(records.get(0).containsKey(DEVIATION));
        assertEquals(List.of("0"), records.get(1).get(DEVIATION));
        assertEquals(List.of("-5"), records.get(1).get("flowlagDelayMinimumNanoseconds"));
    }

    @Test
    void shouldWritePacketsBesideSamplesAndTheHistogramOfTheBestDelays() throws IOException {
        final List<Map<String, List<String>>> records = records(1400, (writer) -> {
            writer.summary(1, interval(2, 0L, OCTETS), "estimates", NOW_MS);
            writer.summary(1, interval(2, 0L, OCTETS), "references", NOW_MS);
            writer.summary(1, interval(2, 0L, new byte[IntervalDelays.HISTOGRAM_LIMIT_BYTES]), "estimates", NOW_MS);
        });
        assertEquals(List.of("11"), records.get(0).get("packetDeltaCount"));
        assertEquals(List.of("2"), records.get(0).get("flowlagDelaySampleCount"));
        assertEquals(List.of(Long.toString(0x010001e3069003L)), records.get(0).get(HISTOGRAM), "its octets as a number");
        assertEquals(List.of("11"), records.get(1).get("packetDeltaCount"));
        assertFalse(records.get(1).containsKey(HISTOGRAM));
        assertTrue(records.get(2).containsKey(HISTOGRAM), "the longest fits");
    }

    @Test
    void shouldWriteTheBoundOfEachKindWhereItIsKnown() throws IOException {
        final DelaySummary summary =
            new DelaySummary(0, null, 0, 46, 0, 1, delays(2, 0L), delays(2, 0L), delays(2, 0L), -1, 0, 0, null);
        final List<Map<String, List<String>>> records = records(1400, (writer) -> {
            for (final IntervalDelays each : List.of(
                new IntervalDelays(summary, 11, ClockEstimate.NONE, OCTETS, 0, 9, 8),
                new IntervalDelays(summary, 11, ClockEstimate.NONE, OCTETS, -1, -1, -1))) {
                DelayOptionsWriter.KINDS.forEach((kind) -> writer.summary(1, each, kind, NOW_MS));
            }
            writer.joint(1, joint(5L), NOW_MS);
            writer.joint(1, joint(null), NOW_MS);
        });
        final List<String> bounds =
            records.stream().map((each) -> each.containsKey(BOUND) ? each.get(BOUND).get(0) : "none").toList();
        assertEquals(List.of("0", "9", "8", "none", "none", "none", "5", "none"), bounds);
    }

    private static JointStatistics joint(final Long boundNs) {
        return new JointStatistics(0, 1, "joint", "full", 1, 3, 3, 3, 1, 7L, 0, boundNs);
    }

    @Test
    void shouldWriteNoHistogramThatAMessageIsTooShortFor() throws IOException {
        final List<Map<String, List<String>>> records = records(512, (writer) -> {
            writer.summary(1, interval(2, 0L, new byte[IntervalDelays.HISTOGRAM_LIMIT_BYTES]), "estimates", NOW_MS);
            writer.summary(1, interval(2, 0L, OCTETS), "estimates", NOW_MS);
        });
        assertFalse(records.get(0).containsKey(HISTOGRAM));
        assertTrue(records.get(1).containsKey(HISTOGRAM));
    }

    @Test
    void shouldWriteTheBoundAndThePacketsOfAggregatorsWhereTheyAreKnown() throws IOException {
        final List<Map<String, List<String>>> records = records(1400, (writer) -> {
            writer.aggregate(1, "aggregator", 0L, 1L, new AggregateDelay(46, 9, -3L, 4L, 1L, 10L, 2L), NOW_MS);
            writer.aggregate(1, "aggregator", 0L, 1L, new AggregateDelay(46, 9, -3L, null, null), NOW_MS);
            writer.aggregate(1, "reconciled", 0L, 1L, new AggregateDelay(-1, 9, -3L, null, null, 10L, 0L), NOW_MS);
        });
        assertEquals(List.of("10"), records.get(0).get("packetDeltaCount"));
        assertEquals(List.of("2"), records.get(0).get(BOUND));
        assertEquals(List.of("1"), records.get(0).get("flowlagLostPacketDeltaCount"));
        assertFalse(records.get(1).containsKey("packetDeltaCount"));
        assertFalse(records.get(1).containsKey(BOUND));
        assertEquals(List.of("0"), records.get(2).get(BOUND));
    }

    @Test
    void shouldWriteTheEstimateOfTheClocksAndWhatWasTakenOut() throws IOException {
        final List<Map<String, List<String>>> records = records(1400, (writer) -> {
            writer.summary(1, interval(2, 0L, OCTETS, new ClockEstimate(true, false, -300, 40, 5e-8, 0, 0)), "estimates", NOW_MS);
            writer.summary(1, interval(2, 0L, OCTETS, new ClockEstimate(true, true, 300, 40, 5e-8, 0, 0)), "estimates", NOW_MS);
            writer.summary(1, interval(2, 0L, OCTETS, new ClockEstimate(false, true, 300, 40, 5e-8, 0, 0)), "estimates", NOW_MS);
        });
        assertEquals(List.of("-300"), records.get(0).get("flowlagClockOffsetNanoseconds"));
        assertEquals(50, Double.parseDouble(records.get(0).get("flowlagClockDriftPartsPerBillion").get(0)), 1e-9);
        assertEquals(List.of("340"), records.get(0).get(CLOCK_ERROR), "offset and bound");
        assertFalse(records.get(0).containsKey(CLOCK_CORRECTION));
        assertEquals(List.of("40"), records.get(1).get(CLOCK_ERROR), "the bound alone");
        assertEquals(List.of("300"), records.get(1).get(CLOCK_CORRECTION));
        assertFalse(records.get(2).containsKey(CLOCK_ERROR), "perhaps a clock has stepped");
        assertEquals(List.of("300"), records.get(2).get(CLOCK_CORRECTION));
    }

    /** The record set of an interval with every field, behind its template set. */
    @Test
    void shouldHaveTheseOctets() throws IOException {
        final List<String> wanted = new ArrayList<>();
        records(1400, (writer) -> writer.summary(1, interval(2, 1L, OCTETS), "estimates", NOW_MS));
        final String octets = HexFormat.of().formatHex(Files.readAllBytes(directory.resolve("options.ipfix")));
        wanted.add("00000001" + "b8" + "09" + HexFormat.of().formatHex("estimates".getBytes()));
        wanted.add("0000000000000000" + "0000000000000000" + "000000000000000b" + "0000000000000002");
        wanted.add("0000000000000002" + "0000000000000001" + "0000000000000009");
        wanted.add("fffffffffffffffb" + "0000000000000007" + "07" + "010001e3069003");
        assertTrue(octets.contains(String.join("", wanted)), octets);
        assertTrue(octets.contains("801affff00007ed9"), "variable length: " + octets);
    }

    private static IntervalDelays interval(final long count, final Long deviationNs, final byte[] histogram) {
        return interval(count, deviationNs, histogram, ClockEstimate.NONE);
    }

    private static IntervalDelays interval(
        final long count, final Long deviationNs, final byte[] histogram, final ClockEstimate clock) {
        return new IntervalDelays(new DelaySummary(0, null, 0, 46, 0, 1, DelayDistribution.EMPTY, delays(count, deviationNs),
            delays(count + 1, deviationNs), -1, 0, 0, null), 11, clock, histogram, -1, 9, 8);
    }

    private static DelayDistribution delays(final long count, final Long deviationNs) {
        return new DelayDistribution(count, 0, 2, deviationNs, -5, 7, null, null, null, null, null, null);
    }
}
