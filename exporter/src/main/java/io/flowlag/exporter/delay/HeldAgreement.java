package io.flowlag.exporter.delay;

import io.flowlag.sketch.interval.MeasurementInterval;

/** One agreement of a sender point: the time in which it holds, and the next interval to be closed. One thread. */
final class HeldAgreement {
    /** Longer than packets spend in the rings; shorter intervals are held open for their own length. */
    private static final long GRACE_NS = 1_000_000_000L;

    private final SketchAgreement agreement;
    private final MeasurementInterval interval;
    private final long graceNs;
    private long startNs;
    private long endNs = Long.MAX_VALUE;
    private long nextInterval;
    private long toldLatePackets;
    private long toldUnsketchedPackets;

    /** An agreement that holds as soon as possible: the second interval after all that has come so far is whole. */
    HeldAgreement(final SketchAgreement agreement, final long latestSeenNs) {
        this.agreement = agreement;
        final long lengthNs = agreement.settings().times().intervalNs();
        interval = new MeasurementInterval(lengthNs);
        graceNs = Math.min(GRACE_NS, lengthNs);
        begin(latestSeenNs);
    }

    private void begin(final long latestSeenNs) {
        nextInterval = Math.max(agreement.fromInterval(), interval.number(latestSeenNs) + 2);
        startNs = interval.startNs(nextInterval);
        agreement.point().advance(startNs);
    }

    /** The clock was set back to a time after all that has come so far: holds anew. */
    void restart(final long latestSeenNs) {
        agreement.point().restart();
        begin(latestSeenNs);
    }

    SketchAgreement agreement() {
        return agreement;
    }

    long startNs() {
        return startNs;
    }

    /** Sets the time of the next agreement: intervals that end later will not be shipped. */
    void endsAt(final long timeNs) {
        endNs = timeNs;
    }

    boolean holdsAt(final long timestampNs) {
        return timestampNs >= startNs && timestampNs < endNs;
    }

    /** The interval that is over now and was not closed yet, or {@link Long#MIN_VALUE}; call repeatedly. */
    long takeEnded(final long capturedNs) {
        final long closedNs = capturedNs - graceNs;
        final long intervalEndNs = interval.endNs(nextInterval);
        return intervalEndNs <= closedNs && intervalEndNs <= endNs ? nextInterval++ : Long.MIN_VALUE;
    }

    /** Opens what has begun. */
    void advance(final long capturedNs) {
        final long closedNs = Math.min(capturedNs - graceNs, endNs - 1);
        if (closedNs >= startNs) {
            agreement.point().advance(closedNs);
        }
    }

    /** Whether every interval of it was closed. */
    boolean isOver(final long capturedNs) {
        return capturedNs - graceNs >= endNs;
    }

    /** Packets whose interval was closed, not yet reported to the receiver. */
    long untoldLatePackets() {
        return agreement.point().latePackets() - toldLatePackets;
    }

    /** Packets that found no sketch, not yet reported to the receiver. */
    long untoldUnsketchedPackets() {
        return agreement.point().unsketchedPackets() - toldUnsketchedPackets;
    }

    /** Marks the counts as reported to the receiver. */
    void told() {
        toldLatePackets = agreement.point().latePackets();
        toldUnsketchedPackets = agreement.point().unsketchedPackets();
    }
}
