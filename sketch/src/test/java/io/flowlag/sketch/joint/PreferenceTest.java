package io.flowlag.sketch.joint;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PreferenceTest {
    private static final int SIZE = 3;

    private final Preference preference = new Preference();

    /** Errors spread evenly about what is given, twice as much at most. */
    private void judge(final int size, final int judges, final double ownNs, final double rliNs) {
        preference.begin();
        for (int judge = 0; judge < judges; judge++) {
            final double factor = 2.0 * (judge + 0.5) / judges;
            preference.add(size, ownNs * factor, rliNs * factor);
        }
        preference.conclude();
    }

    @Test
    void shouldPreferRliWhereItsErrorsAreClearlySmaller() {
        judge(SIZE, 200, 2_000, 1_000);
        assertTrue(preference.isRli(SIZE));
    }

    @Test
    void shouldKeepTheJointMeanWhereErrorsAreAlike() {
        judge(SIZE, 200, 1_010, 1_000);
        assertFalse(preference.isRli(SIZE));
    }

    @Test
    void shouldPreferNobodyOnTheWordOfFew() {
        judge(SIZE, 29, 2_000, 1_000);
        assertFalse(preference.isRli(SIZE));
    }

    @Test
    void shouldNotTakeTheWordOfOtherSizes() {
        judge(SIZE + 1, 200, 2_000, 1_000);
        judge(SIZE, 29, 2_000, 1_000);
        assertFalse(preference.isRli(SIZE));
    }

    @Test
    void shouldBelieveThisIntervalBeforeEarlierOnes() {
        judge(SIZE, 100, 2_000, 1_000);
        judge(SIZE, 400, 500, 1_000);
        assertFalse(preference.isRli(SIZE));
    }

    @Test
    void shouldNotCompareErrorsBelowANanosecond() {
        judge(SIZE, 200, 0.4, 0.001);
        assertFalse(preference.isRli(SIZE));
    }
}
