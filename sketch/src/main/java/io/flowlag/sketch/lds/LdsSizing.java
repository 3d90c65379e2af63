package io.flowlag.sketch.lds;

import io.flowlag.sketch.image.SketchGeometry;

/**
 * Sizes an LDS (LDS paper, section 3; banks: sections 4.2 and 5.2). A flow is accurate enough if other flows' packets in one of
 * its cells are few against its own; sizing makes this as probable as the target requires. Rows, k and rates follow the paper.
 * Columns exceed the paper's approximation, which omits small flows. Immutable, any thread.
 *
 * <p>Without loss k is 1 and all rows work together. With loss k is 5 as in the paper, and each row is a bank with its own
 * sampling rate. Each bank is long enough to serve alone, since loss may leave a flow no other.
 */
public final class LdsSizing {
    /** Fewest columns that {@code flowlag} accepts; fewer would save nothing. */
    private static final int LEAST_COLUMNS = 16;
    private static final int MOST_COLUMNS = 4 << 20;
    private static final int VLDA_LENGTH_WITH_LOSS = 5;
    private static final double LARGEST_RATE_STEP = 5;

    private final Load load;
    private final Target target;
    private final int rowsTogether;
    private final CollidingPackets colliding;
    private final SketchGeometry geometry;

    /**
     * The load that a sketch is sized for.
     *
     * @param flows    n, live in an interval.
     * @param packets  of all flows in an interval.
     * @param lossRate share of packets that the path loses, at most, 0 to below 1.
     */
    public record Load(long flows, long packets, double lossRate, ParetoFit flowSizes) {
        /**
         * Checks the load.
         *
         * @param flows    at least 1.
         * @param packets  at least as many.
         * @param lossRate 0 to below 1.
         */
        public Load {
            require(flows >= 1, "flows=" + flows + " is less than 1");
            require(packets >= flows, "packets=" + packets + " is less than flows=" + flows);
            require(lossRate >= 0 && lossRate < 1, "lossRate=" + lossRate + " is not within 0 and 1");
        }

        /** The most packets that one flow is expected to have: the size that one flow of all exceeds. */
        double largestFlowPackets() {
            return Math.min(packets, flowSizes.scale() * Math.pow(flows, 1 / flowSizes.shape()));
        }
    }

    /**
     * The accuracy target of a sketch.
     *
     * @param relativeError of other flows' packets in a flow's cell against the flow's own: the share by which they can pull
     *                      its mean.
     * @param confidence    1 - ε, the share of flows that must reach it.
     * @param flowPackets   packets of the smallest flow that must reach it.
     */
    public record Target(double relativeError, double confidence, long flowPackets) {
        /**
         * Checks the target.
         *
         * @param relativeError between 0 and 1.
         * @param confidence    above 1 - 1/e, below 1: section 3.1 holds there.
         * @param flowPackets   so many that at least one other packet is tolerable.
         */
        public Target {
            require(relativeError > 0 && relativeError < 1, "relativeError=" + relativeError + " is not between 0 and 1");
            require(
                confidence > 1 - 1 / Math.E && confidence < 1,
                "confidence=" + confidence + " is not between 1 - 1/e and 1");
            require(
                relativeError * flowPackets >= 1,
                "relativeError=" + relativeError + " of flowPackets=" + flowPackets + " is less than a packet");
        }

        /** x, the packets of other flows that are tolerable. */
        double tolerablePackets() {
            return relativeError * flowPackets;
        }

        /** ε. */
        double failures() {
            return 1 - confidence;
        }
    }

