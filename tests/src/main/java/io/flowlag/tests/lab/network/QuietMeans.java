package io.flowlag.tests.lab.network;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The means of windows of quiet queues, to be drawn in blocks. Windows that are as long as those of the queues take each block
 * from another segment, in its deviations: there are more large means among them than in one segment. Longer windows are the
 * means of windows in blocks from the same segment.
 */
final class QuietMeans implements AlarmTrial.Source {
    private static final int BLOCK = 5;
    private static final int LEAST_WINDOWS = 2 * BLOCK;
    private static final double MEDIAN_DISTANCE = 1.4826;
    private static final double MOST = 3;
    private static final int WINDOWS_OF_UNIT = 1001;

    private final List<Series> all;
    /** Windows of the queues in one. */
    private final int length;

    /** Of a segment, in deviations of its means about their median, or for longer windows about their mean. */
    private record Series(double[] means, double[] sigmas, double centre, double deviationNs) {
        private static Series of(final List<double[]> windows) {
            final double[] meansNs = windows.stream().mapToDouble((each) -> each[0]).toArray();
            final double median = median(meansNs);
            final double deviation = MEDIAN_DISTANCE *
                median(Arrays.stream(meansNs).map((each) -> Math.abs(each - median)).toArray());
            final double[] means = Arrays.stream(meansNs).map((each) -> (each - median) / deviation).toArray();
            return new Series(means, windows.stream().mapToDouble((each) -> each[1] / deviation).toArray(),
                Arrays.stream(means).average().orElseThrow(), deviation);
        }
    }

    private QuietMeans(final List<Series> all, final int length) {
        this.all = all;
        this.length = length;
    }

    /** Of runs without slow hops. */
    QuietMeans(final List<List<HopWindow>> runs) {
        this(new ArrayList<>(), 1);
        for (final List<HopWindow> run : runs) {
            final Map<List<Integer>, List<double[]>> bySegment = new HashMap<>();
            for (final HopWindow window : run) {
                for (int i = 0; i < window.segments.size(); i++) {
                    bySegment.computeIfAbsent(
                        List.of(window.segments.get(i).senderClock(), window.segments.get(i).receiverClock()),
                        (ends) -> new ArrayList<>()).add(new double[] {window.excessNs[i], window.sigmaNs[i]});
                }
            }
            bySegment.values().stream().filter((each) -> each.size() >= LEAST_WINDOWS).map(Series::of).forEach(all::add);
        }
    }

    /** {@return the same in longer windows} */
    QuietMeans inWindowsOf(final int windows) {
        return new QuietMeans(all, windows);
    }

    private static double median(final double[] values) {
        final double[] sorted = values.clone();
        Arrays.sort(sorted);
        return (sorted[(sorted.length - 1) / 2] + sorted[sorted.length / 2]) / 2;
    }

    @Override
    public AlarmTrial.Means of(final Random random) {
        return new Draw(random);
    }

    /** The means of a segment's windows. */
    private final class Draw implements AlarmTrial.Means {
        private final Random random;
        private Series from;
        private int next;
        private int left;
        private double sigma;
        /** What deviates by one. */
        private double unit = 1;

        private Draw(final Random random) {
            this.random = random;
            from = all.get(random.nextInt(all.size()));
            if (length > 1) {
                final double[] sizes = new double[WINDOWS_OF_UNIT];
                Arrays.setAll(sizes, (i) -> Math.abs(next()));
                unit = MEDIAN_DISTANCE * median(sizes);
            }
        }

        @Override
        public double next() {
            double sum = 0;
            double squares = 0;
            for (int i = 0; i < length; i++) {
                if (left-- == 0) {
                    from = length == 1 ? all.get(random.nextInt(all.size())) : from;
                    next = random.nextInt(from.means.length - BLOCK + 1);
                    left = BLOCK - 1;
                }
                sum += from.means[next];
                squares += from.sigmas[next] * from.sigmas[next];
                next++;
            }
            sigma = Math.sqrt(squares) / length / unit;
            return (sum / length - (length == 1 ? 0 : from.centre)) / unit;
        }

        @Override
        public double sigma() {
            return sigma;
        }
    }

    /** {@return how many different means there are} */
    int count() {
        return all.stream().mapToInt((each) -> each.means.length).sum();
    }

    /** {@return the median of a deviation of segments} */
    double deviationNs() {
        final Random random = new Random(1);
        return median(all.stream().mapToDouble((each) -> each.deviationNs).toArray()) *
            median(random.longs(all.size()).mapToDouble((seed) -> new Draw(new Random(seed)).unit).toArray());
    }

    /** {@return the correlation of neighbours, of means that are cut at three deviations} */
    double correlation() {
        double squares = 0;
        double products = 0;
        for (final Series each : all) {
            final double[] cut = Arrays.stream(each.means).map((mean) -> Math.min(MOST, mean)).toArray();
            final double centre = Arrays.stream(cut).average().orElseThrow();
            for (int i = 1; i < cut.length; i++) {
                squares += (cut[i] - centre) * (cut[i] - centre);
                products += (cut[i] - centre) * (cut[i - 1] - centre);
            }
        }
        return products / squares;
    }
}
