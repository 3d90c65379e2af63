package io.flowlag.exporter.delay.interval.records;

import io.flowlag.exporter.delay.interval.repair.ReconcileSettings;
import io.flowlag.sketch.image.SketchGeometry;

/**
 * What the points of a segment keep of a measurement interval, and for how long. The configuration or the exchange has checked
 * the ranges. Immutable.
 *
 * @param joint      settings of joint estimation; null without it.
 * @param reconcile  settings of reconciliation; null without it.
 * @param isSelected whether all packets that the sender point sees belong to the segment. If not, flows that only it sees are not
 *                   lost.
 * @param isLive     whether packets are captured live and may be dropped before they are read.
 */
public record IntervalSettings(
    Cells cells, Times times, Room room, Sums sums, JointSettings joint, ReconcileSettings reconcile, boolean isSelected,
    boolean isLive) {
    /** The least sketch, for parts that are empty because there are no sketches. */
    public static final SketchGeometry NO_CELLS = SketchGeometry.lds(1, 1, 1);
    /** Shared seed of sketches: public, because digests and flow hashes have a secret key. 0 would be that of every interval. */
    public static final long SKETCH_SEED = 1;
    /** Most intervals that may be open at once. */
    static final int MAX_OPEN_INTERVALS = 7;

    private static final int WITNESS_ROOM_DIVISOR = 4;
    private static final int LEAST_WITNESS_ROOM = 64;
    /** Covers clocks that differ by 5 ms, with room for jitter and drift. */
    private static final long MOST_GUARD_NS = 8_000_000L;
    private static final int LEAST_GUARDS = 4;
    private static final int[] AGGREGATOR_BANKS = {0, 4, 7, 10};

    /** Throws IllegalArgumentException if the intervals that await answers do not fit. */
    public IntervalSettings {
        final long open = openIntervals(times, joint, reconcile);
        if (open > MAX_OPEN_INTERVALS) {
            throw new IllegalArgumentException("answerDeadlineNs=" + times.answerDeadlineNs + " keeps " + open +
                " intervals open: at most " + MAX_OPEN_INTERVALS + " may be");
        }
    }

    /**
     * Shape of the sketches.
     *
     * @param geometry   of the sketch of all flows, family LDS.
     * @param aggregator of each class, family LDA.
     * @param classCount traffic classes, at least 1.
     * @param seed       that both points share.
     * @param alpha      how much fuller than the emptiest a cell may be and still count.
     */
    public record Cells(SketchGeometry geometry, SketchGeometry aggregator, int classCount, long seed, double alpha) {
        /** Most leading zeros of {@link #aggregator(int, int)}. */
        public static final int MOST_ZEROS = SketchGeometry.MAX_LEADING_ZEROS - 2;

        /**
         * The shape of an aggregator. One of its four banks takes the packets that the others leave, so that every packet is
         * counted.
         *
         * @param cells of each bank, even.
         * @param zeros leading zeros of the second bank, which the next two follow, for known losses; 0 for banks far apart,
         *              which stand any losses.
         */
        public static SketchGeometry aggregator(final int cells, final int zeros) {
            return zeros == 0 ? SketchGeometry.lda(cells, AGGREGATOR_BANKS) :
                SketchGeometry.lda(cells, 0, zeros, zeros + 1, zeros + 2);
        }
    }

    /**
     * Lengths and deadlines, ns.
     *
     * @param maximumDelayNs   W: longest delay of a packet; at most T.
     * @param guardNs          G: largest clock difference, less than T; 0 for one clock.
     * @param answerDeadlineNs how much longer than W after an interval's end the sender's answer is awaited; 0 where both points
     *                         are in one process.
     * @param idleTimeoutNs    silence after which a flow has ended. A packet lost less than this before a flow's first packet
     *                         belongs to that flow.
     */
    public record Times(long intervalNs, long maximumDelayNs, long guardNs, long answerDeadlineNs, long idleTimeoutNs) {
        /**
         * {@return time before an interval's end from which the sender keeps digests, at most T, ns: a packet that arrives G
         * before the end may have been sent W earlier}
         */
        public long tailNs() {
            return Math.min(intervalNs, maximumDelayNs + guardNs);
        }
    }

    /**
     * Capacities.
     *
     * @param inFlightPackets packets in flight at an interval's end.
     * @param waitingRecords  records of ended flows that wait for an answer.
     * @param maxFlows        flows in the cache at once.
     * @param keptIntervals   shipped intervals that a sender point keeps for requests of the receiver.
     */
    public record Room(int inFlightPackets, int waitingRecords, int maxFlows, int keptIntervals) {
        /** {@return records of flows that live or wait} */
        public int records() {
            return maxFlows + waitingRecords;
        }
    }

    /**
     * Selects the flows that have sums.
     *
     * @param mode           sketches, sums of flows, or both.
     * @param mostFlows      most flows of an interval with sums, if those of every flow are kept.
     * @param witnessPpm     share of small flows that are witnesses, in a million; see {@link SharedSampling}.
     * @param witnessPackets flow size from which on the witness probability grows in proportion; the sender point decides.
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

        /** {@return whether the sums of witness flows are kept in addition to sketches} */
        public boolean hasWitnesses() {
            return isSketched() && witnessPpm > 0;
        }

        /** {@return capacity for flows that could be witnesses: their share of the flows in the cache plus a quarter} */
        public int witnessFlows(final int maxFlows) {
            final int flows = witnessFlows(maxFlows, witnessPpm);
            return isOfAll() ? Math.min(mostFlows, flows) : flows;
        }

        /** {@return as above, for such a share of small flows that are witnesses} */
        public static int witnessFlows(final int maxFlows, final int witnessPpm) {
            final long shares = (long)maxFlows * new SharedSampling(0, 0, witnessPpm).keptPpm() / SharedSampling.PPM;
            return (int)(shares + shares / WITNESS_ROOM_DIVISOR + LEAST_WITNESS_ROOM);
        }
    }

    /** {@return G, the largest difference between the clocks of two points that is covered, for an interval T; both ns} */
    public static long clockGuardNs(final long intervalNs) {
        return Math.min(MOST_GUARD_NS, intervalNs / LEAST_GUARDS);
    }

    /** {@return how much longer than W after an interval its estimates are awaited, ns} */
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

    private static long openIntervals(final Times times, final JointSettings joint, final ReconcileSettings reconcile) {
        final long heldNs = times.maximumDelayNs + Math.max(times.answerDeadlineNs, estimateWaitNs(times, joint, reconcile)) +
            reconcileWaitNs(reconcile);
        return 1 - Math.floorDiv(-heldNs, times.intervalNs);
    }

    /** {@return shape of the sketch of all flows; {@link #NO_CELLS} without sketches} */
    public SketchGeometry geometry() {
        return sums.isSketched() ? cells.geometry() : NO_CELLS;
    }

    /** {@return most intervals that are open at once at the receiver point} */
    public int openIntervals() {
        return (int)openIntervals(times, joint, reconcile);
    }

    /** {@return whether bounds are checked against the sums of all flows} */
    public boolean isChecked() {
        return joint != null && joint.isChecked();
    }
}
