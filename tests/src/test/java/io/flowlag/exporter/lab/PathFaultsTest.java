package io.flowlag.exporter.lab;

import io.flowlag.tests.lab.rli.PaperSegment;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PathFaultsTest {
    private static final int PACKETS = 100_000;

    private static SegmentProfile profile(final QueueModel queue) {
        return PaperSegment.of(0.5, queue, PACKETS, 3);
    }

    /** Lengths of the runs of packets that were lost one after another, behind a queue that loses none. */
    private static List<Integer> episodes(final PathFaults faults) {
        final List<Integer> episodes = new ArrayList<>();
        new SimulatedSegment(profile(PaperSegment.dropTail()).with(faults)).run(new SegmentHandler() {
            private boolean isLosing;

            @Override
            public void onSent(final SimulatedPacket packet) {
                // Nothing is known of its fate.
            }

            @Override
            public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
                isLosing = false;
            }

            @Override
            public void onLost(final SimulatedPacket packet) {
                if (isLosing) {
                    episodes.set(episodes.size() - 1, episodes.get(episodes.size() - 1) + 1);
                } else {
                    episodes.add(1);
                }
                isLosing = true;
            }
        });
        return episodes;
    }

    @Test
    void shouldLosePacketsInEpisodesOfTheMeanLength() {
        final List<Integer> episodes = episodes(PathFaults.NONE.withBursts(0.1, 50));
        final int lost = episodes.stream().mapToInt(Integer::intValue).sum();

        // About 200 episodes with exponential lengths: both means are known within a tenth, so that a third is far off.
        assertEquals(0.1, (double)lost / PACKETS, 0.033);
        assertEquals(50, (double)lost / episodes.size(), 17);
    }

    @Test
    void shouldLoseOnePacketAtATimeWithoutEpisodes() {
        final List<Integer> episodes = episodes(new PathFaults(0.01, 0, 0, 0, 0, 0));
        final int lost = episodes.stream().mapToInt(Integer::intValue).sum();

        assertEquals(0.01, (double)lost / PACKETS, 0.002);
        assertTrue((double)lost / episodes.size() < 1.1, lost + " in " + episodes.size());
    }

    @Test
    void shouldMoveTheReceiversClock() {
        final SegmentTruth exact = new SimulatedSegment(profile(PaperSegment.dropTail())).truth();
        final SegmentTruth off = new SimulatedSegment(
            profile(PaperSegment.dropTail()).with(PathFaults.NONE.withClock(-1_000_000, 0))).truth();

        for (int flow = 0; flow < exact.flowCount(); flow++) {
            assertEquals(exact.meanNs(flow) - 1_000_000, off.meanNs(flow), 1e-3);
        }
        assertEquals(-1_000_000 + 50_000, PathFaults.NONE.withClock(-1_000_000, 50).clockErrorNs(1_000_000_000L));
    }

    @Test
    void shouldRefuseWhatCannotBe() {
        assertThrows(IllegalArgumentException.class, () -> PathFaults.NONE.withBursts(1.5, 10));
        assertThrows(IllegalArgumentException.class, () -> PathFaults.NONE.withBursts(0.5, 0));
        assertThrows(IllegalArgumentException.class, () -> PathFaults.NONE.withClock(0, 1001));
    }

    /** Each path has the whole capacity, so that both together are quicker than one, and each class waits for itself alone. */
    @Test
    void shouldSendClassesOverPathsOfTheirOwn() {
        final SegmentTruth one = new SimulatedSegment(profile(PaperSegment.dropTail()).withFirstShare(0.5)).truth();
        final SegmentTruth two = new SimulatedSegment(profile(QueueModel.parallelPaths(10_000)).withFirstShare(0.5)).truth();
        final SegmentTruth first = new SimulatedSegment(profile(QueueModel.parallelPaths(10_000)).withFirstShare(1)).truth();

        assertTrue(sumNs(two) < 0.7 * sumNs(one), sumNs(two) + " " + sumNs(one));
        assertEquals(sumNs(one), sumNs(first), "all on one of the paths");
    }

    private static long sumNs(final SegmentTruth truth) {
        long sumNs = 0;
        for (int flow = 0; flow < truth.flowCount(); flow++) {
            sumNs += truth.sumNs(flow);
        }
        return sumNs;
    }
}
