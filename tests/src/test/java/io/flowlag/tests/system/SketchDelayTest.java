package io.flowlag.tests.system;

import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.FlowAccuracy;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.SketchedSegment;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TapTruth;
import io.flowlag.tests.support.WindowedTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Accuracy of sketches of two processes over real queues of the kernel, compared with the truth from taps at both points. The
 * traffic keeps at most a window under way, so queues form on machines of any speed. The figures are printed. {@code
 * -Dflowlag.sketch.delay.seed=7} uses other traffic.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class SketchDelayTest {
    private static final String INTERVAL = "1s";
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final int SEED = Integer.getInteger("flowlag.sketch.delay.seed", 1);
    private static final double LEAST_USABLE = 0.99;

    private static final int EXPEDITED = 46;
    private static final int ROWS = 4;
    private static final int COLUMNS = 120;
    private static final int THIN_FLOWS = 300;
    private static final int CELLS_PER_FLOW = 2;
    private static final int COUNTED_PACKETS = 200;
    private static final int LEAST_FLOWS = 100;
    private static final long LEAST_DROPS = 100;
    private static final int ATTEMPTS = 100;
    private static final double MAXIMUM_ERROR = 0.1;

    @TempDir
    private Path directory;
    private SketchedSegment segment;
    private Stats stats;
    private TapTruth truth;
    private List<DelayFlow> records;

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        segment = new SketchedSegment(directory, INTERVAL);
    }

    @AfterEach
    void tearDown() throws IOException {
        if (segment != null) {
            segment.close();
        }
    }

    private interface Work {
        void run() throws Exception;
    }

    /** Both processes, taps at both points, and some traffic from beginning to end. */
    private void measure(final Work traffic, final String[] receiverArguments, final String... senderArguments)
        throws Exception {
        try (PacketTap sent = segment.tapSent();
            PacketTap arrived = segment.tapArrived();
            SketchedSegment.Point receiver = segment.receiver("receiver", receiverArguments);
            SketchedSegment.Point sender = segment.sender("sender", senderArguments)) {
            receiver.awaitCompared(1);
            traffic.run();
            receiver.awaitRecords();
            sender.stop();
            receiver.stop();
            truth = new TapTruth(sent.finish(), arrived.finish(), INTERVAL_NS);
            stats = receiver.statistics().orFailUnlessAccounted();
            sender.statistics().orFailUnlessAccounted();
            // Cross traffic passes the receiver point too.
            records = receiver.records().stream().filter(flow -> truth.flow(flow.key()) != null).toList();
        }
        assertEquals(0, truth.unexpectedPackets());
        assertEquals(0, stats.delayCounter("lds_intervals_refused"), stats::toString);
    }

    private static WindowedTraffic.Plan plan(
        final int number, final int leastBytes, final int mostBytes, final int thinFlows, final int thickFlows) {
        return new WindowedTraffic.Plan(
            10 * SEED + number, 0, leastBytes, mostBytes, thinFlows, 600_000_000, thickFlows, COUNTED_PACKETS, 60, 900);
    }

    /** 45 to 65 kB in a queue of 20 Mbit/s are 18 to 26 ms. */
    @Test
    void shouldBeExactWhereNothingIsLost() throws Exception {
        segment.topology().shape(20_000_000, 1_000_000);
        try (WindowedTraffic traffic = segment.traffic(plan(1, 28_000, 38_000, 100, 8), 0);
            WindowedTraffic cross = segment.crossTraffic(plan(2, 17_000, 27_000, 0, 4))) {
            measure(() -> {
                cross.start();
                traffic.start();
                traffic.awaitFlows(55);
                traffic.stop();
                cross.stop();
            }, new String[0]);
        }
        final FlowAccuracy accuracy = new FlowAccuracy(COUNTED_PACKETS);
        int losses = 0;
        for (final DelayFlow flow : records) {
            assertNotNull(flow.lostPackets(), () -> flow + ": " + stats);
            losses += flow.lostPackets() == 0 && flow.lossKind() == DelayFlow.LOSS_EXACT ? 1 : 0;
            if (flow.meanNs() != null) {
                accuracy.add(truth.flow(flow.key()).received(), truth.flow(flow.key()).meanNs(), flow.meanNs());
            }
        }
        final long usable = stats.delayCounter("lds_usable_cells");
        final long occupied = stats.delayCounter("lds_occupied_cells");
        System.out.printf("20 ms without loss, seed %d: %d packets, %d lost, mean delay %.1f ms, longest %.1f ms; %d of %d " +
            "cells usable; loss exactly 0 in %d of %d records; %s%n", SEED, truth.sentPackets(), truth.lostPackets(),
            truth.meanNs() / 1e6, truth.mostNs() / 1e6, usable, occupied, losses, records.size(), accuracy);
        assertEquals(0, truth.lostPackets());
        assertTrue(truth.meanNs() > 5e6, "there was no queue");
        assertTrue(usable >= LEAST_USABLE * occupied, () -> usable + " of " + occupied);
        assertTrue(accuracy.countedFlows() >= 50, accuracy::toString);
        assertEquals(records.size(), losses);
    }

    /** Two queues of strict priority, two cells at most for each flow that is alive; references go through the lower queue. */
    @Test
    void shouldTellClassesApartWhereOneStreamOfReferencesFails() throws Exception {
        segment.topology().shapeByPriority(40_000_000, EXPEDITED, 12_000_000, 1000, 1000);
        try (WindowedTraffic upper = segment.traffic(new WindowedTraffic.Plan(
                10 * SEED + 1, EXPEDITED, 5_000, 15_000, THIN_FLOWS / 2, 600_000_000, 10, COUNTED_PACKETS, 60, 400), 0);
            WindowedTraffic lower = segment.traffic(plan(2, 30_000, 90_000, THIN_FLOWS / 2, 8), 1);
            WindowedTraffic cross = segment.crossTraffic(plan(3, 10_000, 100_000, 0, 4))) {
            measure(() -> {
                cross.start();
                upper.start();
                lower.start();
                // Half of them may have another estimator than references, and are not compared.
                upper.awaitFlows(2 * LEAST_FLOWS + LEAST_FLOWS / 4);
                lower.awaitFlows(Math.max(0, LEAST_FLOWS / 3 - lower.endedFlows()));
                upper.stop();
                lower.stop();
                cross.stop();
            }, new String[] {"--set", "lds.rows=" + ROWS, "--set", "lds.columns=" + COLUMNS, "--set", "lds.vlda=1",
                "--set", "joint.enabled=off"},
                "--policy", "every-interval", "--set", "rli.every-interval=2ms", "--set",
                "rli.target=" + RouterTopology.EXIT);
        }
        final FlowAccuracy upperSketches = new FlowAccuracy(COUNTED_PACKETS);
        final FlowAccuracy lowerSketches = new FlowAccuracy(COUNTED_PACKETS);
        final FlowAccuracy upperReferences = new FlowAccuracy(COUNTED_PACKETS);
        final FlowAccuracy lowerReferences = new FlowAccuracy(COUNTED_PACKETS);
        for (final DelayFlow flow : records) {
            final double meanNs = truth.flow(flow.key()).meanNs();
            if (flow.packets() == truth.flow(flow.key()).received() && flow.sketchMeanNs() != null && flow.estimator() == 1) {
                final boolean isUpper = flow.classOfService() >> 2 == EXPEDITED;
                (isUpper ? upperSketches : lowerSketches).add(flow.packets(), meanNs, flow.sketchMeanNs());
                (isUpper ? upperReferences : lowerReferences).add(flow.packets(), meanNs, flow.meanNs());
            }
        }
        System.out.printf("two priorities, seed %d: %d cells, at least %d flows alive, %d packets, %d lost%n  upper, sketches: " +
            "%s%n  upper, one stream of references: %s%n  lower, sketches: %s%n  lower, one stream of references: %s%n", SEED,
            ROWS * COLUMNS, truth.alive(0), truth.sentPackets(), truth.lostPackets(), upperSketches, upperReferences,
            lowerSketches, lowerReferences);
        assertTrue(ROWS * COLUMNS <= CELLS_PER_FLOW * truth.alive(0.5), () -> truth.alive(0.5) + " flows alive");
        assertTrue(upperSketches.countedFlows() >= LEAST_FLOWS, upperSketches::toString);
        assertTrue(upperSketches.medianError() <= MAXIMUM_ERROR, upperSketches::toString);
        assertTrue(lowerSketches.medianError() <= MAXIMUM_ERROR, lowerSketches::toString);
        assertTrue(upperReferences.medianError() > upperSketches.medianError(), upperReferences::toString);
    }

    /** The window of the traffic is at times longer than the queue. */
    @Test
    void shouldBoundTheLossOfASmallQueue() throws Exception {
        segment.topology().shape(20_000_000, 12_000);
        try (WindowedTraffic traffic = segment.traffic(plan(1, 3_000, 11_000, 100, 8), 0);
            WindowedTraffic cross = segment.crossTraffic(plan(2, 2_000, 5_000, 0, 4))) {
            measure(() -> {
                cross.start();
                traffic.start();
                traffic.awaitFlows(40);
                for (int i = 0; i < ATTEMPTS && segment.topology().droppedPackets() < LEAST_DROPS; i++) {
                    traffic.awaitFlows(5);
                }
                traffic.stop();
                cross.stop();
            }, new String[0]);
        }
        int exact = 0;
        int bounded = 0;
        int absent = 0;
        long boundedPackets = 0;
        long lostOfBounded = 0;
        for (final DelayFlow flow : records) {
            final TapTruth.Flow really = truth.flow(flow.key());
            if (flow.lostPackets() == null) {
                absent++;
            } else if (flow.lossKind() == DelayFlow.LOSS_EXACT) {
                exact++;
                assertEquals(0, flow.lostPackets(), flow::toString);
                assertEquals(0, flow.packets() == really.received() ? really.lost() : 0, flow::toString);
            } else {
                bounded++;
                assertTrue(flow.packets() != really.received() || flow.lostPackets() >= really.lost(),
                    () -> flow + ", and it lost " + really.lost());
                boundedPackets += flow.lostPackets();
                lostOfBounded += really.lost();
            }
        }
        System.out.printf("a small queue, seed %d: %d of %d packets lost; %d records with a loss of exactly 0, %d with an " +
            "upper bound (%d packets, of them lost %d), %d without%n",
            SEED, truth.lostPackets(), truth.sentPackets(), exact, bounded, boundedPackets, lostOfBounded, absent);
        assertTrue(truth.lostPackets() > 0);
        assertTrue(exact > 0 && bounded > 0, () -> records + ": " + stats);
        assertTrue(absent <= records.size() / 10, () -> records + ": " + stats);
    }
}
