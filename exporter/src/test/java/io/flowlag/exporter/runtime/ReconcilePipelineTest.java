package io.flowlag.exporter.runtime;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both points of a simulated bottleneck that loses packets, through all stages, with reconciliation. */
class ReconcilePipelineTest {
    private static final int KEYS = 8;
    private static final DelayWiring SKETCHED =
        new DelayWiring(Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, true, true, true, true);

    private DelayStatistics run(final SimulatedSegment segment, final boolean isReconciled) {
        return run(segment, isReconciled, "16k");
    }

    private DelayStatistics run(final SimulatedSegment segment, final boolean isReconciled, final String packets) {
        return run(segment, isReconciled, packets, SKETCHED);
    }

    private DelayStatistics run(
        final SimulatedSegment segment, final boolean isReconciled, final String packets, final DelayWiring wiring) {
        return run(segment.sender(), segment.receiver(), isReconciled, packets, wiring);
    }

    private DelayStatistics run(
        final PacketSource sender, final PacketSource receiver, final boolean isReconciled, final String packets,
        final DelayWiring wiring) {
        final ExporterConfig plain = Pipelines.config(
            Threading.INVOKER, "segment.interval", "500ms", "lds.columns", "64", "metering.idle-timeout", "400ms",
            "reconcile.packets", packets, "reconcile.cells", "4k");
        final ExporterConfig joint = plain.with(plain.joint().on());
        final ExporterConfig config = isReconciled ? joint.with(joint.reconcile().on()) : joint;
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(sender, receiver), false, wiring, List.of(), new Counters(), Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            return pipeline.delayStage().statistics();
        }
    }

    private static SimulatedSegment segment(final double lossShare) {
        return new SimulatedSegment(
            SegmentProfile.demo().with(new PathFaults(lossShare, 0, 0, 0, 0, 0)).with((ReferenceModel)null));
    }

    /** The receiver's clock lags, by more than the path's delay: what is listed is lost, and all of it. */
    @ParameterizedTest
    @ValueSource(longs = {-5_000_000, -2_500_000, -300_000, 5_000_000})
    void shouldListTheSameLossesByClocksThatAreApart(final long offsetNs) {
        final SimulatedSegment segment = segment(0.01);
        final DelayStatistics apart = run(
            segment.sender(), new DelayedSource(segment.receiver(), (packet) -> offsetNs), true, "16k", SKETCHED);
        final Map<String, Long> counted = apart.counters();
        assertTrue(apart.isAccountedFor(), apart.unexplained()::toString);
        assertEquals(run(segment(0.01), true).counters().get("reconcile_lost"), counted.get("reconcile_lost"));
        assertEquals(0, counted.get("reconcile_unexpected"));
        assertEquals(0, counted.get("lds_clocks_apart"));
        assertEquals(counted.get("lds_occupied_cells"), counted.get("lds_usable_cells"));
    }

    /** Which packets are references, and which cells flows share, is chance: the errors of several keys are added. */
    @Test
    void shouldCostNoAccuracyToLosePackets() {
        final List<String> gauges = List.of("error_median_lds", "error_median_joint");
        final double[] withoutLoss = new double[gauges.size()];
        final double[] withRepair = new double[gauges.size()];
        for (int key = 0; key < KEYS; key++) {
            final DelayWiring wiring = SKETCHED.withDigestHash(new SipHash(key, ~key));
            final DelayStatistics lossless = run(segment(0), false, "16k", wiring);
            final DelayStatistics repaired = run(segment(0.01), true, "16k", wiring);
            shouldHaveRepaired(repaired);
            for (int i = 0; i < gauges.size(); i++) {
                withoutLoss[i] += lossless.gauges().get(gauges.get(i));
                withRepair[i] += repaired.gauges().get(gauges.get(i));
            }
        }
        for (int i = 0; i < gauges.size(); i++) {
            System.out.printf("%s, sum over %d keys: %.4f with loss and repair, %.4f without loss%n",
                gauges.get(i), KEYS, withRepair[i], withoutLoss[i]);
            assertTrue(withRepair[i] <= 1.2 * withoutLoss[i],
                gauges.get(i) + ": " + withRepair[i] + ", without loss " + withoutLoss[i]);
        }
    }

    private static void shouldHaveRepaired(final DelayStatistics repaired) {
        assertTrue(repaired.isAccountedFor(), repaired.unexplained()::toString);
        final Map<String, Long> counted = repaired.counters();
        assertEquals(counted.get("reconcile_intervals"), counted.get("reconcile_complete"), repaired::toString);
        assertEquals(counted.get("lds_occupied_cells"), counted.get("lds_usable_cells"));
        assertTrue(counted.get("reconcile_lost") > 100, repaired::toString);
        assertEquals(counted.get("match_lost") + counted.get("match_sent_undecided"), counted.get("reconcile_lost"));
        assertTrue(counted.get("reconcile_loss_flows") > 30, repaired::toString);
        assertTrue(counted.get("reconcile_loss_agreed") >= 0.9 * counted.get("reconcile_loss_flows"),
            counted.get("reconcile_loss_agreed") + " of " + counted.get("reconcile_loss_flows"));
    }

    /** A cache for a part of the flows: its loss is not the class's, and what is said of mean and deviation is of that part. */
    @Test
    void shouldNotTakeTheLossOfASampleForThatOfAClass() {
        final DelayStatistics sampled = run(segment(0.01), true, "1k");

        assertTrue(sampled.counters().get("reconcile_withdrawn") > 0, sampled::toString);
        assertTrue(sampled.counters().get("reconcile_lost") > 0, sampled::toString);
        final AggregateDelay total = sampled.sketches().get(0).reconcile().total().get(0);
        assertNull(total.lostPackets());
        assertNotNull(total.meanNs());
        assertNotNull(total.standardDeviationNs());
        assertTrue(sampled.isAccountedFor(), sampled.unexplained()::toString);
    }

    @Test
    void shouldSayTheExactMeanOfAllPacketsThatBothPointsHave() {
        final SimulatedSegment segment = segment(0.01);
        final DelayStatistics statistics = run(segment, true);
        final SegmentTruth truth = segment.truth();

        double sumNs = 0;
        long received = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            final long packets = truth.receivedPackets(flow);
            sumNs += packets == 0 ? 0 : packets * truth.meanNs(flow);
            received += packets;
        }
        final AggregateDelay total = statistics.sketches().get(0).reconcile().total().get(0);
        assertEquals(sumNs / received, total.meanNs(), 1e-4 * sumNs / received);
        assertTrue(total.standardDeviationNs() > 0);
        assertEquals("complete", statistics.sketches().get(0).reconcile().status());
        assertTrue(statistics.sketches().get(0).reconcile().octets() > 0);
    }
}
