package io.flowlag.network.window;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.Random;
import java.util.function.DoubleSupplier;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** False alarms on stationary traffic, and the delay of an alarm, from seeds; {@code network-alarms} has millions of windows. */
class ChangeDetectorTest {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final int DAY = 1440;
    private static final int HOUR = 60;
    /** No hour of the day has two rises. */
    private static final int SEVEN_HOURS = 420;
    private static final int DETECTORS = 5;
    private static final int RISES = 12;
    private static final int MOST_WINDOWS = 100;

    /** A detector and its windows. */
    private static final class Run {
        private final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
        private final DoubleSupplier deviations;
        private long window;

        private Run(final DoubleSupplier deviations) {
            this.deviations = deviations;
        }

        private boolean next(final double rise) {
            return detector.onWindow(window++ * MINUTE_NS, 1e6 + 1e4 * (rise + deviations.getAsDouble()), 0);
        }

        /** {@return how many alarms there were until a window} */
        private int quiet(final long end) {
            int alarms = 0;
            while (window < end) {
                alarms += next(0) ? 1 : 0;
            }
            return alarms;
        }

        /** {@return windows until the alarm of a rise} */
        private int delay(final double rise) {
            int windows = 1;
            while (!next(rise) && windows < MOST_WINDOWS) {
                windows++;
            }
            return windows;
        }
    }

    private static DoubleSupplier means(final String kind, final double parameter, final long seed) {
        final Random random = new Random(seed);
        final double[] state = {random.nextGaussian()};
        return switch (kind) {
            case "normal" -> random::nextGaussian;
            case "log-normal" -> () -> Math.exp(parameter * random.nextGaussian());
            case "Pareto" -> () -> Math.pow(1 - random.nextDouble(), -1 / parameter);
            default -> () -> state[0] =
                parameter * state[0] + Math.sqrt(1 - parameter * parameter) * random.nextGaussian();
        };
    }

    @ParameterizedTest
    @CsvSource({"normal, 1", "log-normal, 1.5", "Pareto, 1.5", "Pareto, 2", "Pareto, 3", "autoregressive, 0.5",
        "autoregressive, 0.8"})
    void shouldRaiseNoFalseAlarms(final String kind, final double parameter) {
        assertEquals(0, new Run(means(kind, parameter, 1)).quiet(10 * DAY));
    }

    /** A day's windows tell too little of the tail for three. */
    @ParameterizedTest
    @CsvSource({"1, 4", "8, 3"})
    void shouldTellAShiftOfThreeDeviationsSoon(final int day, final int most) {
        final int[] delays = new int[DETECTORS * RISES];
        for (int i = 0; i < DETECTORS; i++) {
            final Run run = new Run(means("normal", 1, i));
            for (int rise = 0; rise < RISES; rise++) {
                run.quiet(day * DAY + rise * SEVEN_HOURS);
                delays[i * RISES + rise] = run.delay(3);
            }
        }
        Arrays.sort(delays);
        assertTrue(delays[delays.length / 2] <= most, "the median delay is " + delays[delays.length / 2] + " windows");
    }

    /** Of 1.5 deviations that come within two hours, and of heavy tails. */
    @Test
    void shouldTellRisesOfAllKinds() {
        final Run slow = new Run(means("normal", 1, 1));
        slow.quiet(5 * DAY);
        int windows = 0;
        while (!slow.next(Math.min(1.5, windows++ / 80.0))) {
            assertTrue(windows < 150, "a slow rise");
        }
        final Run heavy = new Run(means("Pareto", 2, 1));
        heavy.quiet(5 * DAY);
        final int delay = heavy.delay(20);
        assertTrue(delay <= 4, "Pareto: " + delay + " windows");
        final Run correlated = new Run(means("autoregressive", 0.5, 1));
        correlated.quiet(5 * DAY);
        assertTrue(correlated.delay(5) <= 6, "autoregressive");
    }

