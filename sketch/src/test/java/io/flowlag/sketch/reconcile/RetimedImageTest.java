package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** An image whose packets are moved in time is that of packets sent at the later times, but for what is rounded. */
class RetimedImageTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long OFFSET_NS = -9_876_543;
    private static final double RATE = 50e-6;
    private static final int PACKETS = 500;
    private static final int ROWS = 2;
    private static final int CELLS = 16;

    private final SplittableRandom random = new SplittableRandom(4);

    private static long moved(final long timeNs) {
        return timeNs + OFFSET_NS + Math.round(RATE * timeNs);
    }

    @Test
    void shouldMoveThePacketsOfASketch() {
        final SketchGeometry geometry = SketchGeometry.lds(ROWS, CELLS, 1);
        final LossyDifferenceSketch sent = new LossyDifferenceSketch(geometry, 3);
        final LossyDifferenceSketch wanted = new LossyDifferenceSketch(geometry, 3);
        sent.begin(7, SECOND_NS);
        wanted.begin(7, SECOND_NS);
        for (int i = 0; i < PACKETS; i++) {
            final long timeNs = random.nextLong(SECOND_NS);
            final long digest = random.nextLong();
            final int weight = 1 + i % 3;
            sent.update(i % 40, digest, timeNs, 100, weight);
            wanted.update(i % 40, digest, moved(timeNs), 100, weight);
        }
        new CellEditor().wrap(sent).retime(OFFSET_NS, RATE);
        for (int row = 0; row < ROWS; row++) {
            for (int column = 0; column < CELLS; column++) {
                assertEquals(wanted.image().timestampSumNs(row, column), sent.image().timestampSumNs(row, column), PACKETS);
                assertEquals(wanted.image().count(row, column), sent.image().count(row, column));
                assertEquals(wanted.image().digest(row, column), sent.image().digest(row, column));
            }
        }
    }

    @Test
    void shouldMoveThePacketsOfAnAggregator() {
        final ReconcilableDifferenceAggregator sent =
            new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(ROWS, CELLS), 3);
        final ReconcilableDifferenceAggregator wanted =
            new ReconcilableDifferenceAggregator(SynopsisGeometry.rda(ROWS, CELLS), 3);
        for (int i = 0; i < PACKETS; i++) {
            final long timeNs = random.nextLong(SECOND_NS);
            sent.update(i, timeNs);
            wanted.update(i, moved(timeNs));
        }
        sent.image().retime(OFFSET_NS, RATE);
        for (int cell = 0; cell < ROWS * CELLS; cell++) {
            assertEquals(wanted.image().timestampSumNs(cell), sent.image().timestampSumNs(cell), PACKETS);
            assertEquals(wanted.image().count(cell), sent.image().count(cell));
            assertEquals(wanted.image().identifier(cell), sent.image().identifier(cell));
        }
    }
}
