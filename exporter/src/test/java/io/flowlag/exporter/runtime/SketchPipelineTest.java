package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.FlowSketch;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.rli.counters.DelayCounters;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.LongUnaryOperator;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sketches at both points of a simulated bottleneck, through all stages, against the truth. */
class SketchPipelineTest {
    private static final DelayWiring SKETCHED =
        new DelayWiring(Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, false, true);

    private final Counters counters = new Counters();
    private final FlowSums sums = new FlowSums();

    private DelayStatistics run(final SimulatedSegment segment, final Threading threading, final String... options) {
        return run(segment.sender(), segment.receiver(), threading, options);
    }

    private DelayStatistics run(
        final PacketSource sender, final PacketSource receiver, final Threading threading, final String... options) {
        final ExporterConfig config = Pipelines.config(threading, options);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config.with(config.joint().on()), List.of(sender, receiver), false, SKETCHED, List.of(sums), counters,
            Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            return pipeline.delayStage().statistics();
        }
    }

    private static SimulatedSegment segment(final double lossShare) {
        return new SimulatedSegment(
            SegmentProfile.demo().with(new PathFaults(lossShare, 0, 0, 0, 0, 0)).with((ReferenceModel)null));
    }

    private static Key key(final TrafficFlows flows, final int flow) {
        return new Key(
            flows.sourceAddress(flow), flows.destinationAddress(flow), flows.protocol(flow), flows.sourcePort(flow),
            flows.destinationPort(flow));
    }

    @ParameterizedTest
    @EnumSource(value = Threading.class, names = "SHARDED", mode = EnumSource.Mode.EXCLUDE)
    void shouldMeasureFlowsBySketchesAndByReferences(final Threading threading) {
        final SimulatedSegment segment = segment(0);
        final DelayStatistics statistics = run(segment, threading, "segment.interval", "500ms", "lds.columns", "64k");
        final SegmentTruth truth = segment.truth();

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertEquals(0, AccountingIdentity.unexplainedRecords(counters));
        assertEquals(0, statistics.counters().get("lds_intervals_unanswered"));
        assertEquals(0, statistics.counters().get("lds_received_late"));
        assertTrue(statistics.counters().get("lds_booked_earlier") > 10, statistics::toString);
        int measured = 0;
        int near = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            final Sum sum = sums.of(key(segment.flows(), flow));
            if (sum != null && truth.lostPackets(flow) == 0 && sum.unansweredRecords == 0) {
                measured++;
                near += Math.abs(sum.delayNs / sum.packets - truth.meanNs(flow)) <= 0.02 * truth.meanNs(flow) + 1 ? 1 : 0;
            }
        }
        assertTrue(measured > 150 && near >= 0.9 * measured, near + " of " + measured + " flows within 2 %");
        final long bounded = statistics.counters().get("lds_bounded_flows");
        final long held = statistics.counters().get("lds_bounds_held");
        assertTrue(bounded > 100 && held >= 0.95 * bounded, held + " of " + bounded);
        assertTrue(statistics.counters().get("lds_rli_flows") > 50, statistics::toString);
    }

    /** Packets whose timestamps were changed on the way to the file. */
    private static final class RetimedSource extends WrappedSource {
        private final LongUnaryOperator retiming;

        private RetimedSource(final PacketSource source, final LongUnaryOperator retiming) {
            super(source);
            this.retiming = retiming;
        }

        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            return super.poll(packet -> {
                packet.timestampNs(retiming.applyAsLong(packet.timestampNs()));
                handler.onPacket(packet);
            }, packetLimit);
        }
    }

    /** One timestamp of one point is an hour ahead or behind, or the clock of both was set back in the middle. */
    @ParameterizedTest
    @ValueSource(strings = {"ahead", "behind", "step"})
    void shouldMeasureOnBothSidesOfATimeThatIsWrong(final String fault) {
        final long hourNs = TimeUnit.HOURS.toNanos(1);
        final long[] counted = new long[1];
        final long[] middleNs = {Long.MAX_VALUE};
        final SimulatedSegment segment = segment(0);
        final LongUnaryOperator stray = (timestampNs) ->
            ++counted[0] == 10_000 ? timestampNs + (fault.equals("ahead") ? hourNs : -hourNs) : timestampNs;
        final LongUnaryOperator first = (timestampNs) -> {
            middleNs[0] = ++counted[0] == 10_000 ? timestampNs : middleNs[0];
            return timestampNs >= middleNs[0] ? timestampNs - hourNs : timestampNs;
        };
        final LongUnaryOperator second =
            (timestampNs) -> timestampNs >= middleNs[0] ? timestampNs - hourNs : timestampNs;
        final boolean isStep = fault.equals("step");
        final DelayStatistics statistics = run(
            new RetimedSource(segment.sender(), isStep ? first : stray),
            isStep ? new RetimedSource(segment.receiver(), second) : segment.receiver(),
            Threading.INVOKER, "segment.interval", "500ms", "lds.columns", "64k");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        final Map<String, Long> counts = statistics.counters();
        final long received = counts.get("lds_received");
        assertTrue(received > 19_000, received + " received");
        assertTrue(counts.get("match_lost") <= counts.get("lds_sent") - received, counts::toString);
        assertTrue(counts.get("match_matched") > received - 2500, counts::toString);
        assertTrue(counts.get("lds_received_booked") > received - 2500, counts::toString);
        final long held = counts.get("lds_bounds_held");
        assertTrue(held >= 0.95 * counts.get("lds_bounded_flows"), counts::toString);
    }

    @Test
    void shouldBoundLossFromAboveAndKnowWhereThereIsNone() {
        final SimulatedSegment segment = segment(0.002);
        final DelayStatistics statistics = run(
            segment, Threading.INVOKER, "segment.interval", "500ms", "metering.active-timeout", "900ms", "metering.idle-timeout",
            "400ms");
        final SegmentTruth truth = segment.truth();

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("lds_records_waited") > 20, statistics::toString);
        int exact = 0;
        int bounded = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            final Sum sum = sums.of(key(segment.flows(), flow));
            if (sum != null) {
                assertTrue(sum.exactRecords + sum.boundedRecords + sum.unknownRecords > 0);
                exact += sum.exactRecords;
                bounded += sum.boundedRecords;
                assertEquals(0, sum.lostInExactRecords);
            }
        }
        assertTrue(exact > 50 && bounded > 5, exact + " exact, " + bounded + " bounded");
        long lost = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            lost += truth.lostPackets(flow);
        }
        assertEquals(lost, statistics.counters().get("match_lost") + statistics.counters().get("match_sent_undecided"));
    }

    /** With fewer cells than flows the sketches alone are far off, and together with the references they are not. */
    @ParameterizedTest
    @EnumSource(value = Threading.class, names = "SHARDED", mode = EnumSource.Mode.EXCLUDE)
    void shouldSolveReferencesAndSketchesTogether(final Threading threading) {
        final SimulatedSegment segment = segment(0);
        final DelayStatistics statistics = run(
            segment, threading, "segment.interval", "500ms", "lds.columns", "24", "lds.vlda", "1");
        final SegmentTruth truth = segment.truth();

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        final Map<String, Long> counted = statistics.counters();
        assertTrue(counted.get("joint_intervals") > 3, statistics::toString);
        assertEquals(counted.get("joint_intervals"), counted.get("joint_intervals_solved"), statistics::toString);
        assertEquals(0, counted.get("joint_intervals_skipped"));
        assertEquals(0, counted.get("joint_estimates_overrun"));
        assertEquals(0, counted.get("joint_estimates_late"));
        assertTrue(counted.get("joint_witnesses") > 30, statistics::toString);
        assertEquals("joint", statistics.sketches().get(0).joint().status());

        final List<Double> interpolated = new ArrayList<>();
        final List<Double> sketched = new ArrayList<>();
        final List<Double> joint = new ArrayList<>();
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            final Sum sum = sums.of(key(segment.flows(), flow));
            if (sum != null && sum.jointPackets == sum.packets && sum.unansweredRecords == 0 && sum.estimates > 0) {
                interpolated.add(Math.abs(sum.estimateSumNs / sum.estimates / truth.meanNs(flow) - 1));
                sketched.add(Math.abs(sum.delayNs / sum.packets / truth.meanNs(flow) - 1));
                joint.add(Math.abs(sum.jointNs / sum.packets / truth.meanNs(flow) - 1));
            }
        }
        final String figures = String.format(Locale.ROOT, "%d flows: rli %.4f, lds %.4f, joint %.4f; bound holds for %d of %d",
            joint.size(), median(interpolated), median(sketched), median(joint), counted.get("joint_bounds_held"),
            counted.get("joint_bounded_flows"));
        assertTrue(joint.size() > 100, figures);
        assertTrue(median(joint) < 0.5 * Math.min(median(interpolated), median(sketched)), figures);
        assertTrue(counted.get("joint_bounds_held") >= 0.85 * counted.get("joint_bounded_flows"), figures);
    }

    private static double median(final List<Double> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    @Test
    void shouldSayThatOneParentStandsInWhereTheOtherHasNothing() {
        final SimulatedSegment segment = segment(0);
        final DelayStatistics statistics = run(
            segment, Threading.INVOKER, "segment.interval", "500ms", "rli.policy", "every-interval", "rli.every-interval", "10s",
            "rli.max-gap", "10s", "rli.silent-after", "11s", "joint.wait", "0s");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("joint_intervals_cells_alone") > 0, statistics::toString);
        assertTrue(sums.jointRecords > 0, statistics::toString);
    }

    @Test
    void shouldNotSolveAnIntervalWithMoreFlowsThanThereIsRoomFor() {
        final SimulatedSegment segment = segment(0);
        final DelayStatistics statistics = run(
            segment, Threading.INVOKER, "segment.interval", "500ms", "joint.max-flows", "16");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("joint_intervals_too_large") > 0, statistics::toString);
        assertEquals(0, statistics.counters().get("joint_flows"));
        assertEquals(0, sums.jointRecords);
    }

    @Test
    void shouldCountEstimatesThatComeTooLate() {
        final SimulatedSegment segment = segment(0);
        final DelayStatistics statistics = run(
            segment, Threading.INVOKER, "segment.interval", "500ms", "joint.pending", "16", "rli.policy", "every-n",
            "rli.every-n", "200");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("joint_estimates_overrun") > 1000, statistics::toString);
        assertTrue(statistics.counters().get("joint_estimates_booked") > 0, statistics::toString);
    }

    /** Addresses, protocol and ports. */
    private record Key(String source, String destination, int protocol, int sourcePort, int destinationPort) {
    }

    /** What the records of one flow say in all. */
    private static final class Sum {
        private double packets;
        private double delayNs;
        private int unansweredRecords;
        private int exactRecords;
        private int boundedRecords;
        private int unknownRecords;
        private long lostInExactRecords;
        private double jointPackets;
        private double jointNs;
        private double estimates;
        private double estimateSumNs;
    }

    /** Adds up records by flow. */
    private static final class FlowSums extends TakingDestination {
        private final Map<Key, Sum> flows = new HashMap<>();
        private long recordCount;
        private long jointRecords;

        Sum of(final Key key) {
            return flows.get(key);
        }

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            final Sum sum = flows.computeIfAbsent(key(entry, offset), (key) -> new Sum());
            sum.packets += FlowEntry.packetCount(entry, offset);
            sum.estimates += DelayCounters.count(entry, delay);
            sum.estimateSumNs += DelayCounters.sumNs(entry, delay);
            if (FlowDelay.estimator(entry, delay) == FlowDelay.ESTIMATOR_JOINT) {
                jointRecords++;
                sum.jointPackets += FlowEntry.packetCount(entry, offset);
                sum.jointNs += (double)FlowDelay.meanNs(entry, delay) * FlowEntry.packetCount(entry, offset);
            }
            if (FlowDelay.has(entry, delay, FlowDelay.FLAG_SKETCH)) {
                final int sketch = FlowDelay.sketchOffset(delay);
                sum.delayNs += (double)FlowSketch.meanNs(entry, sketch) * FlowEntry.packetCount(entry, offset);
                assertTrue(FlowSketch.samples(entry, sketch) > 0);
                assertTrue(FlowSketch.usableCells(entry, sketch) > 0);
                assertTrue(
                    DelayCounters.count(entry, delay) > 0 ||
                    FlowDelay.estimator(entry, delay) == FlowDelay.ESTIMATOR_SKETCH ||
                    FlowDelay.estimator(entry, delay) == FlowDelay.ESTIMATOR_JOINT);
            } else {
                sum.unansweredRecords++;
            }
            if (!FlowDelay.has(entry, delay, FlowDelay.FLAG_LOSS)) {
                sum.unknownRecords++;
            } else if (FlowDelay.lossKind(entry, delay) == FlowDelay.LOSS_EXACT) {
                sum.exactRecords++;
                sum.lostInExactRecords += FlowDelay.lostPackets(entry, delay);
            } else {
                sum.boundedRecords++;
            }
        }

        private static Key key(final DirectBuffer entry, final int offset) {
            return new Key(
                address(entry, offset, true), address(entry, offset, false), FlowEntry.protocol(entry, offset),
                FlowEntry.sourcePort(entry, offset), FlowEntry.destinationPort(entry, offset));
        }

        private static String address(final DirectBuffer entry, final int offset, final boolean isSource) {
            final long high = isSource ? FlowEntry.sourceHigh(entry, offset) : FlowEntry.destinationHigh(entry, offset);
            final long low = isSource ? FlowEntry.sourceLow(entry, offset) : FlowEntry.destinationLow(entry, offset);
            final ByteBuffer octets = FlowEntry.ipVersion(entry, offset) == 4 ?
                ByteBuffer.allocate(4).putInt((int)low) : ByteBuffer.allocate(16).putLong(high).putLong(low);
            try {
                return InetAddress.getByAddress(octets.array()).getHostAddress();
            } catch (final UnknownHostException ex) {
                throw new IllegalStateException(ex);
            }
        }
    }
}
