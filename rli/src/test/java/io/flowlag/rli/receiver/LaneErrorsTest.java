package io.flowlag.rli.receiver;

import io.flowlag.rli.path.PathFinder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sixteen lanes that count as one path, and may be two. */
class LaneErrorsTest {
    private static final double JITTER_NS = 100_000;
    private static final int RUNS = 100;

    private final PathFinder paths = new PathFinder();
    private final List<Integer> lanes =
        IntStream.range(0, PathFinder.LANES).map(paths::lane).boxed().collect(Collectors.toList());

    /** How far a flow on one of the lanes may be off after so many blocks; some lanes have a delay above that of the others. */
    private double mostNs(final int longerLanes, final double differenceNs, final int blocks, final long seed) {
        final LaneErrors errors = new LaneErrors();
        final Random random = new Random(seed);
        long nowNs = 0;
        for (int i = 0; i < blocks; i++) {
            Collections.shuffle(lanes, random);
            for (final int lane : lanes) {
                nowNs += 1 + random.nextInt(100_000);
                errors.onReference(
                    0, lane, nowNs, (lane < longerLanes ? differenceNs : 0) + JITTER_NS * random.nextGaussian());
            }
        }
        return errors.mostNs(0, paths);
    }

    @ParameterizedTest
    @CsvSource({"8, 0.1, 100", "8, 0.3, 64", "8, 0.3, 700", "1, 0.3, 700", "15, 0.3, 700", "4, 1, 60", "8, 0, 64"})
    void shouldCoverWhatTwoPathsThatCountAsOneAreOff(final int longerLanes, final double difference, final int blocks) {
        final double longerShare = longerLanes / (double)PathFinder.LANES;
        final double offNs = difference * JITTER_NS * Math.max(longerShare, 1 - longerShare);
        final long held = IntStream.range(0, RUNS)
            .filter(seed -> mostNs(longerLanes, difference * JITTER_NS, blocks, seed) >= offNs).count();
        assertTrue(held >= 0.95 * RUNS, held + " of " + RUNS);
    }

    @Test
    void shouldShrinkWithReferencesOfOnePath() {
        final double fewNs = mostNs(0, 0, 64, 1);
        final double manyNs = mostNs(0, 0, 64 * 25, 1);
        assertTrue(fewNs < 0.75 * JITTER_NS && manyNs < fewNs / 3 && manyNs > 0, fewNs + " " + manyNs);
    }

    @Test
    void shouldKnowNothingOfALaneWithoutReferences() {
        final LaneErrors errors = new LaneErrors();
        for (int i = 0; i < 1000; i++) {
            errors.onReference(0, i % (PathFinder.LANES - 1), i, 0);
        }
        assertEquals(Double.POSITIVE_INFINITY, errors.mostNs(0, paths));
        assertEquals(0, errors.mostNs(1, paths), "no lane");
    }
}
