package io.flowlag.exporter.delay.interval.records;

import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * What the points of a segment keep of a measurement interval, and for how long. The configuration or the exchange has checked
 * the ranges. Immutable.
 *
 * @param joint      how references and sketches are solved together; null if they are not.
 * @param reconcile  how the points reconcile their packets; null if they do not.
 * @param isSelected whether all packets that the sender point sees are of the segment. If not, flows that only it sees are not
 *                   lost.
 * @param isLive     whether packets come as they happen, and may be dropped before they come.
 */
public record IntervalSettings(
    Cells cells, Times times, Room room, Sums sums, JointSettings joint, ReconcileSettings reconcile, boolean isSelected,
    boolean isLive) {
    /** Most intervals that may be open at once. */
    static final int MAX_OPEN_INTERVALS = 7;

    private static final int WITNESS_ROOM_DIVISOR = 4;
    private static final int LEAST_WITNESS_ROOM = 64;
    /** Clocks that are apart by 5 ms, and room for jitter and drift. */
    private static final long MOST_GUARD_NS = 8_000_000L;
    private static final int LEAST_GUARDS = 4;
    private static final int[] AGGREGATOR_BANKS = {0, 4, 7, 10};

    /**
     * Checks that the intervals that wait for answers fit.
     *
     * @throws IllegalArgumentException if they do not.
     */
    public IntervalSettings {
        final long open = 1 - Math.floorDiv(-heldOpenNs(times, joint, reconcile), times.intervalNs);
        if (open > MAX_OPEN_INTERVALS) {
            throw new IllegalArgumentException("answerDeadlineNs=" + times.answerDeadlineNs + " keeps " + open +
                " intervals open: at most " + MAX_OPEN_INTERVALS + " may be");
        }
    }

    /**
     * Shape of the sketches.
     *
     * @param geometry        of the sketch of all flows, family LDS.
     * @param aggregatorCells of each bank of a class's aggregator, even.
     * @param classCount      traffic classes, at least 1.
     * @param seed            that both points share.
     * @param alpha           how much fuller than the emptiest a cell may be and still count.
     */
    public record Cells(SketchGeometry geometry, int aggregatorCells, int classCount, long seed, double alpha) {
        /** {@return the shape of the aggregator of one class; its four banks take a half-power share of the packets each} */
        public SketchGeometry aggregator() {
            return aggregator(aggregatorCells);
        }

        /** The shape of an aggregator. */
        public static SketchGeometry aggregator(final int cells) {
            return SketchGeometry.lda(cells, AGGREGATOR_BANKS);
        }
    }

    /**
     * Lengths and deadlines, ns.
     *
     * @param maximumDelayNs   W: how long a packet may be under way; at most T.
     * @param guardNs          G: how far clocks may be apart, less than T; 0 for one clock.
     * @param answerDeadlineNs how much longer than W after the end of an interval the sender's answer is waited for; 0 where both
     *                         points are in one process.
     * @param idleTimeoutNs    silence after which a flow has ended. A packet that was lost less long before a flow's first one is
     *                         of that flow.
     */
    public record Times(long intervalNs, long maximumDelayNs, long guardNs, long answerDeadlineNs, long idleTimeoutNs) {
        /**
         * How long before an interval's end the sender begins to remember digests: a packet that arrives G before the end may
         * have been sent W earlier. Returns at most T, ns.
         */
        public long tailNs() {
            return Math.min(intervalNs, maximumDelayNs + guardNs);
        }
    }

    /**
     * How much fits.
     *
     * @param inFlightPackets under way at an interval's end.
     * @param waitingRecords  of ended flows that wait for an answer.
     * @param maxFlows        in the cache at once.
     * @param keptIntervals   of a sender point that are kept when they were shipped, for the receiver to ask about.
     */
    public record Room(int inFlightPackets, int waitingRecords, int maxFlows, int keptIntervals) {
        /** {@return records of flows that live or wait} */
        public int records() {
            return maxFlows + waitingRecords;
        }
    }

    /**
     * Which flows have sums.
     *
     * @param mode           sketches, sums of flows, or both.
     * @param mostFlows      flows of an interval that have sums, if those of every flow are kept.
     * @param witnessPpm     share of small flows that are witnesses, in a million; see {@link SharedSampling}.
     * @param witnessPackets from so many packets on a flow is a witness in proportion to them; the sender point decides.
     */
    public record Sums(IntervalMode mode, int mostFlows, int witnessPpm, int witnessPackets) {
        /** {@return whether there are sketches} */
        public boolean isSketched() {
            return mode != IntervalMode.FLOWS;
        }

        /** {@return whether the sums of all flows are kept} */
        public boolean isOfAll() {
            return mode != IntervalMode.CELLS;
        }

        /** {@return whether the sums of witness flows are kept beside sketches} */
        public boolean hasWitnesses() {
            return isSketched() && witnessPpm > 0;
        }

        /**
         * How many flows that could be witnesses have room: their share of all flows, and a quarter more.
         *
         * @param maxFlows in the cache at once.
         */
        public int witnessFlows(final int maxFlows) {
            final int flows = witnessFlows(maxFlows, witnessPpm);
            return isOfAll() ? Math.min(mostFlows, flows) : flows;
        }

        /**
         * How many flows that could be witnesses have room, as {@link #witnessFlows(int)}.
         *
         * @param maxFlows   in the cache at once.
         * @param witnessPpm share of small flows that are witnesses.
         */
        public static int witnessFlows(final int maxFlows, final int witnessPpm) {
            final long shares = (long)maxFlows * new SharedSampling(0, 0, witnessPpm).keptPpm() / SharedSampling.PPM;
            return (int)(shares + shares / WITNESS_ROOM_DIVISOR + LEAST_WITNESS_ROOM);
        }
    }

    /**
     * How far the clocks of two points may be apart.
     *
     * @param intervalNs T, ns.
     * @return G, ns.
     */
    public static long clockGuardNs(final long intervalNs) {
        return Math.min(MOST_GUARD_NS, intervalNs / LEAST_GUARDS);
    }

    /** {@return how much longer than W after an interval estimates of its packets are waited for, ns} */
    public long estimateWaitNs() {
        return estimateWaitNs(times, joint, reconcile);
    }

    private static long estimateWaitNs(final Times times, final JointSettings joint, final ReconcileSettings reconcile) {
        return joint == null ? 0 : Math.max(0, Math.min(joint.waitNs(),
            (MAX_OPEN_INTERVALS - 1) * times.intervalNs - times.maximumDelayNs - reconcileWaitNs(reconcile)));
    }

    private static long reconcileWaitNs(final ReconcileSettings reconcile) {
        return reconcile == null ? 0 : reconcile.waitNs();
    }

    private static long heldOpenNs(final Times times, final JointSettings joint, final ReconcileSettings reconcile) {
        return times.maximumDelayNs + Math.max(times.answerDeadlineNs, estimateWaitNs(times, joint, reconcile)) +
            reconcileWaitNs(reconcile);
    }

    /** {@return how many intervals are open at the receiver point at most} */
    public int openIntervals() {
        return (int)(1 - Math.floorDiv(-heldOpenNs(times, joint, reconcile), times.intervalNs));
    }

    /** {@return whether bounds are checked by the sums of all flows} */
    public boolean isChecked() {
        return joint != null && joint.isChecked();
    }
}
