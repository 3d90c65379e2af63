package io.flowlag.rli.clock;

/**
 * A change that {@link ClockEstimator} found. Immutable; any thread.
 *
 * @param kind       what changed.
 * @param timeNs     end of the interval in which it was first seen, ns on the estimator's time.
 * @param forwardNs  change of the least delay from sender to receiver, ns; 0 if unknown.
 * @param backwardNs the same from receiver to sender.
 */
public record ClockEvent(Kind kind, long timeNs, long forwardNs, long backwardNs) {
    /** Nothing changed. */
    public static final ClockEvent NONE = new ClockEvent(Kind.NONE, 0, 0, 0);

    /** What the two least delays say. */
    public enum Kind {
        /** Nothing changed. */
        NONE,
        /**
         * A clock was set: one delay rose by as much as the other fell, and the least round trip stayed. Opposite changes of both
         * paths by the same time look alike.
         */
        STEP,
        /** Another path from sender to receiver, or a queue that no longer empties: that delay alone changed. */
        FORWARD_PATH,
        /** The same from receiver to sender. */
        BACKWARD_PATH,
        /** Both paths became longer, or both shorter. */
        BOTH_PATHS,
        /** Delays changed in opposite directions by different times, or one was not measured: perhaps a step with a new path. */
        UNCLEAR,
        /** No offset and drift within the limits agree with the delays. */
        CONTRADICTION
    }

    /**
     * {@return how far a clock was set, ns, receiver's less sender's; 0 for other changes. Wrong by what queues add to the least
     * delay of some intervals, and by the drift times the step}
     */
    public long stepNs() {
        return kind == Kind.STEP ? (forwardNs - backwardNs) / 2 : 0;
    }

    /** {@return whether earlier delays no longer bound the offset} */
    public boolean isRestart() {
        return kind == Kind.STEP || kind == Kind.UNCLEAR || kind == Kind.CONTRADICTION;
    }
}
