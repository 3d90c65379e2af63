package io.flowlag.sketch.reconcile;

import io.flowlag.sketch.estimate.SampleBound;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CellDelaysTest {
    private static final int CELLS = 4;
    private static final int BANKS = 4;

    private final CellDelays delays = new CellDelays(BANKS * CELLS);
    private final AggregateEstimate estimate = new AggregateEstimate();

    private void estimate() {
        estimate.reset();
        delays.estimate(new SampleBound(0.95), 1 << 20, false, estimate);
    }

    /** 49 / 49 is not 49 · (1 / 49) in binary: some such counts would leave a little weight behind. */
    @Test
    void shouldHaveNoDeviationOfOneCellInEachBank() {
        for (int banks = 1; banks <= BANKS; banks++) {
            for (int count = 1; count < 1000; count++) {
                clear(banks);
                for (int bank = 0; bank < banks; bank++) {
                    delays.set(bank * CELLS + bank, 1_000_003L * count, count);
                }

                estimate();

                assertTrue(estimate.hasMean());
                assertFalse(estimate.hasStandardDeviation(), count + " packets in " + banks + " banks");
            }
        }
    }

    /** Packets of 1 and 3 ns, and of 2 and 6: their variances are 2 and 8 ns². */
    @Test
    void shouldTellTheDeviationOfTwoCells() {
        for (int factor = 1; factor <= 2; factor++) {
            clear(2);
            delays.set(0, factor, 1);
            delays.set(1, 3L * factor, 1);
            delays.set(CELLS, 3L * factor, 1);
            delays.set(CELLS + 2, factor, 1);

            estimate();

            assertTrue(estimate.hasStandardDeviation());
            assertEquals(2 * factor, estimate.meanNs());
            assertEquals(Math.sqrt(2) * factor, estimate.standardDeviationNs(), 1e-12);
        }
    }

    /** A cell that is not clean is no second one. */
    @Test
    void shouldHaveNoDeviationBesideASpoiltCell() {
        clear(1);
        delays.set(0, 5, 1);
        delays.set(1, 7, 1);
        delays.spoil(1);

        estimate();

        assertTrue(estimate.hasMean());
        assertFalse(estimate.hasStandardDeviation());
    }

    private void clear(final int banks) {
        delays.begin(banks, CELLS);
        for (int cell = 0; cell < banks * CELLS; cell++) {
            delays.set(cell, 0, 0);
        }
    }
}
