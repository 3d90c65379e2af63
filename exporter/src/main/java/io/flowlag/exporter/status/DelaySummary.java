package io.flowlag.exporter.status;

/**
 * What was measured of one traffic class in some time. Immutable.
 *
 * @param senderIndex     of the references, in the order of the configuration.
 * @param dscp            of the class; below 0 where there is one class for all.
 * @param startNs         of the time, UNIX epoch, by packet timestamps at the receiver point.
 * @param matched         of regular packets, each measured by matching; empty where nothing is matched.
 * @param estimates       of regular packets, by interpolation: their tails lean low, for a line cuts peaks.
 * @param lostReferences  found missing in this time, less those that had been missing and came late: so below 0 at times.
 * @param oversizePackets longer than the link carries, at either point, which were not measured: above 0, delays and loss of this
 *                        time are not those of all packets.
 * @param heldOutCount    references that were interpolated from their neighbours, for as long as a record may wait and longer.
 * @param heldOutP95Ns    95 % quantile of the error of those, absolute; null where they are too few for a bound.
 */
public record DelaySummary(
    int senderIndex,
    int classIndex,
    int dscp,
    long startNs,
    long endNs,
    DelayDistribution matched,
    DelayDistribution estimates,
    DelayDistribution references,
    long lostReferences,
    long oversizePackets,
    long heldOutCount,
    Long heldOutP95Ns) {
    /** {@return the best delays of regular packets: matched, unless that are fewer than half of those that have an estimate} */
    public DelayDistribution delays() {
        return isMatched() ? matched : estimates;
    }

    /** {@return whether {@link #delays()} were matched} */
    public boolean isMatched() {
        return matched.count() > 0 && 2 * matched.count() >= estimates.count();
    }
}
