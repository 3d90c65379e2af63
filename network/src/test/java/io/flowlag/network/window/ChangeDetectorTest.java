package io.flowlag.network.window;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** False alarms on stationary traffic, and the delay of an alarm, from seeds. */
class ChangeDetectorTest {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final int WINDOWS = 3_000_000;
    private static final int DAY = 1440;
    /** No hour of the day has two rises. */
    private static final int SEVEN_HOURS = 420;
    private static final int DETECTORS = 40;
    private static final int RISES = 12;
    private static final int SERIES_DAYS = 30;
    private static final int MOST_FALSE_ALARMS = 3;

    /** Delays have a day's rhythm, and deviations that are known in part and in part learned. */
    @Test
    void shouldRaiseNoMoreFalseAlarmsThanPromised() {
        final Random random = new Random(11);
        int alarms = 0;
        for (int done = 0; done < WINDOWS; done += SERIES_DAYS * DAY) {
            final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
            for (int i = 0; i < SERIES_DAYS * DAY; i++) {
                alarms += detector.onWindow(i * MINUTE_NS, 1e6 + 1e4 * random.nextGaussian(), 5e3) ? 1 : 0;
            }
        }
        assertTrue(alarms <= MOST_FALSE_ALARMS, alarms + " false alarms in " + WINDOWS + " windows");
    }

    @ParameterizedTest
    @CsvSource({"1, 3", "8, 3"})
    void shouldTellAShiftOfThreeDeviationsSoon(final int day, final int most) {
        final int[] delays = new int[DETECTORS * RISES];
        for (int detectors = 0; detectors < DETECTORS; detectors++) {
            final Random random = new Random(detectors);
            final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
            long time = 0;
            for (int rise = 0; rise < RISES; rise++) {
                final long begin = day * DAY + rise * SEVEN_HOURS;
                for (; time < begin; time++) {
                    detector.onWindow(time * MINUTE_NS, 1e6 + 1e4 * random.nextGaussian(), 0);
                }
                while (!detector.onWindow(time * MINUTE_NS, 1e6 + 1e4 * (3 + random.nextGaussian()), 0)) {
                    time++;
                }
                delays[detectors * RISES + rise] = (int)(++time - begin);
            }
        }
        Arrays.sort(delays);
        assertTrue(delays[delays.length / 2] <= most, "the median delay is " + delays[delays.length / 2] + " windows");
    }

    @Test
    void shouldNotJudgeWhatItDoesNotKnow() {
        final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
        for (int i = 0; i < 119; i++) {
            assertFalse(detector.onWindow(i * MINUTE_NS, i < 60 ? 1 : 1e9, 0));
        }
    }

    /** A single window, however large, is no change; two are. */
    @Test
    void shouldNotTakeOneWindowForAChange() {
        final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
        final Random random = new Random(1);
        for (int i = 0; i < DAY; i++) {
            assertFalse(detector.onWindow(i * MINUTE_NS, 1e6 + 1e4 * random.nextGaussian() + (i == 700 ? 1e9 : 0), 0));
        }
        assertFalse(detector.onWindow(DAY * MINUTE_NS, 2e6, 0));
        assertTrue(detector.onWindow((DAY + 1) * MINUTE_NS, 2e6, 0));
    }
}
