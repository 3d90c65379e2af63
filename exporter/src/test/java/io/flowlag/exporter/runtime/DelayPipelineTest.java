package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.runtime.delay.DelayTable;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelayPipelineTest {
    private static final long DELAY_NS = 3_000_000;
    private static final long PACKETS = 20_000;
    private static final DelayWiring MARKED =
        new DelayWiring(Role.BOTH, DelayWiring.References.MARKED, ClockError.fixed(42), true, true, false, false);

    private final Counters counters = new Counters();

    private DelayStatistics run(final Destination destination, final Threading threading, final String... options) {
        return run(DELAY_NS, destination, threading, options);
    }

    private DelayStatistics run(
        final long delayNs, final Destination destination, final Threading threading, final String... options) {
        final List<PacketSource> sources = List.of(
            new GeneratedTraffic(TrafficProfile.demo()),
            new DelayedSource(new GeneratedTraffic(TrafficProfile.demo()), (packet) -> delayNs));
        try (MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(threading, options), sources, false, MARKED, List.of(destination), counters, Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            return pipeline.delayStage().statistics();
        }
    }

    @ParameterizedTest
    @EnumSource(value = Threading.class, names = "SHARDED", mode = EnumSource.Mode.EXCLUDE)
    void shouldFindTheDelayOfEveryFlowFromMarkedPackets(final Threading threading) {
        final DelayList list = new DelayList();
        final DelayStatistics statistics = run(list, threading, "rli.every-n", "20");

        assertEquals(PACKETS, counters.get(CounterId.SENDER_POINT));
        assertEquals(PACKETS, counters.get(CounterId.METERED));
        assertEquals(0, AccountingIdentity.unexplainedDecoded(counters));
        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("references_sent") >= PACKETS / 20, statistics::toString);
        assertEquals(0, statistics.counters().get("rli_references_lost"));
        assertTrue(list.sampleCount > PACKETS * 0.99, list.sampleCount + " samples");
        assertEquals(list.sampleCount * DELAY_NS, list.sumNs);
        assertTrue(list.boundedCount > 0, "no flow has a bound");
        assertEquals(DELAY_NS, statistics.total().get(0).estimates().meanNs());
        assertEquals(0, statistics.total().get(0).references().standardDeviationNs());
    }

    /** Every fourth IPv4 packet of another source has DSCP 46. */
    private static final class RemarkingSource extends WrappedSource implements PacketHandler {
        private static final int TYPE_OFFSET = 12;
        private static final int CLASS_OF_SERVICE_OFFSET = 15;
        private final UnsafeBuffer copy = new UnsafeBuffer(new byte[65_536]);
        private final CapturedPacket remarked = new CapturedPacket(copy, 1, 0);
        private PacketHandler handler;
        private long packetCount;

        RemarkingSource(final PacketSource source) {
            super(source);
        }

        @Override
        public int poll(final PacketHandler next, final int packetLimit) {
            handler = next;
            return super.poll(this, packetLimit);
        }

        @Override
        public void onPacket(final CapturedPacket packet) {
            copy.putBytes(0, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
            if (packetCount++ % 4 == 0 && copy.getShort(TYPE_OFFSET, ByteOrder.BIG_ENDIAN) == 0x0800) {
                copy.putByte(CLASS_OF_SERVICE_OFFSET, (byte)(46 << 2));
            }
            remarked.copy(packet, 0);
            handler.onPacket(remarked);
        }
    }

    /** What matching measured is summed up by class and interval, also where nothing is interpolated. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldSumUpMatchedPacketsByClass(final boolean isInterpolated) {
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.fixed(0), isInterpolated, true, true, false);
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final ExporterConfig config = new ConfigLoader()
            .text("test", "rli: {every-n: 20, classes: [0, 46]}\nsegment: {interval: 100ms, max-delay: 1s}")
            .option("--threading", ConfigTable.THREADING, List.of("invoker")).conclude();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(segment.sender(), new RemarkingSource(segment.receiver())), false, wiring,
            List.of(new FlowRecordList()), counters, Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            final long matched = statistics.counters().get("match_matched");
            final List<DelaySummary> total = statistics.total();
            final long[] inIntervals = new long[total.size()];
            final long[] packetsInIntervals = new long[total.size()];
            final List<LogHistogram> whole = List.of(new LogHistogram(), new LogHistogram());
            for (long i = 0; i < pipeline.delayStage().intervalCount(); i++) {
                for (final IntervalDelays each : pipeline.delayStage().interval(i)) {
                    inIntervals[each.summary().classIndex()] += each.summary().matched().count();
                    packetsInIntervals[each.summary().classIndex()] += each.packets();
                    final LogHistogram histogram = new LogHistogram();
                    assertEquals(each.summary().matched().count() > 0,
                        histogram.decode(new UnsafeBuffer(each.histogram()), 0, each.histogram().length));
                    assertEquals(each.summary().matched().count(), histogram.count());
                    whole.get(each.summary().classIndex()).add(histogram);
                }
            }
            assertTrue(pipeline.delayStage().intervalCount() > 5, "intervals");
            assertEquals(2, total.size());
            assertEquals(matched, total.stream().mapToLong((each) -> each.matched().count()).sum());
            for (final DelaySummary each : total) {
                assertTrue(each.matched().count() > 100, each::toString);
                assertEquals(each.matched().count(), inIntervals[each.classIndex()], "each packet is in one interval");
                assertTrue(each.matched().count() <= packetsInIntervals[each.classIndex()], "and among those received");
                final LogHistogram histogram = whole.get(each.classIndex());
                assertEquals(each.matched().count(), histogram.count());
                assertEquals(each.matched().p90Ns(), histogram.quantile(0.9),
                    each.matched().p90Ns() * (histogram.relativeError() + 0.001) + 1, "merged over the intervals");
                assertEquals(each.matched(), each.delays());
                assertEquals(isInterpolated && each.classIndex() == 0, each.references().count() > 0, each::toString);
            }
            assertEquals(
                matched, pipeline.delayStage().histograms().stream().mapToLong((each) -> each.estimates().count()).sum());
        }
    }

    /** The receiver's clock is behind by more than the path's delay: each packet arrives before it was sent. */
    @ParameterizedTest
    @ValueSource(longs = {-250_000, -5_000_000, -100_000_000})
    void shouldFindNegativeDelaysFromMarkedPackets(final long delayNs) {
        final DelayList list = new DelayList();
        final DelayStatistics statistics = run(delayNs, list, Threading.INVOKER, "rli.every-n", "20");

        assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        assertTrue(statistics.counters().get("rli_references_lost") <= PACKETS / 20 / 100, statistics::toString);
        assertTrue(list.sampleCount > PACKETS * 0.9, list.sampleCount + " samples");
        assertEquals(list.sampleCount * delayNs, list.sumNs);
        assertEquals(delayNs, statistics.total().get(0).estimates().meanNs());
    }

    @Test
    void shouldSayThatTheCeilingKeepsThePolicyFromBeingKept() {
        final DelayStatistics statistics =
            run(new DelayList(), Threading.INVOKER, "rli.every-n", "2", "rli.ceiling", "100000");
        final ByteArrayOutputStream table = new ByteArrayOutputStream();
        DelayTable.print(statistics, new PrintStream(table, true, StandardCharsets.UTF_8));

        assertTrue(statistics.counters().get("references_held_by_ceiling") > 0);
        assertTrue(statistics.counters().get("references_sent") < PACKETS / 4);
        assertTrue(table.toString(StandardCharsets.UTF_8).contains(
            statistics.counters().get("references_held_by_ceiling") + " of " +
            statistics.counters().get("references_sent") + " references had to wait for rli.ceiling"), table::toString);
    }

    @Test
    void shouldMeasureOnlyWhatTheSegmentSelects() {
        final DelayList list = new DelayList();
        final DelayStatistics statistics = run(list, Threading.INVOKER, "segment.destination", "203.0.113.0/24");

        assertEquals(PACKETS, counters.get(CounterId.METERED));
        assertEquals(PACKETS, counters.get(CounterId.OUTSIDE_SEGMENT));
        assertEquals(PACKETS, counters.get(CounterId.SENDER_OUTSIDE_SEGMENT));
        assertEquals(0, list.sampleCount);
        assertTrue(statistics.isAccountedFor());
    }

    @Test
    void shouldNotMeasureWhatOffloadJoinedAndFlagItsIntervals() {
        final List<PacketSource> sources = List.of(
            new SmallLink(new GeneratedTraffic(TrafficProfile.demo()), 1000),
            new SmallLink(new DelayedSource(new GeneratedTraffic(TrafficProfile.demo()), (packet) -> DELAY_NS), 1000));
        final DelayList list = new DelayList();
        try (MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.INVOKER), sources, false, MARKED, List.of(list), counters, Pipelines::fail)) {
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            final long oversize = counters.get(CounterId.OVERSIZE);
            assertTrue(oversize > 1000 && oversize < PACKETS - 1000, oversize + " oversize");
            assertEquals(oversize, counters.get(CounterId.SENDER_OVERSIZE));
            assertEquals(PACKETS, counters.get(CounterId.METERED), "flows count them");
            assertEquals(PACKETS - oversize, statistics.counters().get("rli_packets"));
            assertEquals(PACKETS - oversize, statistics.counters().get("match_matched"), statistics::toString);
            assertEquals(2 * oversize, statistics.total().get(0).oversizePackets());
            assertEquals(list.sampleCount * DELAY_NS, list.sumNs);
            assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        }
    }

    @Test
    void shouldTakeOverAnotherPolicyWhilePacketsPass() {
        final List<PacketSource> sources = List.of(
            new GeneratedTraffic(TrafficProfile.demo()),
            new DelayedSource(new GeneratedTraffic(TrafficProfile.demo()), (packet) -> DELAY_NS));
        final List<Destination> destinations = List.of(new DelayList());
        try (MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.INVOKER, "rli.every-n", "1000"), sources, false, MARKED, destinations, counters,
            Pipelines::fail)) {
            while (counters.get(CounterId.SENDER_POINT) < PACKETS / 2) {
                pipeline.doWork();
            }
            final long before = pipeline.delayStage().statistics().counters().get("references_sent");
            pipeline.reload(
                Pipelines.config(Threading.INVOKER, "rli.policy", "combined", "rli.every-n", "10", "rli.ceiling", "1g"),
                destinations);
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            final long after = statistics.counters().get("references_sent") - before;
            assertTrue(after > 5 * before && after > PACKETS / 25, before + " references, then " + after);
            assertEquals("combined", statistics.policy());
            assertEquals(0, counters.get(CounterId.FLOWS_ENDED_ACTIVE), "no flow was lost or cut");
            assertTrue(statistics.isAccountedFor());
        }
    }

    @Test
    void shouldCountSizeByTheCapacityOfAReload() {
        final List<PacketSource> sources = List.of(
            new GeneratedTraffic(TrafficProfile.demo()),
            new DelayedSource(new GeneratedTraffic(TrafficProfile.demo()), (packet) -> DELAY_NS));
        final List<Destination> destinations = List.of(new DelayList());
        final String[] options = {"rli.policy", "every-n", "rli.serialisation", "capacity", "rli.capacity", "8m"};
        try (MeteringPipeline pipeline = new MeteringPipeline(
            Pipelines.config(Threading.INVOKER, options), sources, false, MARKED, destinations, counters, Pipelines::fail)) {
            while (counters.get(CounterId.SENDER_POINT) < PACKETS / 2) {
                pipeline.doWork();
            }
            assertEquals(1000, pipeline.delayStage().statistics().gauges().get("serialisation_ns_per_byte"));
            options[5] = "80m";
            pipeline.reload(Pipelines.config(Threading.INVOKER, options), destinations);
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            assertEquals(100, pipeline.delayStage().statistics().gauges().get("serialisation_ns_per_byte"));
        }
    }

    @Test
    void shouldNotPutSamplesOfOneRecordIntoTheNext() {
        final DelayList list = new DelayList();
        final DelayStatistics statistics =
            run(list, Threading.INVOKER, "rli.every-n", "400", "metering.active-timeout", "20ms");

        assertTrue(statistics.counters().get("rli_flow_ended") > 0, statistics::toString);
        assertEquals(statistics.counters().get("rli_estimated"), list.sampleCount);
        assertEquals(0, list.overfullCount, "records with more samples than packets");
        assertTrue(statistics.isAccountedFor());
    }

    /** Adds up what records say of delay. */
    private static final class DelayList extends TakingDestination {
        private long sampleCount;
        private long sumNs;
        private long boundedCount;
        private long overfullCount;

        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            sampleCount += DelayCounters.count(entry, delay);
            sumNs += DelayCounters.sumNs(entry, delay);
            boundedCount += FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND) ? 1 : 0;
            overfullCount += DelayCounters.count(entry, delay) > FlowEntry.packetCount(entry, offset) ? 1 : 0;
            assertEquals(
                DelayCounters.count(entry, delay) > 0 ? FlowDelay.ESTIMATOR_INTERPOLATED : 0,
                FlowDelay.estimator(entry, delay));
        }
    }
}
