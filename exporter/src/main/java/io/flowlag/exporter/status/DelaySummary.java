package io.flowlag.exporter.status;

/**
 * What was measured of one traffic class in some time. Immutable.
 *
 * @param classIndex   of the class.
 * @param dscp         of the class; below 0 where there is one class for all.
 * @param startNs      of the time, UNIX epoch, by packet timestamps at the receiver point.
 * @param endNs        of the time.
 * @param estimates    of regular packets, by interpolation: their tails lean low, for a line cuts peaks.
 * @param references   measured on reference packets.
 * @param heldOutCount references that were interpolated from their neighbours, in this interval and the one before.
 * @param heldOutP95Ns 95 % quantile of the error of those, absolute; null without any.
 */
public record DelaySummary(
    int classIndex,
    int dscp,
    long startNs,
    long endNs,
    DelayDistribution estimates,
    DelayDistribution references,
    long heldOutCount,
    Long heldOutP95Ns) {
}
