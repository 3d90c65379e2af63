package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;

/**
 * Tells, of packets that were held around the end of an interval, which were sent in it: those whose digests the sender had in
 * flight at the end. Digests that arrived before are taken out first, so that of two packets with equal digests each is booked in
 * the order of arrival.
 * <p>
 * It also tells whether the clocks are further apart than packets are held for. The sender's digests begin at a known time: a
 * packet that is among them and arrived well before that time shows a clock that lags too far, and a packet that arrived at the
 * last moment shows one that is ahead too far. If none of them arrived, though other packets did, the clocks have nothing in
 * common. The beginning and the end of an outage look the same, so that must be the case from the start, or three times in a row.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class InFlightMatch {
    /** Of the guard: how near to its end an arrival shows that clocks are apart. */
    private static final int EDGES = 4;
    /** One in so many early packets shows it; fewer are packets with equal digests. */
    private static final int LEAST_EARLY_SHARE = 8;
    /** So many packets on both sides have something in common if the clocks do. */
    private static final int LEAST_COMPARED = 8;
    private static final int MISSES = 3;
    /** Clocks that were too far apart are taken to be so for that many intervals. */
    private static final int APART_INTERVALS = 16;

    private final DigestSet inFlight;
    private final int inFlightPackets;
    private boolean isKnown;
    private int sentCount;
    private int arrivedCount;
    private int foundCount;
    private boolean isFoundLate;
    private boolean isFoundBefore;
    private boolean isFoundAfter;
    private boolean isProven;
    private int misses;
    private int apartIntervals;

    /** Nothing is known. */
    public InFlightMatch(final int inFlightPackets) {
        this.inFlightPackets = inFlightPackets;
        inFlight = new DigestSet(inFlightPackets);
    }

    /** {@return how near to the end of the guard an arrival shows that clocks are apart, ns} */
    public static long edgeNs(final IntervalSettings settings) {
        return settings.times().guardNs() / EDGES;
    }

    /** A clock was set: nothing is known of them. */
    public void restart() {
        isProven = false;
        misses = 0;
        apartIntervals = 0;
    }

    /** A packet was seen to come earlier or later than packets are held for. */
    void markApart() {
        apartIntervals = APART_INTERVALS;
    }

    /** {@return whether packets of the last end arrived at the last moment, so that later ones may be missed} */
    public boolean isFoundLate() {
        return isFoundLate;
    }

    /** {@return whether packets of the last end arrived before others were held, and some that were held} */
    boolean isInTime() {
        return isFoundBefore && isFoundAfter && apartIntervals == 0;
    }

    /**
     * Takes in what the sender had in flight at the end of an interval.
     *
     * @param answer   of the sender; null if none came.
     * @param own      the receiver's interval; null if it has none.
     * @param ownCount digests near the receiver's end that had arrived by then.
     * @return whether it is known.
     */
    public boolean read(final SenderAnswer answer, final ReceiverInterval own, final int ownCount) {
        isKnown = answer != null && own != null && answer.isInFlightComplete() && own.isInFlightComplete() &&
            answer.inFlightCount() <= inFlightPackets;
        isFoundLate = false;
        isFoundBefore = false;
        isFoundAfter = false;
        if (isKnown) {
            inFlight.clear();
            sentCount = answer.inFlightCount();
            for (int i = 0; i < sentCount; i++) {
                inFlight.add(answer.inFlight(i));
            }
            arrivedCount = ownCount;
            foundCount = 0;
            for (int i = 0; i < ownCount; i++) {
                foundCount += inFlight.take(own.inFlight(i)) ? 1 : 0;
            }
            isFoundBefore = foundCount > 0;
        }
        return isKnown;
    }

    /**
     * Whether a held packet was sent before the end, each digest as often as it was in flight.
     *
     * @param isLate whether it arrived at the last moment.
     * @return whether it was.
     */
    public boolean takeEarlier(final long digest, final boolean isLate) {
        final boolean isEarlier = isKnown && inFlight.take(digest);
        arrivedCount++;
        foundCount += isEarlier ? 1 : 0;
        isFoundLate |= isEarlier && isLate;
        isFoundAfter |= isEarlier;
        return isEarlier;
    }

    /**
     * Whether packets of an interval may have been booked into another, because the clocks are further apart than packets are
     * held for; to be asked once when it is known where all held packets were sent.
     */
    public boolean areClocksApart(final ReceiverInterval own) {
        int early = 0;
        for (int i = 0; i < own.earlyCount(); i++) {
            early += inFlight.take(own.early(i)) ? 1 : 0;
        }
        foundCount += early;
        arrivedCount += own.earlyCount();
        if (early > 0 && early >= own.earlyCount() / LEAST_EARLY_SHARE) {
            markApart();
        } else if (apartIntervals > 0) {
            apartIntervals--;
        }
        if (foundCount > 0) {
            isProven = true;
            misses = 0;
        } else if (sentCount >= LEAST_COMPARED) {
            misses = arrivedCount >= LEAST_COMPARED ? misses + 1 : 0;
        }
        return apartIntervals > 0 || misses > 0 && (!isProven || misses >= MISSES);
    }
}
