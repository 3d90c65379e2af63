package io.flowlag.rli.receiver;

import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ErrorScalesTest {
    private static final long LEAST_DELAY_NS = 1_000_000;

    private final ErrorScales scales = new ErrorScales();

    private int kind(final double departuresNs, final double aboveNs) {
        return kind(departuresNs, aboveNs, 0);
    }

    /** The delay of the second reference is that much above or below the first's. */
    private int kind(final double departuresNs, final double aboveNs, final double changeNs) {
        final double fromNs = LEAST_DELAY_NS + aboveNs - Math.min(0, changeNs);
        return scales.kind(departuresNs, fromNs, fromNs + changeNs);
    }

    @Test
    void shouldGiveNoScaleOfFewErrors() {
        scales.onDelay(LEAST_DELAY_NS);
        for (int i = 0; i < ErrorScales.LEAST_COUNT - 1; i++) {
            scales.record(kind(1_000, 0), 100);
            assertEquals(0, scales.scaleNs(kind(1_000, 0)));
        }
        scales.record(kind(1_000, 0), -100);
        assertEquals(100, scales.scaleNs(kind(1_000, 0)), 1e-3);
    }

    @Test
    void shouldTellErrorsByDeparturesAndByTheDelayAboveTheLeast() {
        final Random random = new Random(5);
        scales.onDelay(LEAST_DELAY_NS);
        for (int i = 0; i < 40_000; i++) {
            final double departuresNs = 1_000 << random.nextInt(8);
            final double aboveNs = random.nextBoolean() ? 0 : 500_000;
            scales.record(kind(departuresNs, aboveNs), (aboveNs > 0 ? departuresNs : departuresNs / 10) * random.nextGaussian());
        }
        for (int octave = 0; octave < 8; octave++) {
            final double wantedNs = Math.sqrt(2 / Math.PI) * (1_000 << octave);
            assertEquals(wantedNs, scales.scaleNs(kind(1_000 << octave, 500_000)), 0.1 * wantedNs);
            assertEquals(wantedNs / 10, scales.scaleNs(kind(1_000 << octave, 0)), 0.1 * wantedNs);
        }
    }

    /** A queue that drains all the time got no packets in between. */
    @Test
    void shouldTellErrorsByHowTheDelayChanges() {
        scales.onDelay(LEAST_DELAY_NS);
        final double[] changesNs = {-1_000, -500, 0, 4_000};
        final double[] errorsNs = {10, 100, 300, 900};
        for (int i = 0; i < 10_000; i++) {
            scales.record(kind(1_000, 50_000, changesNs[i % 4]), errorsNs[i % 4]);
        }
        for (int i = 0; i < 4; i++) {
            assertEquals(errorsNs[i], scales.scaleNs(kind(1_000, 50_000, changesNs[i])), 0.05 * errorsNs[i] + 5);
        }
    }

    @Test
    void shouldLeanTowardsWhatIsNextAlikeWhereFewErrorsAre() {
        scales.onDelay(LEAST_DELAY_NS);
        for (int i = 0; i < 1_000; i++) {
            scales.record(kind(1_000, 0), 100);
            scales.record(kind(64_000, 0), 10_000);
        }
        assertEquals(10_000, scales.scaleNs(kind(64_000, 1_000_000)), 200, "never so high a delay");
        final double longer = 1_000_000_000 / ((1_000 + 64_000) / 2.0);
        assertEquals(longer, scales.scaleNs(kind(1_000_000_000, 0)) / scales.meanNs(), longer / 2, "never so long a time");
        assertEquals(scales.meanNs(), scales.scaleNs(kind(2, 0)), 1, "never so short a time");
    }

    @Test
    void shouldForgetPeriodByPeriod() {
        scales.onDelay(LEAST_DELAY_NS);
        for (int i = 0; i < 1_000; i++) {
            scales.record(kind(1_000, 0), 100);
        }
        for (int period = 0; period < 12; period++) {
            scales.rotate();
        }
        scales.onDelay(LEAST_DELAY_NS);
        for (int i = 0; i < 100; i++) {
            scales.record(kind(1_000, 0), 900);
        }
        assertEquals(900, scales.scaleNs(kind(1_000, 0)), 10);
    }

    /** Whatever the numbers are: references that overtook one another, clocks that are apart. */
    @Test
    void shouldTakeAnyNumber() {
        final double[] strange = {Double.NEGATIVE_INFINITY, -1e18, -1, 0, 0.4, 1, 1e18, Double.POSITIVE_INFINITY};
        for (final double departuresNs : strange) {
            for (final double delayNs : strange) {
                scales.record(scales.kind(departuresNs, delayNs, -delayNs), 1);
            }
        }
        scales.onDelay(-5e12);
        assertTrue(scales.scaleNs(kind(1, 1)) >= 1);
        assertNotEquals(kind(1_000, -7e12), kind(1_000, 7e12));
    }
}
