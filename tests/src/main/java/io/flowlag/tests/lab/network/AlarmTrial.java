package io.flowlag.tests.lab.network;

import io.flowlag.network.window.ChangeDetector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * Alarms of {@link ChangeDetector} on the means of windows of quiet queues, drawn in blocks: false ones, and how late those of a
 * rise are. Means are in deviations of their segment, about its median.
 */
final class AlarmTrial {
    private static final long WINDOW_NS = 60_000_000_000L;
    private static final int DAY = 1440;
    private static final int SERIES_DAYS = 30;
    private static final int BLOCK = 5;
    private static final int LEAST_WINDOWS = 2 * BLOCK;
    private static final double MEDIAN_DISTANCE = 1.4826;
    private static final double MEAN_NS = 1e6;
    private static final double DEVIATION_NS = 1e4;
    private static final int MOST_WINDOWS = 100;

    /** By segment. */
    private final List<double[]> series = new ArrayList<>();

    /** Of the windows of one run without slow hops. */
    AlarmTrial(final List<HopWindow> quiet) {
        final Map<List<Integer>, List<Double>> bySegment = new HashMap<>();
        for (final HopWindow window : quiet) {
            for (int i = 0; i < window.segments.size(); i++) {
                bySegment.computeIfAbsent(List.of(window.segments.get(i).senderClock(), window.segments.get(i).receiverClock()),
                    (ends) -> new ArrayList<>()).add(window.excessNs[i]);
            }
        }
        bySegment.values().stream().filter((means) -> means.size() >= LEAST_WINDOWS).forEach((means) -> {
            final double[] values = means.stream().mapToDouble((each) -> each).toArray();
            final double median = median(values);
            final double deviation = MEDIAN_DISTANCE * median(Arrays.stream(values).map((each) ->
                Math.abs(each - median)).toArray());
            series.add(Arrays.stream(values).map((each) -> (each - median) / deviation).toArray());
        });
    }

    private static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    /** Draws the means of windows. */
    private final class Draw {
        private final Random random;
        private double[] from;
        private int next;
        private int left;

        private Draw(final long seed) {
            random = new Random(seed);
        }

        private double meanNs(final double rise) {
            if (left-- == 0) {
                from = series.get(random.nextInt(series.size()));
                next = random.nextInt(from.length - BLOCK + 1);
                left = BLOCK - 1;
            }
            return MEAN_NS + DEVIATION_NS * (from[next++] + rise);
        }
    }

    /** {@return false alarms in so many windows, rounded up to whole series of thirty days} */
    int falseAlarms(final int windows) {
        int alarms = 0;
        for (int done = 0; done < windows; done += SERIES_DAYS * DAY) {
            final ChangeDetector detector = new ChangeDetector(WINDOW_NS);
            final Draw draw = new Draw(done);
            for (int i = 0; i < SERIES_DAYS * DAY; i++) {
                alarms += detector.onWindow(i * WINDOW_NS, draw.meanNs(0), 0) ? 1 : 0;
            }
        }
        return alarms;
    }

    /** {@return windows until a rise by so many deviations raises an alarm, eight days after the begin of a series; ascending} */
    int[] delays(final double rise, final int rounds) {
        final int[] delays = new int[rounds];
        for (int round = 0; round < rounds; round++) {
            final ChangeDetector detector = new ChangeDetector(WINDOW_NS);
            final Draw draw = new Draw(round);
            final int before = 8 * DAY;
            for (int i = 0; i < before; i++) {
                detector.onWindow(i * WINDOW_NS, draw.meanNs(0), 0);
            }
            do {
                delays[round]++;
            } while (!detector.onWindow((before + delays[round]) * WINDOW_NS, draw.meanNs(rise), 0) &&
                delays[round] < MOST_WINDOWS);
        }
        Arrays.sort(delays);
        return delays;
    }

    /** {@return the deviations that a share of the means is below} */
    double quantile(final double share) {
        final double[] all = series.stream().flatMapToDouble(Arrays::stream).sorted().toArray();
        return all[(int)(share * all.length)];
    }
}
