package io.flowlag.exporter.lab;

/**
 * What goes wrong on a simulated way, behind the queue: to see that nothing wrong comes of it.
 *
 * @param lossShare            of regular packets that are lost, 0 to 1.
 * @param referenceLossShare   of references that are lost, 0 to 1.
 * @param duplicatedShare      of packets and references that come twice, 0 to 1.
 * @param reorderedShare       of packets and references that are overtaken by the next, 0 to 1.
 * @param clockStepAtNs        when the receiver's clock is set, ns since the start; 0 for never.
 * @param clockStepNs          by how much, signed.
 * @param burstLossShare       of packets and references that are lost in episodes, 0 to 1, besides the other losses.
 * @param burstPackets         mean length of an episode, 1 or more; lengths are exponential.
 * @param clockOffsetNs        receiver's clock less the sender's at the start, signed.
 * @param clockDriftPpm        how much faster the receiver's clock is, parts per million, signed.
 */
public record PathFaults(
    double lossShare, double referenceLossShare, double duplicatedShare, double reorderedShare, long clockStepAtNs,
    long clockStepNs, double burstLossShare, double burstPackets, long clockOffsetNs, double clockDriftPpm) {
    private static final double PARTS_PER_MILLION = 1e6;
    private static final double MAXIMUM_DRIFT_PPM = 1000;

    /** A way without faults. */
    public static final PathFaults NONE = new PathFaults(0, 0, 0, 0, 0, 0);

    /** Checks the ranges. */
    public PathFaults {
        checkShare("lossShare", lossShare);
        checkShare("referenceLossShare", referenceLossShare);
        checkShare("duplicatedShare", duplicatedShare);
        checkShare("reorderedShare", reorderedShare);
        if (clockStepAtNs < 0) {
            throw new IllegalArgumentException("clockStepAtNs=" + clockStepAtNs + ": must be 0 or more");
        }
        checkShare("burstLossShare", burstLossShare);
        if (!(burstPackets >= 1)) {
            throw new IllegalArgumentException("burstPackets=" + burstPackets + ": must be 1 or more");
        }
        if (!(Math.abs(clockDriftPpm) <= MAXIMUM_DRIFT_PPM)) {
            throw new IllegalArgumentException("clockDriftPpm=" + clockDriftPpm + ": must be -1000 to 1000");
        }
    }

    /**
     * Faults without episodes of loss, and a clock that neither is off nor drifts.
     *
     * @param clockStepAtNs when the receiver's clock is set; 0 for never.
     */
    public PathFaults(
        final double lossShare, final double referenceLossShare, final double duplicatedShare, final double reorderedShare,
        final long clockStepAtNs, final long clockStepNs) {
        this(lossShare, referenceLossShare, duplicatedShare, reorderedShare, clockStepAtNs, clockStepNs, 0, 1, 0, 0);
    }

    /** The same with episodes of loss: a share of packets and references, 0 to 1, and the mean length of an episode. */
    public PathFaults withBursts(final double share, final double packets) {
        return new PathFaults(lossShare, referenceLossShare, duplicatedShare, reorderedShare, clockStepAtNs, clockStepNs,
            share, packets, clockOffsetNs, clockDriftPpm);
    }

    /** The same with a receiver's clock that is off at the start, and drifts from then on; both signed. */
    public PathFaults withClock(final long offsetNs, final double driftPpm) {
        return new PathFaults(lossShare, referenceLossShare, duplicatedShare, reorderedShare, clockStepAtNs, clockStepNs,
            burstLossShare, burstPackets, offsetNs, driftPpm);
    }

    /** How far the receiver's clock is ahead at a time since the start, without its step; signed. */
    public long clockErrorNs(final long elapsedNs) {
        return clockOffsetNs + Math.round(elapsedNs * clockDriftPpm / PARTS_PER_MILLION);
    }

    private static void checkShare(final String name, final double share) {
        if (!(share >= 0 && share <= 1)) {
            throw new IllegalArgumentException(name + "=" + share + ": must be 0 to 1");
        }
    }
}
