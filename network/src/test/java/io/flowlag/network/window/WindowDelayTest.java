package io.flowlag.network.window;

import io.flowlag.sketch.estimate.SampleBound;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Sums of intervals: parts make the whole in any order, and the merged bound holds for as many draws as it says. */
class WindowDelayTest {
    private static final double RELATIVE = 1e-9;
    private static final int DRAWS = 2000;
    private static final int INTERVALS = 6;
    /** 0.95 less three deviations of a share of so many draws. */
    private static final double LEAST_SHARE = 0.95 - 3 * Math.sqrt(0.95 * 0.05 / DRAWS);
    /** Half widths over median errors: 2.9 for a normal error, whose bound is exact, and 4.0 by Hoeffding's factor. */
    private static final double MOST_WIDTH = 3.5;
    private static final double MOST_SAMPLED_WIDTH = 4.2;
    /** The factor of {@link SampleBound} for 90 samples is 2.9, and a normal error's median 0.67 deviations. */
    private static final double MOST_WIDTH_OF_90 = 4.5;

    @Property(tries = 300)
    void shouldMergePartsToTheWhole(@ForAll @IntRange(min = 1, max = 40) final int count, @ForAll final long seed) {
        final Random random = new Random(seed);
        final List<IntervalDelay> intervals = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            intervals.add(interval(random));
        }
        final WindowDelay whole = new WindowDelay();
        intervals.forEach(whole::add);
        Collections.shuffle(intervals, random);
        final List<WindowDelay> parts = new ArrayList<>();
        for (int i = 0; i < 1 + random.nextInt(5); i++) {
            parts.add(new WindowDelay());
        }
        intervals.forEach((interval) -> parts.get(random.nextInt(parts.size())).add(interval));
        final WindowDelay merged = new WindowDelay();
        parts.forEach(merged::add);
        assertEquals(whole.packets(), merged.packets());
        assertEquals(whole.samples(), merged.samples());
        assertEquals(whole.intervals(), merged.intervals());
        assertEquals(whole.source(), merged.source());
        assertEquals(whole.clockBoundNs(), merged.clockBoundNs());
        assertEquals(whole.minimumNs(), merged.minimumNs());
        assertEquals(whole.maximumNs(), merged.maximumNs());
        assertClose(whole.meanNs(), merged.meanNs());
        assertClose(whole.deviationNs(), merged.deviationNs());
        assertClose(whole.boundNs(), merged.boundNs());
        assertEqualsDefinition(intervals, whole);
    }

    /** The formulas as the class states them. */
    private static void assertEqualsDefinition(final List<IntervalDelay> intervals, final WindowDelay whole) {
        final double packets = intervals.stream().mapToLong(IntervalDelay::packets).sum();
        final List<IntervalDelay> spread = intervals.stream().filter((each) -> !Double.isNaN(each.deviationNs())).toList();
        final double samples = spread.stream().mapToLong(IntervalDelay::samples).sum();
        final double mean = intervals.stream().mapToDouble((each) -> each.packets() * each.meanNs()).sum() / packets;
        assertClose(mean, whole.meanNs());
        assertClose(Math.sqrt(spread.stream().mapToDouble((each) ->
            each.samples() * (Math.pow(each.deviationNs(), 2) + Math.pow(each.meanNs() - mean, 2))).sum() / samples),
            whole.deviationNs());
    }

    private static IntervalDelay interval(final Random random) {
        final MeanSource source = MeanSource.values()[random.nextInt(MeanSource.values().length)];
        final long packets = 1 + random.nextInt(100_000);
        final long samples = 1 + (long)(random.nextDouble() * (packets - 1));
        final double mean = 1e6 * random.nextGaussian() + 2e7;
        final boolean hasBound = !source.isIndependent() || random.nextBoolean();
        return new IntervalDelay(source, packets, samples, mean, random.nextInt(4) == 0 ? Double.NaN : 1e5 * random.nextDouble(),
            hasBound ? 1e4 * random.nextDouble() : Double.NaN, random.nextInt(1000), mean - 1e6, mean + 1e6);
    }

    @Test
    void shouldHoldItsBoundForSamples() {
        final Random random = new Random(7);
        check(MOST_SAMPLED_WIDTH, () -> {
            final WindowDelay window = new WindowDelay();
            double sum = 0;
            for (int i = 0; i < INTERVALS; i++) {
                final double[] delays = new double[200 + random.nextInt(2000)];
                final double level = Math.exp(random.nextGaussian() / 3);
                Arrays.setAll(delays, (each) -> 1e6 * level * (1 - Math.log(1 - random.nextDouble())));
                sum += Arrays.stream(delays).sum();
                window.add(sampled(delays, 20 + random.nextInt(delays.length / 4), random));
            }
            return new double[] {window.meanNs() - sum / window.packets(), window.boundNs()};
        });
    }

    /** Every interval has one or two samples of many packets. */
    @Test
    void shouldHoldItsBoundForFewSamples() {
        final Random random = new Random(8);
        check(MOST_WIDTH_OF_90, () -> {
            final WindowDelay window = new WindowDelay();
            double sum = 0;
            for (int i = 0; i < 10 * INTERVALS; i++) {
                final double[] delays = new double[100];
                Arrays.setAll(delays, (each) -> 1e6 * (10 + random.nextGaussian()));
                sum += Arrays.stream(delays).sum();
                window.add(sampled(delays, 1 + random.nextInt(2), random));
            }
            return new double[] {window.meanNs() - sum / window.packets(), window.boundNs()};
        });
    }

    /** A tail as long as that of a log-normal of deviation 1. */
    @Test
    void shouldHoldItsBoundForLongTails() {
        final Random random = new Random(10);
        check(MOST_SAMPLED_WIDTH, () -> {
            final WindowDelay window = new WindowDelay();
            double sum = 0;
            for (int i = 0; i < INTERVALS; i++) {
                final double[] delays = new double[600];
                Arrays.setAll(delays, (each) -> 1e6 * Math.exp(random.nextGaussian()));
                sum += Arrays.stream(delays).sum();
                window.add(sampled(delays, 30 + random.nextInt(30), random));
            }
            return new double[] {window.meanNs() - sum / window.packets(), window.boundNs()};
        });
    }

    /** Records of aggregators and of joint estimation have no extremes, and may have no deviation. */
    @Test
    void shouldTakeWhatARecordLacksFromOthers() {
        final WindowDelay window = new WindowDelay();
        window.add(new IntervalDelay(MeanSource.AGGREGATOR, 10, 5, 100, Double.NaN, Double.NaN, 0, Double.NaN, Double.NaN));
        assertTrue(Double.isNaN(window.deviationNs()) && Double.isNaN(window.boundNs()));
        window.add(new IntervalDelay(MeanSource.AGGREGATOR, 10, 5, 100, 8, Double.NaN, 0, 90, 120));
        assertEquals(8, window.deviationNs());
        assertEquals(90, window.minimumNs());
        assertEquals(120, window.maximumNs());
        assertClose(new SampleBound(0.95).factor(9, 8) * 8 * Math.sqrt(0.5 / 4 + 0.5 / 4) / 2, window.boundNs());
        window.add(new IntervalDelay(MeanSource.REFERENCES, 10, 5, 100, 8, Double.NaN, 0, 90, 120));
        assertTrue(Double.isNaN(window.boundNs()), "references are no sample");
    }

    /** Two samples say nothing of the rest; both of two packets say everything. */
    @Test
    void shouldHaveNoBoundOfTwoSamples() {
        final WindowDelay window = new WindowDelay();
        window.add(new IntervalDelay(MeanSource.AGGREGATOR, 10, 2, 100, 8, Double.NaN, 0, 90, 120));
        assertTrue(Double.isNaN(window.boundNs()));
        window.add(new IntervalDelay(MeanSource.AGGREGATOR, 10, 1, 100, 0, Double.NaN, 0, 90, 120));
        assertTrue(window.boundNs() > 8);
        final WindowDelay whole = new WindowDelay();
        whole.add(new IntervalDelay(MeanSource.AGGREGATOR, 2, 2, 100, 8, Double.NaN, 0, 90, 120));
        assertEquals(0, whole.boundNs());
    }

    @Test
    void shouldHoldItsBoundForErrorsInCommon() {
        final Random random = new Random(9);
        check(MOST_WIDTH, () -> {
            final WindowDelay window = new WindowDelay();
            final double error = random.nextGaussian();
            double sum = 0;
            for (int i = 0; i < INTERVALS; i++) {
                final long packets = 1 + random.nextInt(1000);
                final double mean = 1e6 * random.nextDouble();
                final double deviation = 1e5 * random.nextDouble();
                sum += packets * mean;
                window.add(new IntervalDelay(MeanSource.JOINT, packets, packets, mean + error * deviation, 0,
                    WindowDelay.NORMAL_95 * deviation, 0, 0, 0));
            }
            return new double[] {window.meanNs() - sum / window.packets(), window.boundNs()};
        });
    }

    /** Draws a window: its error, and its bound. */
    private interface Draw {
        double[] draw();
    }

    private static void check(final double mostWidth, final Draw draw) {
        final double[] errors = new double[DRAWS];
        final double[] widths = new double[DRAWS];
        int held = 0;
        for (int i = 0; i < DRAWS; i++) {
            final double[] drawn = draw.draw();
            errors[i] = Math.abs(drawn[0]);
            widths[i] = drawn[1];
            held += errors[i] <= widths[i] ? 1 : 0;
        }
        Arrays.sort(errors);
        Arrays.sort(widths);
        final double width = widths[DRAWS / 2] / errors[DRAWS / 2];
        assertTrue(held >= LEAST_SHARE * DRAWS, held + " of " + DRAWS);
        assertTrue(width <= mostWidth, "the median half width is " + width + " median errors");
    }

    private static IntervalDelay sampled(final double[] delays, final int samples, final Random random) {
        double sum = 0;
        double squares = 0;
        for (int i = 0; i < samples; i++) {
            final int chosen = i + random.nextInt(delays.length - i);
            final double delay = delays[chosen];
            delays[chosen] = delays[i];
            delays[i] = delay;
            sum += delay;
            squares += delay * delay;
        }
        final double mean = sum / samples;
        return new IntervalDelay(MeanSource.AGGREGATOR, delays.length, samples, mean,
            Math.sqrt(Math.max(0, squares / samples - mean * mean)), Double.NaN, 0, 0, 0);
    }

    @Test
    void shouldUseTheBestSource() {
        final IntervalDelay joint = new IntervalDelay(MeanSource.JOINT, 1, 1, 1, 0, 0, 0, 0, 0);
        final IntervalDelay exact = new IntervalDelay(MeanSource.EXACT, 1, 1, 2, 0, 0, 0, 0, 0);
        assertEquals(exact, IntervalDelay.best(List.of(joint, exact)).orElseThrow());
        assertTrue(IntervalDelay.best(List.of()).isEmpty());
    }

    @Test
    void shouldSayNothingWithoutIntervals() {
        assertTrue(Double.isNaN(new WindowDelay().meanNs()));
        assertTrue(Double.isNaN(new WindowDelay().deviationNs()));
        assertTrue(Double.isNaN(new WindowDelay().boundNs()));
    }

    @Property(tries = 300)
    void shouldDivideARecordWithoutRest(@ForAll @IntRange(min = 0, max = 1_000_000) final int count, @ForAll final short start,
        @ForAll @IntRange(min = 0, max = 500) final int duration) {
        final List<Windows.Share> shares = new Windows(60).divide(start, start + duration, count);
        assertEquals(count, shares.stream().mapToLong(Windows.Share::count).sum());
        long window = new Windows(60).startNs(start);
        for (final Windows.Share share : shares) {
            assertEquals(window, share.startNs());
            final double lies = Math.min(start + duration, window + 60) - Math.max(start, window);
            assertTrue(duration == 0 || Math.abs(share.count() - count * lies / duration) <= 1, share::toString);
            window += 60;
        }
        assertTrue(window > start + duration);
    }

    private static void assertClose(final double expected, final double actual) {
        assertEquals(expected, actual, Double.isNaN(expected) ? 1 : RELATIVE * Math.max(1, Math.abs(expected)));
    }
}
