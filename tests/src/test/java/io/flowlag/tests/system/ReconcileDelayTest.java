package io.flowlag.tests.system;

import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.SketchedSegment;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TapTruth;
import io.flowlag.tests.support.WindowedTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two processes that reconcile their packets over a small queue of the kernel, compared with taps at both points. */
@Tag("topology")
@Tag("slow")
class ReconcileDelayTest {
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final int FLOWS = 40;
    private static final int COUNTED_PACKETS = 200;
    private static final long LEAST_DROPS = 100;
    private static final int ATTEMPTS = 100;
    private static final String[] RECONCILED =
        {"--set", "reconcile.enabled=on", "--set", "reconcile.packets=64k", "--set", "reconcile.wait=2s"};

    @TempDir
    private Path directory;
    private SketchedSegment segment;

    @BeforeEach
    void build() throws IOException {
        NetworkNamespace.assumeAvailable();
        segment = new SketchedSegment(directory, "1s");
    }

    @AfterEach
    void tearDown() throws IOException {
        if (segment != null) {
            segment.close();
        }
    }

    private static WindowedTraffic.Plan plan(
        final int number, final int leastBytes, final int mostBytes, final int thinFlows, final int thickFlows) {
        return new WindowedTraffic.Plan(
            number, 0, leastBytes, mostBytes, thinFlows, 600_000_000, thickFlows, COUNTED_PACKETS, 60, 900);
    }

    /** The window of the traffic is at times longer than the queue. What a record calls exact is what the taps saw. */
    @Test
    void shouldNameTheFlowsOfLostPackets() throws Exception {
        segment.topology().shape(20_000_000, 12_000);
        try (WindowedTraffic traffic = segment.traffic(plan(1, 3_000, 11_000, 100, 8), 0);
            WindowedTraffic cross = segment.crossTraffic(plan(2, 2_000, 5_000, 0, 4));
            PacketTap sent = segment.tapSent();
            PacketTap arrived = segment.tapArrived();
            SketchedSegment.Point receiver = segment.receiver("receiver", RECONCILED);
            SketchedSegment.Point sender = segment.sender("sender", RECONCILED)) {
            receiver.awaitCompared(1);
            cross.start();
            traffic.start();
            traffic.awaitFlows(FLOWS);
            for (int i = 0; i < ATTEMPTS && segment.topology().droppedPackets() < LEAST_DROPS; i++) {
                traffic.awaitFlows(5);
            }
            traffic.stop();
            cross.stop();
            receiver.awaitRecords();
            sender.stop();
            receiver.stop();
            final TapTruth truth = new TapTruth(sent.finish(), arrived.finish(), INTERVAL_NS);
            sender.statistics().orFailUnlessAccounted();
            judge(truth, receiver.statistics().orFailUnlessAccounted(),
                receiver.records().stream().filter(flow -> truth.flow(flow.key()) != null).toList());
        }
    }

    private static void judge(final TapTruth truth, final Stats stats, final List<DelayFlow> records) {
        int exact = 0;
        int bounded = 0;
        int absent = 0;
        int unseen = 0;
        long listed = 0;
        for (final DelayFlow flow : records) {
            exact += flow.lostPackets() != null && flow.lossKind() == DelayFlow.LOSS_EXACT ? 1 : 0;
            bounded += flow.lostPackets() != null && flow.lossKind() != DelayFlow.LOSS_EXACT ? 1 : 0;
            absent += flow.lostPackets() == null ? 1 : 0;
            unseen += flow.packets() == 0 ? 1 : 0;
            listed += flow.lostPackets() != null && flow.lossKind() == DelayFlow.LOSS_EXACT ? flow.lostPackets() : 0;
        }
        // A flow of which nothing arrived in an interval has a record of that too.
        for (final List<DelayFlow> ofFlow : records.stream().collect(Collectors.groupingBy(DelayFlow::key)).values()) {
            final TapTruth.Flow really = truth.flow(ofFlow.get(0).key());
            final boolean isWhole = ofFlow.stream().mapToLong(DelayFlow::packets).sum() == really.received();
            if (isWhole && ofFlow.stream().allMatch((each) -> each.lostPackets() != null)) {
                final long lost = ofFlow.stream().mapToLong(DelayFlow::lostPackets).sum();
                final boolean isExact = ofFlow.stream().allMatch((each) -> each.lossKind() == DelayFlow.LOSS_EXACT);
                assertTrue(isExact ? lost == really.lost() : lost >= really.lost(), () -> ofFlow + ", lost " + really.lost());
            }
        }
        System.out.printf("a small queue, reconciled: %d of %d packets lost, %d of them in %d records with an exact loss, %d " +
            "records with an upper bound, %d without; %d where nothing arrived, %d packets without a name; %d of %d " +
            "intervals reconciled whole, %d octets%n",
            truth.lostPackets(), truth.sentPackets(), listed, exact, bounded, absent, unseen,
            stats.delayCounter("reconcile_lost_unnamed"),
            stats.delayCounter("reconcile_complete"), stats.delayCounter("reconcile_intervals"),
            stats.delayCounter("reconcile_octets"));
        assertTrue(truth.lostPackets() > 0);
        assertTrue(stats.delayCounter("reconcile_complete") > 0, stats::toString);
        assertEquals(0, stats.delayCounter("reconcile_refused"), stats::toString);
        assertTrue(listed > 0 && exact > bounded, () -> records + ": " + stats);
    }
}
