package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.monitoring.top.FlowRanking;
import io.flowlag.exporter.monitoring.top.WatchedFlow;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.DistinctError;
import io.flowlag.exporter.status.HeavyFlow;
import io.flowlag.exporter.status.LatencySummary;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.exporter.status.Statistics;
import org.agrona.DirectBuffer;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The contents of a snapshot in the status file, written by {@link FieldWriter} in the order of the methods here: process,
 * counters by label, sources, destinations, delay (if measured), latency (if packets are live), segment, health, errors, flows.
 * Flows are in the layout of {@link WatchedFlow}. Every change of the layout raises {@link StatusFile#VERSION}.
 */
final class SnapshotCodec {
    private SnapshotCodec() {
    }

    /** Writes a snapshot; flows come from the ranking, since the snapshot has only a few. */
    static void encode(final StatusSnapshot snapshot, final FlowRanking flows, final FieldWriter out) {
        final Statistics statistics = snapshot.statistics();
        out.number(snapshot.pid());
        out.number(statistics.startTimeMs());
        out.number(statistics.nowMs());
        out.number(statistics.memoryBoundBytes());
        out.count(CounterId.count());
        for (int i = 0; i < CounterId.count(); i++) {
            out.text(CounterId.of(i).label());
            out.number(statistics.counters().get(CounterId.of(i)));
        }
        out.list(statistics.sources(), (each) -> {
            out.text(each.name());
            out.number(each.captured());
            out.number(each.filtered());
            out.number(each.lostInKernel());
            out.textOrNone(each.damage());
        });
        out.list(statistics.destinations(), (each) -> {
            out.text(each.uri());
            out.number(each.recordsMade());
            out.number(each.recordsExported());
            out.number(each.recordsFailed());
            out.number(each.recordsWaiting());
            out.number(each.recordsUncertain());
            out.number(each.optionsRecords());
            out.number(each.messages());
            out.number(each.octets());
            out.number(each.reconnects());
            out.number(each.errors());
            out.flag(each.spool() != null);
            if (each.spool() != null) {
                encodeSpool(each.spool(), out);
            }
        });
        out.flag(statistics.delay() != null);
        if (statistics.delay() != null) {
            encodeDelay(statistics.delay(), out);
        }
        out.flag(statistics.latency() != null);
        if (statistics.latency() != null) {
            encodeLatency(statistics.latency(), out);
        }
        out.flag(snapshot.segment() != null);
        if (snapshot.segment() != null) {
            encodeSegment(snapshot.segment(), out);
        }
        out.list(snapshot.health(), (each) -> {
            out.text(each.name());
            out.flag(each.isWell());
            out.text(each.text());
        });
        out.list(snapshot.errors(), (each) -> {
            out.text(each.kind());
            out.number(each.count());
            out.number(each.firstMs());
            out.number(each.lastMs());
        });
        out.number(snapshot.flows().livingCount());
        out.number(snapshot.flows().endedCount());
        out.count(flows.size());
        for (int i = 0; i < flows.size(); i++) {
            out.octets(flows.flows(), flows.offset(i), WatchedFlow.LENGTH_BYTES);
        }
    }

    static StatusSnapshot decode(final DirectBuffer buffer, final int offset, final int lengthBytes) throws StatusFileException {
        final FieldReader in = new FieldReader(buffer, offset, lengthBytes);
        final long pid = in.number();
        final long startTimeMs = in.number();
        final long nowMs = in.number();
        final long memoryBoundBytes = in.number();
        final Counters counters = counters(in);
        final List<SourceStatistics> sources = in.list(() ->
            new SourceStatistics(in.text(), in.number(), in.number(), in.number(), in.textOrNone()));
        final List<DestinationStatistics> destinations = in.list(() -> new DestinationStatistics(
            in.text(), in.number(), in.number(), in.number(), in.number(), in.number(), in.number(), in.number(), in.number(),
            in.number(), in.number(), in.flag() ? decodeSpool(in) : null));
        final DelayStatistics delay = in.flag() ? decodeDelay(in) : null;
        final LatencySummary latency = in.flag() ? decodeLatency(in) : null;
        final SegmentDescription segment = in.flag() ? decodeSegment(in) : null;
        final List<HealthCheck> health = in.list(() -> new HealthCheck(in.text(), in.flag(), in.text()));
        final List<DistinctError> errors = in.list(() ->
            new DistinctError(in.text(), in.number(), in.number(), in.number()));
        final long livingCount = in.number();
        final long endedCount = in.number();
        final List<FlowView> flows = in.list(() -> FlowView.of(buffer, in.skip(WatchedFlow.LENGTH_BYTES)));
        in.end();
        return new StatusSnapshot(
            pid, new Statistics(counters, sources, destinations, delay, latency, startTimeMs, nowMs, memoryBoundBytes), segment,
            List.of(), health, errors, new FlowList(livingCount, endedCount, FlowOrder.slowestFirst(flows)));
    }

    private static void encodeSpool(final SpoolStatistics spool, final FieldWriter out) {
        out.number(spool.recordsHeld());
        out.number(spool.recordsTakenUp());
        out.number(spool.recordsIn());
        out.number(spool.recordsOut());
        out.number(spool.recordsPerhapsTwice());
        out.number(spool.octetsHeld());
        out.number(spool.octetsBound());
        out.number(spool.octetsRefused());
        out.number(spool.errors());
    }

    private static SpoolStatistics decodeSpool(final FieldReader in) throws StatusFileException {
        return new SpoolStatistics(in.number(), in.number(), in.number(), in.number(), in.number(), in.number(), in.number(),
            in.number(), in.number());
    }

    private static Counters counters(final FieldReader in) throws StatusFileException {
        final Map<String, Long> values = new LinkedHashMap<>();
        in.list(() -> values.put(in.text(), in.number()));
        final Counters counters = new Counters();
        for (int i = 0; i < CounterId.count(); i++) {
            counters.set(CounterId.of(i), values.getOrDefault(CounterId.of(i).label(), 0L));
        }
        return counters;
    }

    private static void encodeDelay(final DelayStatistics delay, final FieldWriter out) {
        out.text(delay.role());
        out.number(delay.segmentId());
        out.text(delay.policy());
        out.number(delay.clockErrorNs());
        out.list(delay.counters().entrySet(), (each) -> {
            out.text(each.getKey());
            out.number(each.getValue());
        });
        out.list(delay.gauges().entrySet(), (each) -> {
            out.text(each.getKey());
            out.real(each.getValue());
        });
        out.list(delay.interval(), (each) -> encodeSummary(each, out));
        out.list(delay.total(), (each) -> encodeSummary(each, out));
        out.list(delay.sketches(), (each) -> encodeSketches(each, out));
        out.list(delay.unexplained().entrySet(), (each) -> {
            out.text(each.getKey());
            out.number(each.getValue());
        });
    }

    private static DelayStatistics decodeDelay(final FieldReader in) throws StatusFileException {
        final String role = in.text();
        final long segmentId = in.number();
        final String policy = in.text();
        final long clockErrorNs = in.number();
        final Map<String, Long> counters = new LinkedHashMap<>();
        in.list(() -> counters.put(in.text(), in.number()));
        final Map<String, Double> gauges = new LinkedHashMap<>();
        in.list(() -> gauges.put(in.text(), in.real()));
        final List<DelaySummary> interval = in.list(() -> decodeSummary(in));
        final List<DelaySummary> total = in.list(() -> decodeSummary(in));
        final List<SketchStatistics> sketches = in.list(() -> decodeSketches(in));
        final Map<String, Long> unexplained = new LinkedHashMap<>();
        in.list(() -> unexplained.put(in.text(), in.number()));
        return new DelayStatistics(
            role, segmentId, policy, clockErrorNs, counters, gauges, interval, total, sketches, unexplained);
    }

    private static void encodeSummary(final DelaySummary summary, final FieldWriter out) {
        out.number(summary.senderIndex());
        out.number(summary.classIndex());
        out.number(summary.dscp());
        out.number(summary.startNs());
        out.number(summary.endNs());
        encodeDistribution(summary.matched(), out);
        encodeDistribution(summary.estimates(), out);
        encodeDistribution(summary.references(), out);
        out.number(summary.lostReferences());
        out.number(summary.oversizePackets());
        out.number(summary.heldOutCount());
        out.numberOrNone(summary.heldOutP95Ns());
    }

    private static DelaySummary decodeSummary(final FieldReader in) throws StatusFileException {
        return new DelaySummary(
            (int)in.number(), (int)in.number(), (int)in.number(), in.number(), in.number(), decodeDistribution(in),
            decodeDistribution(in), decodeDistribution(in), in.number(), in.number(), in.number(), in.numberOrNone());
    }

    private static void encodeDistribution(final DelayDistribution distribution, final FieldWriter out) {
        out.number(distribution.count());
        out.number(distribution.negativeCount());
        out.number(distribution.meanNs());
        out.numberOrNone(distribution.standardDeviationNs());
        out.number(distribution.minimumNs());
        out.number(distribution.maximumNs());
        out.numberOrNone(distribution.p50Ns());
        out.numberOrNone(distribution.p90Ns());
        out.numberOrNone(distribution.p95Ns());
        out.numberOrNone(distribution.p99Ns());
        out.numberOrNone(distribution.p999Ns());
        out.numberOrNone(distribution.delayVariationNs());
    }

    private static DelayDistribution decodeDistribution(final FieldReader in) throws StatusFileException {
        return new DelayDistribution(
            in.number(), in.number(), in.number(), in.numberOrNone(), in.number(), in.number(),
            in.numberOrNone(), in.numberOrNone(), in.numberOrNone(), in.numberOrNone(), in.numberOrNone(), in.numberOrNone());
    }

    private static void encodeSketches(final SketchStatistics sketches, final FieldWriter out) {
        out.number(sketches.senderIndex());
        out.text(sketches.geometry());
        out.number(sketches.memoryBytes());
        out.numberOrNone(sketches.startNs());
        out.numberOrNone(sketches.endNs());
        out.number(sketches.usableCells());
        out.number(sketches.occupiedCells());
        out.list(sketches.interval(), (each) -> encodeAggregate(each, out));
        out.numberOrNone(sketches.unexplainedLost());
        out.list(sketches.heavyFlows(), (each) -> {
            out.text(each.source());
            out.text(each.destination());
            out.number(each.protocol());
            out.number(each.sourcePort());
            out.number(each.destinationPort());
            out.number(each.packets());
        });
        out.list(sketches.total(), (each) -> encodeAggregate(each, out));
        out.textOrNone(sketches.weightWarning());
    }

    private static SketchStatistics decodeSketches(final FieldReader in) throws StatusFileException {
        return new SketchStatistics(
            (int)in.number(), in.text(), in.number(), in.numberOrNone(), in.numberOrNone(), in.number(), in.number(),
            in.list(() -> decodeAggregate(in)), in.numberOrNone(),
            in.list(() -> new HeavyFlow(
                in.text(), in.text(), (int)in.number(), (int)in.number(), (int)in.number(), in.number())),
            in.list(() -> decodeAggregate(in)), in.textOrNone(), null, null);
    }

    private static void encodeAggregate(final AggregateDelay aggregate, final FieldWriter out) {
        out.number(aggregate.dscp());
        out.number(aggregate.samples());
        out.numberOrNone(aggregate.meanNs());
        out.numberOrNone(aggregate.standardDeviationNs());
        out.numberOrNone(aggregate.lostPackets());
    }

    private static AggregateDelay decodeAggregate(final FieldReader in) throws StatusFileException {
        return new AggregateDelay(
            (int)in.number(), in.number(), in.numberOrNone(), in.numberOrNone(), in.numberOrNone());
    }

    private static void encodeLatency(final LatencySummary latency, final FieldWriter out) {
        out.list(latency.buckets().countsAtMost(), out::number);
        out.number(latency.buckets().count());
        out.number(latency.buckets().sumNs());
        out.number(latency.p50Ns());
        out.number(latency.p90Ns());
        out.number(latency.p99Ns());
        out.number(latency.p999Ns());
        out.number(latency.maximumNs());
    }

    private static LatencySummary decodeLatency(final FieldReader in) throws StatusFileException {
        return new LatencySummary(
            new DelayHistogram.Buckets(in.list(in::number), in.number(), in.number()), in.number(), in.number(), in.number(),
            in.number(), in.number());
    }

    private static void encodeSegment(final SegmentDescription segment, final FieldWriter out) {
        out.number(segment.segmentId());
        out.text(segment.role());
        out.list(segment.points(), out::text);
        out.list(segment.dscps(), (each) -> out.number(each));
        out.text(segment.policy());
        out.number(segment.clockErrorNs());
        out.flag(segment.isClockSynchronized());
    }

    private static SegmentDescription decodeSegment(final FieldReader in) throws StatusFileException {
        return new SegmentDescription(
            in.number(), in.text(), in.list(in::text), in.list(() -> (int)in.number()), in.text(), in.number(), in.flag());
    }
}
