package io.flowlag.exporter.status;

/**
 * The delays of a traffic class in a measurement interval that has ended, as records have them. Immutable.
 *
 * @param packets   regular packets of the class that the receiver point saw in the interval. Delays count when they are known, so
 *                  there may be a few more than packets.
 * @param histogram of {@link DelaySummary#delays}, octets of {@link io.flowlag.sketch.quantile.LogHistogram}; empty without.
 */
public record IntervalDelays(DelaySummary summary, long packets, byte[] histogram) {
    /** The longest histogram: with the rest of its record it fits a message of 1400 octets. */
    public static final int HISTOGRAM_LIMIT_BYTES = 512;
}
