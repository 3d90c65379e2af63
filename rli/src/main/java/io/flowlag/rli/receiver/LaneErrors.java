package io.flowlag.rli.receiver;

import io.flowlag.rli.path.PathFinder;

import java.util.Arrays;

import static io.flowlag.rli.path.PathFinder.LANES;
import static io.flowlag.rli.path.PathFinder.MOST_PATHS;

/**
 * How far the references of each lane are off the line between their neighbours on the same path, on average. Lanes of two paths
 * that count as one have different means: a flow on one of them is off by as much as its references are. With n errors of a
 * lane and the mean square s² of all errors of its path, the lane's mean is known to 1.96 s / √n. Errors fade with 1/4096 each.
 * One thread. Allocates at construction.
 */
final class LaneErrors {
    /** Octets of all fields. */
    static final int MEMORY_BYTES = MOST_PATHS * (4 * Long.BYTES + Integer.BYTES) + LANES * 3 * Double.BYTES;

    private static final double FADE = 1 - 1.0 / 4096;
    private static final double NORMAL_95 = 1.96;
    private static final long NEVER_NS = Long.MIN_VALUE;

    /** By path: the last reference but one, and the last one. */
    private final long[] beforeNs = new long[MOST_PATHS];
    private final double[] beforeDelaysNs = new double[MOST_PATHS];
    private final long[] lastNs = new long[MOST_PATHS];
    private final double[] lastDelaysNs = new double[MOST_PATHS];
    private final int[] lastLanes = new int[MOST_PATHS];
    private final double[] counts = new double[LANES];
    private final double[] sumsNs = new double[LANES];
    private final double[] squaresNs2 = new double[LANES];

    LaneErrors() {
        restart();
    }

    /** Lanes have changed their paths. */
    void forget() {
        Arrays.fill(counts, 0);
        Arrays.fill(sumsNs, 0);
        Arrays.fill(squaresNs2, 0);
        restart();
    }

    /** There is no line between references before and after. */
    void restart() {
        Arrays.fill(beforeNs, NEVER_NS);
        Arrays.fill(lastNs, NEVER_NS);
    }

    /** A reference: the one before it on its path is held out. */
    void onReference(final int path, final int lane, final long arrivalNs, final double delayNs) {
        if (beforeNs[path] != NEVER_NS && arrivalNs > beforeNs[path]) {
            final double weight = (double)(lastNs[path] - beforeNs[path]) / (arrivalNs - beforeNs[path]);
            final double errorNs = lastDelaysNs[path] - beforeDelaysNs[path] - weight * (delayNs - beforeDelaysNs[path]);
            final int held = lastLanes[path];
            counts[held] = counts[held] * FADE + 1;
            sumsNs[held] = sumsNs[held] * FADE + errorNs;
            squaresNs2[held] = squaresNs2[held] * FADE + errorNs * errorNs;
        }
        beforeNs[path] = lastNs[path];
        beforeDelaysNs[path] = lastDelaysNs[path];
        lastNs[path] = arrivalNs;
        lastDelaysNs[path] = delayNs;
        lastLanes[path] = lane;
    }

    /** {@return by how much the mean delay on a lane may be off that of its path, ns; infinite if a lane has no errors} */
    double mostNs(final int path, final PathFinder paths) {
        double count = 0;
        double squareNs2 = 0;
        for (int lane = 0; lane < LANES; lane++) {
            count += paths.path(lane) == path ? counts[lane] : 0;
            squareNs2 += paths.path(lane) == path ? squaresNs2[lane] : 0;
        }
        double mostNs = 0;
        for (int lane = 0; lane < LANES; lane++) {
            if (paths.path(lane) == path) {
                mostNs = counts[lane] == 0 ? Double.POSITIVE_INFINITY : Math.max(
                    mostNs, Math.abs(sumsNs[lane] / counts[lane]) + NORMAL_95 * Math.sqrt(squareNs2 / count / counts[lane]));
            }
        }
        return mostNs;
    }
}
