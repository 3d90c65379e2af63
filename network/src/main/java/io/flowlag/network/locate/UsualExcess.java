package io.flowlag.network.locate;

import java.util.Arrays;

/**
 * What a segment has above its floor while no hop is slow: the usual queueing of its hops, and routes that are longer than the
 * floor's, be they of equal cost or wrong, which no topology tells. Learned as median delay of the last windows in which no
 * verdict was on the segment, with their spread, less the floor of a window: so a floor that falls with the delay hides no fall.
 * Until it is known, a segment of several routes says nothing, and what one segment alone says is as likely the length of its
 * routes as a slow hop: a hop that is slow from the first window on is found if two segments or more of one route each have it,
 * else taken for usual.
 * <p>
 * A flow that takes a shorter route by error has the floor of all segments that it leaves out a hop of, and these agree. At most
 * s²/(s² + e²) of the packets of a window are as quick as the floor if their delay has the mean e above it and the deviation s
 * (Cantelli). Where those are less than a tenth, the floor is not that of a queue which is empty at times but of a route that few
 * take: the segment is taken for one of several routes. One thread.
 */
public final class UsualExcess {
    /** Windows that are remembered, and from which on the excess is known. */
    private static final int MOST = 31;
    private static final int LEAST = 3;
    /** Deviations of a normal variable in a median distance. */
    private static final double MEDIAN_DISTANCE = 1.4826;
    /** Of packets as quick as the floor: fewer take another route. */
    private static final double LEAST_SHARE = 0.1;
    /** Variance of a median of normal variables over that of their mean. */
    private static final double OF_MEDIAN = Math.PI / 2;

    /** Whether a segment's usual excess is known. */
    public enum Knowledge {
        /** Nothing, and it is not learned: it is the usual queueing of a hop, which all segments have, times its hops. */
        COMMON,
        /** It is being learned. */
        NEW,
        /** It is known. */
        KNOWN
    }

    /**
     * What a window is located with.
     *
     * @param knowledge whether it is known.
     * @param excessNs  the usual excess if it is known, else 0.
     */
    public record Value(Knowledge knowledge, double excessNs) {
        /** Not learned. */
        public static final Value COMMON = new Value(Knowledge.COMMON, 0);
    }

    /**
     * What is known, to be kept elsewhere. Immutable: the array is not to be changed.
     *
     * @param last  delays that are remembered, ns.
     * @param count windows taken.
     */
    public record State(double[] last, long count) {
    }

    private final boolean isOfSeveralRoutes;
    private final double[] last = new double[MOST];
    private long count;
    private double medianNs;
    private double spreadNs;

    /** Nothing is known of a segment's. */
    public UsualExcess(final MeasuredSegment segment) {
        isOfSeveralRoutes = segment.isOfSeveralRoutes();
    }

    /** What was known of a segment's. */
    public UsualExcess(final MeasuredSegment segment, final State state) {
        this(segment);
        count = state.count;
        System.arraycopy(state.last, 0, last, 0, remembered());
        if (count > 0) {
            learn();
        }
    }

    /** {@return a copy of what is known} */
    public State state() {
        return new State(Arrays.copyOf(last, remembered()), count);
    }

    private int remembered() {
        return (int)Math.min(count, MOST);
    }

    /**
     * Takes a window.
     *
     * @param delayNs without clocks: floor and {@link Localisation#unexplainedNs}; NaN for a window that does not count.
     */
    public void onWindow(final double delayNs) {
        if (!Double.isNaN(delayNs)) {
            last[(int)(count++ % MOST)] = delayNs;
            learn();
        }
    }

    private void learn() {
        final double[] values = Arrays.copyOf(last, remembered());
        medianNs = median(values);
        final double middle = medianNs;
        spreadNs = MEDIAN_DISTANCE * (1 + 2.0 / values.length) *
            median(Arrays.stream(values).map((value) -> Math.abs(value - middle)).toArray());
    }

    private static double median(final double[] values) {
        Arrays.sort(values);
        return (values[(values.length - 1) / 2] + values[values.length / 2]) / 2;
    }

    /** {@return what is known, with the floor of the window} */
    public Value value(final double floorNs) {
        return count < LEAST ? new Value(Knowledge.NEW, 0) : new Value(Knowledge.KNOWN, medianNs - floorNs);
    }

    /**
     * The deviation of an excess from the usual one.
     *
     * @param excessSigmaNs of the excess's error.
     * @param excessNs      of the window.
     * @param deviationNs   of its packets' delays; NaN if that is not known.
     * @return infinite if the segment says nothing.
     */
    public double sigmaNs(final double excessSigmaNs, final double excessNs, final double deviationNs) {
        if (count < LEAST) {
            final double variance = deviationNs * deviationNs;
            final boolean isFloorOfFew = excessNs > 0 && variance < LEAST_SHARE * (variance + excessNs * excessNs);
            return isOfSeveralRoutes || isFloorOfFew ? Double.POSITIVE_INFINITY : excessSigmaNs;
        }
        return Math.max(excessSigmaNs, spreadNs) * Math.sqrt(1 + OF_MEDIAN / remembered());
    }
}
