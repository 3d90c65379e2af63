package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.exporter.delay.interval.records.HeldPackets;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.exporter.delay.interval.records.ReceiverInterval;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;

/**
 * Decides which packets held around the end of an interval were sent in it: those whose digests the sender had in flight at the
 * end. Digests that had already arrived are removed first, so that packets with equal digests are assigned in the order of
 * arrival.
 * <p>
 * It also detects clocks that differ by more than the time that packets are held. The sender's digests begin at a known time. A
 * listed packet that arrived well before that time shows a clock that lags too far. A packet that arrived at the last moment
 * shows one that leads too far.
 * <p>
 * If no listed packet arrived but other packets did, the clocks may have nothing in common. An outage's beginning and end look
 * the same, so this counts only before the first match, or in three consecutive intervals.
 * <p>
 * The metering thread owns it. Allocates at construction.
 */
public final class InFlightMatch {
    /** Fraction of the guard (1/n) near its end in which an arrival shows that clocks differ. */
    private static final int EDGES = 4;
    /** At least one in this many early packets must match to show it; fewer are packets with equal digests. */
    private static final int LEAST_EARLY_SHARE = 8;
    /** With this many packets on both sides, matching clocks would give some in common. */
    private static final int LEAST_COMPARED = 8;
    private static final int MISSES = 3;
    /** Number of intervals for which clocks count as differing after they were seen to. */
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

    /** Creates an instance that knows nothing of the clocks. */
    public InFlightMatch(final int inFlightPackets) {
        this.inFlightPackets = inFlightPackets;
        inFlight = new DigestSet(inFlightPackets);
    }

    /** {@return how near to the end of the guard an arrival shows that clocks differ, ns} */
    public static long edgeNs(final IntervalSettings settings) {
        return settings.times().guardNs() / EDGES;
    }

    /** Discards all evidence, because a clock was set. */
    public void restart() {
        isProven = false;
        misses = 0;
        apartIntervals = 0;
    }

    /** Forgets that the clocks agreed, because one of them may have been set. */
    public void doubt() {
        isProven = false;
    }

    /** Records that a packet arrived earlier or later than packets are held for. */
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
     * Reads the sender's in-flight digests at the end of an interval.
     *
     * @param answer of the sender; null if none came.
     * @param own    the receiver's interval, with the digests near its end that had arrived by then; null if there is none.
     * @return whether the digests are known; {@link #readShard} then follows for each other shard of the interval.
     */
    public boolean read(final SenderAnswer answer, final ReceiverInterval own) {
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
            arrivedCount = 0;
            foundCount = 0;
        }
        return readShard(own);
    }

    /** Reads the digests of a shard of the receiver's interval. Returns whether all are known. */
    public boolean readShard(final ReceiverInterval own) {
        isKnown = isKnown && own != null && own.isInFlightComplete();
        for (int i = 0; isKnown && i < own.inFlightCount(); i++) {
            foundCount += inFlight.take(own.inFlight(i)) ? 1 : 0;
        }
        arrivedCount += isKnown ? own.inFlightCount() : 0;
        isFoundBefore = isKnown && foundCount > 0;
        return isKnown;
    }

    /**
     * Whether a held packet was sent before the end. A digest matches as often as it was in flight. Notes if it arrived at the
     * last moment.
     */
    public boolean takeEarlier(final long digest, final boolean isLate) {
        final boolean isEarlier = isKnown && inFlight.take(digest);
        arrivedCount++;
        foundCount += isEarlier ? 1 : 0;
        isFoundLate |= isEarlier && isLate;
        isFoundAfter |= isEarlier;
        return isEarlier;
    }

    /** From now on, {@link #takeEarlier} finds only what {@link #expect} names. */
    public void expectNone() {
        inFlight.clear();
    }

    /** {@link #takeEarlier} finds the first of these packets too, each as often as it is there. */
    public void expect(final HeldPackets packets, final int count) {
        for (int i = 0; i < count; i++) {
            inFlight.add(packets.digest(i));
        }
    }

    /**
     * Whether packets of an interval may be assigned to another, because the clocks differ by more than packets are held for.
     * Called once, after all held packets were assigned, with each shard of the interval.
     */
    public boolean areClocksApart(final ReceiverInterval... shards) {
        int early = 0;
        int earlyCount = 0;
        for (final ReceiverInterval own : shards) {
            for (int i = 0; i < own.earlyCount(); i++) {
                early += inFlight.take(own.early(i)) ? 1 : 0;
            }
            earlyCount += own.earlyCount();
        }
        foundCount += early;
        arrivedCount += earlyCount;
        if (early > 0 && early >= earlyCount / LEAST_EARLY_SHARE) {
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