    /** Sizes a sketch for a target. */
    public LdsSizing(final Load load, final Target target) {
        this.load = load;
        this.target = target;
        final double worstLosses = load.lossRate() * load.largestFlowPackets();
        final int vldaLength = worstLosses > 0 ? VLDA_LENGTH_WITH_LOSS : 1;
        final double leastRate = leastRate(vldaLength, worstLosses);
        final int banks = banks(leastRate);
        final int rows = Math.max(rows(target.failures(), vldaLength), banks);
        rowsTogether = banks > 1 ? 1 : rows;
        colliding = new CollidingPackets(load.flowSizes(), target.tolerablePackets());
        final long columns = columns(vldaLength);
        require(rows <= SketchGeometry.MAX_ROWS, "target asks for rows=" + rows);
        require(columns <= MOST_COLUMNS,
            "target asks for columns=" + columns + ", more than the " + MOST_COLUMNS + " that a row may have");
        geometry = SketchGeometry.lds(
            rows, (int)columns, vldaLength, rates(rows, vldaLength, worstLosses));
    }

    /** The fewest columns that reach the target. */
    private long columns(final int vldaLength) {
        long most = LEAST_COLUMNS;
        while (survivalWith(load.flows(), vldaLength, most) < target.confidence()) {
            most *= 2;
        }
        long least = Math.max(LEAST_COLUMNS, most / 2);
        while (least < most) {
            final long middle = (least + most) >>> 1;
            if (survivalWith(load.flows(), vldaLength, middle) < target.confidence()) {
                least = middle + 1;
            } else {
                most = middle;
            }
        }
        return most;
    }

    /** The rows of section 3.2, max(1, -ln ε / k), rounded, where a share ε of flows may have large collisions. */
    public static int rows(final double failures, final int vldaLength) {
        return (int)Math.max(1, Math.round(-Math.log(failures) / vldaLength));
    }

    /**
     * The sampling rates of rows, from all packets down to a share of which a flow loses k (sections 4.2 and 5.2).
     *
     * @param rows        at least 2 if packets are lost.
     * @param worstLosses packets of an interval that the largest flow loses.
     * @return packets in a million for each row.
     */
    public static int[] rates(final int rows, final int vldaLength, final double worstLosses) {
        final double leastRate = leastRate(vldaLength, worstLosses);
        final boolean isBanked = banks(leastRate) > 1;
        final int[] ratesPpm = new int[rows];
        for (int row = 0; row < rows; row++) {
            final double rate = isBanked ? Math.pow(leastRate, row / (rows - 1.0)) : 1;
            ratesPpm[row] = Math.max(1, (int)Math.round(SketchGeometry.FULL_RATE_PPM * rate));
        }
        return ratesPpm;
    }

    private static double leastRate(final int vldaLength, final double worstLosses) {
        return Math.min(1, vldaLength / Math.max(worstLosses, 1));
    }

    /** The result: rows, columns, k, rates. */
    public SketchGeometry geometry() {
        return geometry;
    }

    /** P: share of flows with more packets than are tolerable in a collision. */
    public double largeFlowShare() {
        return load.flowSizes().tail(target.tolerablePackets());
    }

    /** Q at the load, all collisions included: the share of flows that reach the target. Returns at least the confidence. */
    public double survival() {
        return survivalWith(load.flows(), geometry.vldaLength(), geometry.columns());
    }

    /** Off-heap memory of one sketch. Returns octets. */
    public long memoryBytes() {
        return SketchGeometry.memoryBytes(geometry);
    }

    /**
     * The survival with k: a cell holds 1/k of the flow's packets and tolerates 1/k of the collisions, but k times as many other
     * flows.
     */
    private double survivalWith(final double flows, final int vldaLength, final double columns) {
        return 1 - Math.pow(colliding.tail(flows * vldaLength / columns), (double)rowsTogether * vldaLength);
    }

    /** Number of banks from the full rate down to the least rate in moderate steps. */
    private static int banks(final double leastRate) {
        return 1 + (int)Math.ceil(-Math.log(leastRate) / Math.log(LARGEST_RATE_STEP));
    }

    private static void require(final boolean holds, final String message) {
        if (!holds) {
            throw new IllegalArgumentException(message);
        }
    }
}
