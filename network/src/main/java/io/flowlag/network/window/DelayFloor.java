package io.flowlag.network.window;

import java.util.Arrays;

/**
 * The smallest delay of a segment in the last 24 hours, from the smallest of each hour. If the minimums of the last
 * {@value #WINDOWS_TO_MOVE} windows are all above those of the {@value #WINDOWS_BEFORE} windows before them, and above the floor
 * by more than the window's bound, route or clock have changed: the floor begins anew with these windows. Where nothing changes,
 * whatever the distribution, that is so once in 8·10⁸ windows: in one of the C(40, 10) orders of windows. One thread; allocates
 * at construction.
 */
public final class DelayFloor {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final int HOURS = 24;
    private static final int WINDOWS_TO_MOVE = 10;
    private static final int WINDOWS_BEFORE = 30;
    private static final int RECENT = WINDOWS_TO_MOVE + WINDOWS_BEFORE;
    private static final long NO_HOUR = Long.MIN_VALUE;

    private final long[] hours = new long[HOURS];
    private final double[] minimums = new double[HOURS];
    /** Minimums of the last windows: that of the n-th is at n modulo {@link #RECENT}. */
    private final double[] recent = new double[RECENT];
    private long windows;

    /** Nothing is known. */
    public DelayFloor() {
        Arrays.fill(hours, NO_HOUR);
    }

    /** What is known, to be kept elsewhere. Immutable: the arrays are not to be changed. */
    public record State(long[] hours, double[] minimums, double[] recent, long windows) {
    }

    /** What was known. */
    public DelayFloor(final State state) {
        System.arraycopy(state.hours, 0, hours, 0, HOURS);
        System.arraycopy(state.minimums, 0, minimums, 0, HOURS);
        System.arraycopy(state.recent, 0, recent, 0, RECENT);
        windows = state.windows;
    }

    /** {@return a copy of what is known} */
    public State state() {
        return new State(hours.clone(), minimums.clone(), recent.clone(), windows);
    }

    /**
     * Takes a window.
     *
     * @param startNs   of the window.
     * @param minimumNs its smallest delay.
     * @param boundNs   of the window; the minimum is above the floor if it is so by more than this.
     * @return whether the floor moved up with this window.
     */
    public boolean onWindow(final long startNs, final double minimumNs, final double boundNs) {
        recent[(int)(windows++ % RECENT)] = minimumNs;
        final double lowest = lowest();
        final boolean isMoved = windows >= RECENT && lowest > floorNs(startNs) + boundNs && lowest > highestBefore();
        if (isMoved) {
            Arrays.fill(hours, NO_HOUR);
            windows = 0;
            put(startNs, lowest);
        } else {
            put(startNs, minimumNs);
        }
        return isMoved;
    }

    private double lowest() {
        double lowest = Double.POSITIVE_INFINITY;
        for (int back = 0; back < Math.min(WINDOWS_TO_MOVE, windows); back++) {
            lowest = Math.min(lowest, minimum(back));
        }
        return lowest;
    }

    private double highestBefore() {
        double highest = Double.NEGATIVE_INFINITY;
        for (int back = WINDOWS_TO_MOVE; back < RECENT; back++) {
            highest = Math.max(highest, minimum(back));
        }
        return highest;
    }

    private double minimum(final int back) {
        return recent[(int)((windows - 1 - back) % RECENT)];
    }

    private void put(final long timeNs, final double minimumNs) {
        final long hour = Math.floorDiv(timeNs, HOUR_NS);
        final int slot = Math.floorMod(hour, HOURS);
        if (hour > hours[slot]) {
            hours[slot] = hour;
            minimums[slot] = minimumNs;
        } else if (hour == hours[slot]) {
            minimums[slot] = Math.min(minimums[slot], minimumNs);
        }
    }

    /** {@return the smallest delay of the hour of a time and the 23 before, or NaN if there is none} */
    public double floorNs(final long timeNs) {
        final long hour = Math.floorDiv(timeNs, HOUR_NS);
        double floor = Double.NaN;
        for (int slot = 0; slot < HOURS; slot++) {
            if (hours[slot] != NO_HOUR && hours[slot] <= hour && hours[slot] > hour - HOURS) {
                floor = Double.isNaN(floor) ? minimums[slot] : Math.min(floor, minimums[slot]);
            }
        }
        return floor;
    }
}
