package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LdsRepairTest {
    private static final long SEED = 0x5eed;
    private static final int PACKETS = 3_000;
    private static final int FLOWS = 50;
    private static final SketchGeometry GEOMETRY = SketchGeometry.lds(3, 200, 4, 1_000_000, 500_000, 100_000);

    /** Cell by cell the images are those of the packets that both points have; loss is named by flow. */
    @Property(tries = 30)
    void shouldLeaveTheCellsOfCommonPackets(@ForAll final long start) {
        final SplittableRandom random = new SplittableRandom(start);
        final LossyDifferenceSketch[] all = {sketch(), sketch()};
        final LossyDifferenceSketch[] common = {sketch(), sketch()};
        final PacketCache[] caches = {new PacketCache(PACKETS, SEED), new PacketCache(PACKETS, SEED)};
        final Map<Long, Long> losses = new HashMap<>();
        for (int i = 0; i < PACKETS; i++) {
            final long flow = random.nextInt(FLOWS);
            final long digest = random.nextLong();
            final int copies = random.nextInt(20) == 0 ? 3 : 1;
            final int kind = random.nextInt(20);
            final int sent = kind == 0 ? 0 : copies;
            final int received = kind == 1 ? 0 : kind == 2 ? copies - 1 : copies;
            for (int copy = 0; copy < copies; copy++) {
                add(all[0], caches[0], copy < sent, flow, digest, i * 10L + copy);
                add(all[1], caches[1], copy < received, flow, digest, i * 10L + 500 + copy);
                if (sent == received) {
                    add(common[0], null, true, flow, digest, i * 10L + copy);
                    add(common[1], null, true, flow, digest, i * 10L + 500 + copy);
                }
            }
            losses.merge(flow, (long)(sent - received), Long::sum);
        }
        final PacketDifference difference = reconcile(caches);
        final LdsRepair repair = new LdsRepair(GEOMETRY, SEED);

        repair.repair(difference, true, caches[0], new CellEditor().wrap(all[0]));
        repair.repair(difference, false, caches[1], new CellEditor().wrap(all[1]));

        assertTrue(difference.complete());
        assertEquals(difference.size(), repair.repairedItems());
        assertEquals(0, repair.unrepairedItems());
        for (int point = 0; point < 2; point++) {
            assertSameCells(common[point].image(), all[point].image());
        }
        LdsRepair.forEachLoss(
            difference, caches[0], caches[1],
            (identifier, flow, classIndex, packets, copies) -> losses.merge(flow, -packets, Long::sum));
        losses.forEach((flow, rest) -> assertEquals(0, rest, "flow " + flow));
    }

    @Test
    void shouldLeaveAnItemOfTwoFlowsWhereItIs() {
        final LossyDifferenceSketch sender = sketch();
        final PacketCache[] caches = {new PacketCache(100, SEED), new PacketCache(100, SEED)};
        add(sender, caches[0], true, 1, 7, 10);
        add(sender, caches[0], true, 2, 7, 20);
        final PacketDifference difference = reconcile(caches);
        final LdsRepair repair = new LdsRepair(GEOMETRY, SEED);

        repair.repair(difference, true, caches[0], new CellEditor().wrap(sender));

        assertEquals(1, difference.size());
        assertEquals(0, repair.repairedItems());
        assertEquals(1, repair.unrepairedItems());
        assertThrows(IllegalArgumentException.class, () -> new LdsRepair(SketchGeometry.lda(2, 0), SEED));
    }

    private static LossyDifferenceSketch sketch() {
        return new LossyDifferenceSketch(GEOMETRY, SEED);
    }

    private static void add(
        final LossyDifferenceSketch sketch,
        final PacketCache cache,
        final boolean seen,
        final long flow,
        final long digest,
        final long timestampNs) {
        final int weight = (int)(1 + flow % 3);
        final int bytes = (int)(60 + flow);
        if (seen) {
            sketch.update(flow, digest, timestampNs, bytes, weight);
            if (cache != null) {
                cache.add(digest, flow, timestampNs, bytes, weight, 0);
            }
        }
    }

    private static PacketDifference reconcile(final PacketCache[] caches) {
        final ReconcilableDifferenceAggregator[] aggregators = new ReconcilableDifferenceAggregator[2];
        for (int point = 0; point < 2; point++) {
            aggregators[point] = new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(4, 1_000), SEED);
            caches[point].fill(aggregators[point], FlowSample.ALL, PacketCache.ANY_CLASS);
        }
        final DifferenceDecoder decoder = new DifferenceDecoder(4_000, SEED);
        final PacketDifference difference = decoder.newDifference();
        assertEquals(
            SynopsisPairing.PAIRED, decoder.decode(aggregators[0].image(), aggregators[1].image(), difference));
        return difference;
    }

    private static void assertSameCells(final SketchImage expected, final SketchImage actual) {
        for (int row = 0; row < expected.rows(); row++) {
            for (int column = 0; column < expected.columns(); column++) {
                assertEquals(expected.timestampSumNs(row, column), actual.timestampSumNs(row, column));
                assertEquals(expected.count(row, column), actual.count(row, column));
                assertEquals(expected.digest(row, column), actual.digest(row, column));
                assertEquals(expected.bytes(row, column), actual.bytes(row, column));
            }
        }
    }
}
