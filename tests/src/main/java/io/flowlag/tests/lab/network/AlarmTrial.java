package io.flowlag.tests.lab.network;

import io.flowlag.network.window.ChangeDetector;

import java.util.Arrays;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * Alarms of {@link ChangeDetector} on stationary windows of a minute: false ones, and how late those of rises are. Means are in
 * deviations, about what is usual.
 */
final class AlarmTrial {
    private static final long WINDOW_NS = 60_000_000_000L;
    private static final int DAY = 1440;
    private static final int SERIES_DAYS = 30;
    /** Days before rises. */
    private static final int LEARNED_DAYS = 8;
    private static final int RISES_OF_SERIES = 12;
    /** From rise to rise: no hour of the day has two. */
    private static final int APART = 420;
    private static final int MOST_WINDOWS = 100;
    private static final double MEAN_NS = 1e6;
    private static final double DEVIATION_NS = 1e4;

    private final Source source;

    /** Draws the means of a segment's windows. */
    interface Means {
        /** The mean of the next window, in deviations. */
        double next();

        /** The deviation of the error of the mean that was drawn last, as it was stated. */
        default double sigma() {
            return 0;
        }
    }

    /** Means from a seed. */
    interface Source {
        /** Another segment for each seed. */
        Means of(Random random);
    }

    AlarmTrial(final Source source) {
        this.source = source;
    }

    /** A segment's detector and its windows. */
    private final class Segment {
        private final ChangeDetector detector = new ChangeDetector(WINDOW_NS);
        private final Means means;
        private long window;

        private Segment(final long seed) {
            means = source.of(new Random(seed));
        }

        private boolean next(final double rise) {
            return detector.onWindow(window++ * WINDOW_NS, MEAN_NS + DEVIATION_NS * (means.next() + rise),
                DEVIATION_NS * means.sigma());
        }
    }

    /** {@return windows, rounded up to whole series of thirty days} */
    static int wholeSeries(final int windows) {
        return (windows + SERIES_DAYS * DAY - 1) / (SERIES_DAYS * DAY) * (SERIES_DAYS * DAY);
    }

    /** {@return false alarms in so many windows} */
    int falseAlarms(final int windows) {
        return IntStream.range(0, windows / (SERIES_DAYS * DAY)).parallel().map((series) -> {
            final Segment segment = new Segment(series);
            int alarms = 0;
            while (segment.window < SERIES_DAYS * DAY) {
                alarms += segment.next(0) ? 1 : 0;
            }
            return alarms;
        }).sum();
    }

    /** {@return windows until a rise by so many deviations raises an alarm, in so many series; ascending} */
    int[] delays(final double rise, final int series) {
        return IntStream.range(0, series).parallel().mapToObj(Segment::new).flatMapToInt((segment) ->
            IntStream.range(0, RISES_OF_SERIES).map((number) -> {
                while (segment.window < LEARNED_DAYS * DAY + number * APART) {
                    segment.next(0);
                }
                int windows = 1;
                while (!segment.next(rise) && windows < MOST_WINDOWS) {
                    windows++;
                }
                return windows;
            })).sorted().toArray();
    }

    /** {@return the deviations that shares of the means of all segments are below} */
    double[] quantiles(final double... shares) {
        final double[] all = IntStream.range(0, DAY).mapToObj((series) -> source.of(new Random(series)))
            .flatMapToDouble((means) -> IntStream.range(0, DAY / 10).mapToDouble((i) -> means.next())).sorted().toArray();
        return Arrays.stream(shares).map((share) -> all[(int)(share * all.length)]).toArray();
    }
}
