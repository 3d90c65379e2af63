package io.flowlag.tests.lab.rli;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Four equal paths with different queues, in simulated time. */
class RliPathsTest {
    private static final int FOUND = 0;
    private static final int MEDIAN_ERROR = 1;
    private static final int HELD = 2;
    private static final int WIDTH = 3;

    @Test
    void shouldFindFourPathsAndTheFlowsOnThem() {
        final RliPaths.Run run = new RliPaths.Run(4, 400_000, 1);
        final double[] each = run.score(RliPaths.Case.EACH);
        final double[] onePort = run.score(RliPaths.Case.ONE_PORT);
        final double[] mixed = run.score(RliPaths.Case.MIXED);
        final double[] known = run.score(RliPaths.Case.KNOWN);
        final String all = "each " + Arrays.toString(each) + ", one port " + Arrays.toString(onePort) +
            ", mixed " + Arrays.toString(mixed) + ", known " + Arrays.toString(known);
        System.out.println(all);
        assertEquals(4, mixed[FOUND], all);
        assertEquals(4, known[FOUND], all);
        assertTrue(known[MEDIAN_ERROR] <= 1.5 * each[MEDIAN_ERROR], all);
        assertTrue(known[MEDIAN_ERROR] < onePort[MEDIAN_ERROR] / 3, all);
        assertTrue(mixed[HELD] >= 95 && known[HELD] >= 95, all);
        assertTrue(known[WIDTH] < 10, all);
    }

    @ParameterizedTest
    @CsvSource({"2, 1", "8, 1", "8, 2"})
    void shouldCoverWhatIsNotKnownOfPaths(final int paths, final long seed) {
        final RliPaths.Run run = new RliPaths.Run(paths, 100_000, seed);
        for (final RliPaths.Case each : RliPaths.Case.values()) {
            final double[] score = run.score(each);
            assertTrue(each == RliPaths.Case.ONE_PORT || score[HELD] >= 95, each + " " + Arrays.toString(score));
        }
    }

    @Test
    void shouldTellPathsApartTheSoonerTheMoreTheyDiffer() {
        double before = 60_000;
        for (final double difference : new double[] {0.3, 0.5, 1, 2}) {
            final double[] separation = RliPaths.separation(difference, 1);
            final String line = difference + ": " + Arrays.toString(separation);
            System.out.println(line);
            assertEquals(1, separation[1], line);
            assertTrue(separation[0] < before, line);
            before = separation[0];
        }
    }
}
