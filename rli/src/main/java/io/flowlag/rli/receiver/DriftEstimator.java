package io.flowlag.rli.receiver;

/**
 * Drift between the sender's and the receiver's clocks, from the lower envelope of the reference delays. Queues only add delay,
 * so each window's smallest delay lies near the path's fixed delay plus the clocks' offset; a slope of these minima is the drift.
 * The line lies below all minima with the smallest summed distance: the edge of their lower convex hull over their mean time
 * (after Moon, Skelly and Towsley, INFOCOM 1999).
 *
 * <p>A changing path, or a queue that never empties, looks like drift. The estimate is therefore reported, and applied only if
 * configured. One thread. Allocates at construction.
 */
public final class DriftEstimator {
    /** Windows before there is an estimate. */
    public static final int LEAST_WINDOWS = 8;

    private static final int WINDOWS = 64;

    private final long windowNs;
    private final long[] timesNs = new long[WINDOWS];
    private final long[] minimaNs = new long[WINDOWS];
    private final int[] hull = new int[WINDOWS];
    private int count;
    private long windowEndNs;
    private long openTimeNs;
    private long openMinimumNs;
    private boolean isOpen;
    private double slope;

    DriftEstimator(final long windowNs) {
        this.windowNs = windowNs;
    }

    void record(final long arrivalNs, final long delayNs) {
        if (isOpen && arrivalNs >= windowEndNs) {
            close();
        }
        if (!isOpen) {
            isOpen = true;
            windowEndNs = arrivalNs + windowNs;
            openTimeNs = arrivalNs;
            openMinimumNs = delayNs;
        } else if (delayNs < openMinimumNs) {
            openTimeNs = arrivalNs;
            openMinimumNs = delayNs;
        }
    }

    void reset() {
        count = 0;
        isOpen = false;
        slope = 0;
    }

    private void close() {
        isOpen = false;
        if (count == WINDOWS) {
            System.arraycopy(timesNs, 1, timesNs, 0, WINDOWS - 1);
            System.arraycopy(minimaNs, 1, minimaNs, 0, WINDOWS - 1);
            count--;
        }
        timesNs[count] = openTimeNs;
        minimaNs[count++] = openMinimumNs;
        if (count >= LEAST_WINDOWS) {
            fit();
        }
    }

    private void fit() {
        int hullCount = 0;
        double meanTimeNs = 0;
        for (int i = 0; i < count; i++) {
            meanTimeNs += (double)(timesNs[i] - timesNs[0]) / count;
            while (hullCount > 1 && isAbove(hull[hullCount - 2], hull[hullCount - 1], i)) {
                hullCount--;
            }
            hull[hullCount++] = i;
        }
        int edge = 1;
        while (edge < hullCount - 1 && timesNs[hull[edge]] - timesNs[0] < meanTimeNs) {
            edge++;
        }
        slope = slope(hull[edge - 1], hull[edge]);
    }

    private boolean isAbove(final int left, final int middle, final int right) {
        return slope(left, middle) >= slope(middle, right);
    }

    private double slope(final int left, final int right) {
        return (double)(minimaNs[right] - minimaNs[left]) / (timesNs[right] - timesNs[left]);
    }

    /** {@return true if enough windows have passed} */
    public boolean hasEstimate() {
        return count >= LEAST_WINDOWS;
    }

    /** {@return how fast the receiver's clock gains on the sender's, in parts per billion, that is, ns/s; 0 without estimate} */
    public double driftPpb() {
        return slope * 1e9;
    }

    /** {@return the smallest reference delay of the windows that count, ns; only with an estimate} */
    public long minimumNs() {
        long minimumNs = Long.MAX_VALUE;
        for (int i = 0; i < count; i++) {
            minimumNs = Math.min(minimumNs, minimaNs[i]);
        }
        return minimumNs;
    }

    double slope() {
        return slope;
    }
}
