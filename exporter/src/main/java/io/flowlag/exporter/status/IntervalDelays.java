package io.flowlag.exporter.status;

/**
 * The delays of a traffic class in a measurement interval that has ended, as records have them. Immutable.
 *
 * @param packets           regular packets of the class that the receiver point saw in the interval. Delays count when they are
 *                          known, so there may be a few more than packets.
 * @param clock             of the two points, as estimated by the end of the interval.
 * @param histogram         of {@link DelaySummary#delays}, octets of {@link io.flowlag.sketch.quantile.LogHistogram}; empty
 *                          without.
 * @param matchedBoundNs    half width of the 95 % interval around the mean of the matched delays, as the mean of all packets of
 *                          the interval; clock error and the precision of timestamps apart. Below 0 if it is not known.
 * @param estimatesBoundNs  of the mean of the estimates.
 * @param referencesBoundNs of the mean of the references.
 */
public record IntervalDelays(
    DelaySummary summary, long packets, ClockEstimate clock, byte[] histogram, long matchedBoundNs, long estimatesBoundNs,
    long referencesBoundNs) {
    /** The longest histogram: with the rest of its record it fits a message of 1400 octets. */
    public static final int HISTOGRAM_LIMIT_BYTES = 512;
}
