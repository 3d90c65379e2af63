package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.FlowAccuracy;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.SegmentTruth;
import io.flowlag.tests.support.SketchedSegment;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.WindowedTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * What sketches of two processes are worth over real queues of the kernel, beside the truth that taps at both points tell. The
 * traffic keeps no more than a window under way, so the queues stand on machines of any speed. The figures are printed.
 */
@Tag("topology")
@Tag("slow")
class SketchDelayTest {
    private static final String INTERVAL = "1s";
    private static final long INTERVAL_NS = 1_000_000_000;
    private static final int PACKET_BYTES = 442;
    private static final double LEAST_USABLE = 0.99;
    private static final double LEAST_BOUNDS_HELD = 0.9;

    @TempDir
    private Path directory;
    private SketchedSegment segment;

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

    /** 50 kB in a queue of 20 Mbit/s are 20 ms. */
    @Test
    void shouldBeExactWhereNothingIsLost() throws Exception {
        segment.topology().shape(20_000_000, 1_000_000);
        final SegmentTruth truth;
        final Stats stats;
        final SketchedSegment.Point receiver;
        try (WindowedTraffic traffic = segment.traffic(
                new WindowedTraffic.Plan(1, 0, 25_000, 35_000, 100, 500_000_000, 8, 200, 60, 1000), 0);
            WindowedTraffic cross = segment.crossTraffic(
                new WindowedTraffic.Plan(2, 0, 15_000, 25_000, 0, 0, 1, 1000, 900, 1100));
            PacketTap sent = segment.tapSent();
            PacketTap arrived = segment.tapArrived();
            SketchedSegment.Point closing = segment.receiver("receiver");
            SketchedSegment.Point sender = segment.sender("sender")) {
            receiver = closing;
            receiver.awaitCompared(1);
            traffic.start();
            cross.start();
            traffic.awaitFlows(60);
            traffic.stop();
            cross.stop();
            receiver.awaitComparedNow();
            sender.stop();
            receiver.stop();
            truth = new SegmentTruth(sent.finish(), arrived.finish(), INTERVAL_NS);
            stats = receiver.statistics().orFailUnlessAccounted();
            sender.statistics().orFailUnlessAccounted();
        }
        int exact = 0;
        int losses = 0;
        final FlowAccuracy accuracy = new FlowAccuracy(100);
        for (final DelayFlow flow : receiver.records()) {
            final SegmentTruth.Flow really = truth.flow(flow.key());
            losses += flow.lostPackets() == null ? 0 : 1;
            exact += flow.lostPackets() != null && flow.lostPackets() == 0 && flow.lossKind() == DelayFlow.LOSS_EXACT ? 1 : 0;
            if (flow.meanNs() != null) {
                accuracy.add(really.received(), really.meanNs(), flow.meanNs());
            }
        }
        final long usable = stats.delayCounter("lds_usable_cells");
        final long occupied = stats.delayCounter("lds_occupied_cells");
        System.out.printf("20 ms without loss: %d packets, %d lost, mean delay %.1f ms, longest %.1f ms; %d of %d cells usable " +
            "(%.4f); loss exactly 0 in %d of %d records; %s; kernel drops %d%n", truth.sentPackets(), truth.lostPackets(), truth.meanNs() / 1e6,
            truth.mostNs() / 1e6, usable, occupied, (double) usable / occupied, exact, losses, accuracy, stats.counter(CounterId.LOST_IN_KERNEL));
        assertEquals(0, truth.lostPackets());
        assertTrue(usable >= LEAST_USABLE * occupied);
    }
}
