package io.flowlag.tests.lab.network;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;

/**
 * The errors of segments in windows of queues, with the deviations that were stated, to be drawn in blocks of segments of one
 * window: what a window's errors have in common stays. Segments with a slow hop, whose errors are shares of their excess, draw
 * from such ones. A stated deviation knows nothing of the floor's error, taken for 20 µs.
 */
final class ErrorPool implements DrawnNetwork.Errors {
    private static final int BLOCK = 20;
    private static final double SLOW_NS = 1e6;

    /** By window: of quick segments in ns, and of slow ones in shares of their excess. */
    private final List<Found[][]> windows;
    private final boolean isScaled;

    /** A segment's error and its deviation. */
    private record Found(double error, double sigma) {
        private double deviations() {
            return error / sigma;
        }
    }

    private ErrorPool(final List<Found[][]> windows, final boolean isScaled) {
        this.windows = windows;
        this.isScaled = isScaled;
    }

    /** Of windows, those with a slow segment. */
    ErrorPool(final List<HopWindow> pool) {
        this(pool.stream().map((window) -> new Found[][] {found(window, false), found(window, true)})
            .filter((found) -> found[0].length > 0 && found[1].length > 0).toList(), false);
    }

    /** {@return the same errors in the deviations of the segments that draw them} */
    ErrorPool scaled() {
        return new ErrorPool(windows, true);
    }

    private static Found[] found(final HopWindow window, final boolean isSlow) {
        return IntStream.range(0, window.segments.size()).filter((segment) -> window.truthsNs[segment] > SLOW_NS == isSlow)
            .mapToObj((segment) -> {
                final double unit = isSlow ? window.truthsNs[segment] : 1;
                return new Found((window.excessNs[segment] - window.usual[segment].excessNs() - window.truthsNs[segment]) / unit,
                    Math.hypot(window.sigmaNs[segment], DrawnNetwork.STEADY_NS) / unit);
            }).toArray(Found[]::new);
    }

    @Override
    public double[] draw(final double[] truthNs, final double[] sigmaNs, final Random random) {
        final double[] drawn = new double[truthNs.length];
        Found[][] from = windows.get(0);
        int first = 0;
        for (int i = 0; i < drawn.length; i++) {
            if (i % BLOCK == 0) {
                from = windows.get(random.nextInt(windows.size()));
                first = random.nextInt(from[0].length);
            }
            final boolean isSlow = truthNs[i] > SLOW_NS;
            final Found[] ofKind = from[isSlow ? 1 : 0];
            final Found found = ofKind[(first + i) % ofKind.length];
            if (!isScaled) {
                sigmaNs[i] = found.sigma * (isSlow ? truthNs[i] : 1);
            }
            drawn[i] = found.deviations() * sigmaNs[i];
        }
        return drawn;
    }

    /** {@return the deviations that a share of the errors are within} */
    double quantile(final double share, final boolean isSlow) {
        final double[] sizes = windows.stream().flatMap((window) -> Arrays.stream(window[isSlow ? 1 : 0]))
            .mapToDouble((found) -> Math.abs(found.deviations())).sorted().toArray();
        return sizes[(int)(share * sizes.length)];
    }
}
