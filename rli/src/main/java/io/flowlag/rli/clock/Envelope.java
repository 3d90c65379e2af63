package io.flowlag.rli.clock;

/**
 * The lower envelope of one direction's delays: the lower convex hull of (t, d + κt²/2), where κ bounds the change of the drift.
 * A delay on or above the hull bounds no line that the hull does not bound, now or later, since ageing adds the same linear
 * function of t to all. If it is full, it forgets the delay nearest to the line between its neighbours.
 *
 * <p>One thread. Allocates at construction.
 */
final class Envelope {
    private final double wanderPerNs;
    private final long ageNs;
    private final int capacity;
    private final long[] timesNs;
    private final double[] delaysNs;
    private int count;
    private double supportAgeNs;

    Envelope(final ClockSettings settings) {
        wanderPerNs = settings.wanderPpbPerS() * 1e-18;
        ageNs = settings.ageNs();
        capacity = settings.points();
        timesNs = new long[capacity + 1];
        delaysNs = new double[capacity + 1];
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    /** {@return the latest time, ns; only if there is one} */
    long newestNs() {
        return timesNs[count - 1];
    }

    /** Takes a delay. One that is earlier than another is ignored: constraints may be left out. */
    void add(final long timeNs, final double delayNs) {
        if (count > 0 && timeNs <= newestNs()) {
            if (timeNs < newestNs() || delayNs >= delaysNs[count - 1]) {
                return;
            }
            count--;
        }
        timesNs[count] = timeNs;
        delaysNs[count] = delayNs;
        while (count > 1 && depth(count - 2, count - 1, count) <= 0) {
            remove(count - 1);
        }
        count++;
        if (count > capacity) {
            remove(flattest());
        }
    }

    /** Forgets what is older than the age. */
    void expire(final long nowNs) {
        while (count > 0 && nowNs - timesNs[0] > ageNs) {
            remove(0);
        }
    }

    /** Adds the same to all delays. */
    void raise(final double byNs) {
        for (int i = 0; i < count; i++) {
            delaysNs[i] += byNs;
        }
    }

    /**
     * The highest line of a slope, against an axis that points to the past, below all delays that are each raised by κ times half
     * their age squared.
     *
     * @param slope of the delays over time.
     * @return its height at this time, ns.
     */
    double height(final long nowNs, final double slope) {
        double leastNs = Double.POSITIVE_INFINITY;
        for (int i = 0; i < count; i++) {
            final double age = nowNs - timesNs[i];
            final double heightNs = delaysNs[i] + age * (slope + 0.5 * wanderPerNs * age);
            if (heightNs < leastNs) {
                leastNs = heightNs;
                supportAgeNs = age;
            }
        }
        return leastNs;
    }

    /** {@return age of the delay that the last line touches, ns: the derivative of its height by the slope} */
    double supportAgeNs() {
        return supportAgeNs;
    }

    /** How far the middle one lies below the line between the outer ones, ns; 0 or below if it is not on the hull. */
    private double depth(final int left, final int middle, final int right) {
        final double before = timesNs[middle] - timesNs[left];
        final double after = timesNs[right] - timesNs[middle];
        return ((delaysNs[left] - delaysNs[middle]) * after + (delaysNs[right] - delaysNs[middle]) * before) /
            (before + after) + 0.5 * wanderPerNs * before * after;
    }

    private int flattest() {
        int flattest = 1;
        double leastNs = Double.POSITIVE_INFINITY;
        for (int i = 1; i < count - 1; i++) {
            final double depthNs = depth(i - 1, i, i + 1);
            if (depthNs < leastNs) {
                leastNs = depthNs;
                flattest = i;
            }
        }
        return flattest;
    }

    private void remove(final int index) {
        System.arraycopy(timesNs, index + 1, timesNs, index, capacity - index);
        System.arraycopy(delaysNs, index + 1, delaysNs, index, capacity - index);
        count--;
    }
}