    @Test
    void shouldNotJudgeWhatItDoesNotKnow() {
        final ChangeDetector detector = new ChangeDetector(MINUTE_NS);
        for (int i = 0; i < 119; i++) {
            assertFalse(detector.onWindow(i * MINUTE_NS, i < 60 ? 1 : 1e9, 0));
        }
        for (int i = 119; i < DAY; i++) {
            assertFalse(detector.onWindow(i * MINUTE_NS, i % 2 == 0 ? Double.NaN : 1e12, i % 2 == 0 ? 0 : Double.NaN));
        }
        assertThrows(IllegalArgumentException.class, () -> new ChangeDetector(7 * MINUTE_NS));
        assertThrows(IllegalArgumentException.class, () -> detector.onWindow((DAY - 1) * MINUTE_NS, 1, 0));
    }

    /** Two windows are a change, and then the statistic begins anew. */
    @Test
    void shouldNotTakeOneWindowForAChange() {
        final Run run = new Run(means("normal", 1, 1));
        run.quiet(700);
        assertFalse(run.next(1e5));
        assertEquals(0, run.quiet(8 * DAY));
        for (int alarm = 0; alarm < 2; alarm++) {
            assertFalse(run.next(100));
            assertTrue(run.next(100));
        }
    }

    /** At any window, in quiet times and in rises, of which some begin in the hour before. */
    @Test
    void shouldGoOnFromItsState() {
        final Random random = new Random(1);
        final ChangeDetector whole = new ChangeDetector(3 * MINUTE_NS);
        ChangeDetector parts = new ChangeDetector(3 * MINUTE_NS, whole.state());
        int alarms = 0;
        for (int window = 0; window < 9 * DAY / 3; window++) {
            final double rise = window % 333 < 20 ? 4 : 0;
            final double mean = random.nextInt(50) == 0 ? Double.NaN : 1e6 + 1e4 * (rise + random.nextGaussian());
            final boolean isAlarm = whole.onWindow(3 * MINUTE_NS * window, mean, 3e3);
            assertEquals(isAlarm, parts.onWindow(3 * MINUTE_NS * window, mean, 3e3), "window " + window);
            alarms += isAlarm ? 1 : 0;
            if (random.nextInt(isAlarm ? 2 : 30) == 0) {
                final ChangeDetector.State state = parts.state();
                assertArrayEquals(whole.state().statistics(), state.statistics());
                assertArrayEquals(whole.state().rises(), state.rises());
                parts = new ChangeDetector(3 * MINUTE_NS, state);
            }
        }
        assertTrue(alarms >= 20, alarms + " alarms");
        final ChangeDetector.State state = whole.state();
        assertThrows(IllegalArgumentException.class, () -> new ChangeDetector(MINUTE_NS, state));
    }

    @Test
    void shouldRaiseNoAlarmWithConstantMeans() {
        final Run run = new Run(() -> 0);
        assertEquals(0, run.quiet(5 * DAY));
        assertTrue(run.delay(0.001) <= 3);
    }

    @Test
    void shouldBeLessSurprisedByAWindowOfLargerError() {
        final Run run = new Run(means("normal", 1, 4));
        run.quiet(5 * DAY);
        for (; run.window < 5 * DAY + 10; run.window++) {
            assertFalse(run.detector.onWindow(run.window * MINUTE_NS, 1e6 + 5e4, 5e4));
        }
        run.quiet(6 * DAY);
        assertTrue(run.delay(5) <= 3);
    }

    /** A rise of two hours hides no later one; one that stays is what is usual after a week. */
    @Test
    void shouldLeaveOutRisesAndLearnANewLevel() {
        final Run run = new Run(means("normal", 1, 5));
        run.quiet(5 * DAY);
        int alarms = 0;
        while (run.window < 5 * DAY + 2 * HOUR) {
            alarms += run.next(5) ? 1 : 0;
        }
        assertTrue(alarms >= HOUR / 2, alarms + " alarms");
        run.quiet(6 * DAY);
        assertTrue(run.delay(5) <= 3);
        while (run.window < 13 * DAY) {
            run.next(5);
        }
        while (run.window < 14 * DAY) {
            assertFalse(run.next(5));
        }
    }
}
