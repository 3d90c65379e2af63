package io.flowlag.network.window;

import java.util.Arrays;

/**
 * The smallest delay of a segment in the last 24 hours, from the smallest of each hour. If the minimum of so many windows in
 * sequence as {@value #WINDOWS_TO_MOVE} is above it by more than the window's bound, route or clock have changed: the floor
 * begins anew with these windows. One thread; allocates at construction.
 */
public final class DelayFloor {
    private static final long HOUR_NS = 3_600_000_000_000L;
    private static final int HOURS = 24;
    private static final int WINDOWS_TO_MOVE = 10;
    private static final long NO_HOUR = Long.MIN_VALUE;

    private final long[] hours = new long[HOURS];
    private final double[] minimums = new double[HOURS];
    private int windowsAbove;
    /** Of the windows above. */
    private double minimumAbove = Double.POSITIVE_INFINITY;

    /** Nothing is known. */
    public DelayFloor() {
        Arrays.fill(hours, NO_HOUR);
    }

    /** What is known, to be kept elsewhere. Immutable: the arrays are not to be changed. */
    public record State(long[] hours, double[] minimums, int windowsAbove, double minimumAbove) {
    }

    /** What was known. */
    public DelayFloor(final State state) {
        System.arraycopy(state.hours, 0, hours, 0, HOURS);
        System.arraycopy(state.minimums, 0, minimums, 0, HOURS);
        windowsAbove = state.windowsAbove;
        minimumAbove = state.minimumAbove;
    }

    /** {@return a copy of what is known} */
    public State state() {
        return new State(hours.clone(), minimums.clone(), windowsAbove, minimumAbove);
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
        final double floor = floorNs(startNs);
        if (minimumNs > floor + boundNs) {
            windowsAbove++;
            minimumAbove = Math.min(minimumAbove, minimumNs);
        } else {
            windowsAbove = 0;
            minimumAbove = Double.POSITIVE_INFINITY;
        }
        final boolean isMoved = windowsAbove == WINDOWS_TO_MOVE;
        if (isMoved) {
            Arrays.fill(hours, NO_HOUR);
            put(startNs, minimumAbove);
            windowsAbove = 0;
            minimumAbove = Double.POSITIVE_INFINITY;
        } else {
            put(startNs, minimumNs);
        }
        return isMoved;
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
