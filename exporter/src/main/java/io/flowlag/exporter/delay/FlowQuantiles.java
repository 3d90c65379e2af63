package io.flowlag.exporter.delay;

import io.flowlag.sketch.quantile.QuantileSketch;
import io.flowlag.sketch.quantile.SampledRanks;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The layout of the quantiles of a flow's delays, a part of {@link FlowDelay}, written when the flow ends:
 * <pre>
 *  0  p50Ns        8   signed, as all; each is valid from its number of groups on
 *  8  p90Ns        8
 * 16  p95Ns        8
 * 24  p99Ns        8
 * 32  p999Ns       8
 * 40  variationNs  8   the 99.9th percentile less the smallest delay
 * 48  groups       4   0 for none, 1 for the median alone, to 5 for all
 * 52  errorPpm     4   half width of the widest 95 % interval, as a share of its quantile; 0 if none is known
 * 56  (unused)     8
 * </pre>
 * Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public final class FlowQuantiles {
    static final int LENGTH_BYTES = 64;
    static final int GROUPS = 5;
    /** A quantile of sampled packets is given if its interval is not wider than this to either side, in a million of itself. */
    static final int MOST_ERROR_PPM = 150_000;

    private static final double PPM = 1e6;
    private static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99, 0.999};
    private static final int VARIATION_OFFSET = GROUPS * Long.BYTES;
    private static final int GROUPS_OFFSET = VARIATION_OFFSET + 8;
    private static final int ERROR_OFFSET = GROUPS_OFFSET + 4;

    private FlowQuantiles() {
    }

    /** Writes the quantiles that have enough delays, each limited to the range of the delays. */
    static void write(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer distribution, final int distributionOffset,
        final long minimumNs, final long maximumNs) {
        int groups = 0;
        while (groups < GROUPS && QuantileSketch.hasQuantile(distribution, distributionOffset, QUANTILES[groups])) {
            final long valueNs = QuantileSketch.quantile(distribution, distributionOffset, QUANTILES[groups]);
            buffer.putLong(offset + groups * Long.BYTES, Math.max(minimumNs, Math.min(maximumNs, valueNs)));
            groups++;
        }
        conclude(buffer, offset, groups, minimumNs);
        buffer.putInt(offset + ERROR_OFFSET, 0);
    }

    /**
     * Writes the quantiles of a flow's packets, some of which were sampled, with the error of the widest 95 % interval. It covers
     * which packets were sampled, the buckets of the distribution, and any delay of those without a send time. A quantile that
     * lacks delays, or whose interval is wider than {@link #MOST_ERROR_PPM}, is absent, with those after it.
     *
     * @param distribution of the sampled packets with a send time; one at least.
     * @param packets      of the flow.
     * @param sampled      of them, with or without a send time.
     */
    static void writeSampled(
        final MutableDirectBuffer buffer, final int offset, final DirectBuffer distribution, final int distributionOffset,
        final long packets, final long sampled) {
        int groups = 0;
        int errorPpm = 0;
        while (groups < GROUPS) {
            final int ppm = errorPpm(distribution, distributionOffset, groups, packets, sampled);
            if (ppm > MOST_ERROR_PPM) {
                break;
            }
            errorPpm = Math.max(errorPpm, ppm);
            buffer.putLong(
                offset + groups * Long.BYTES, QuantileSketch.quantile(distribution, distributionOffset, QUANTILES[groups]));
            groups++;
        }
        conclude(buffer, offset, groups, QuantileSketch.atRank(distribution, distributionOffset, 1));
        buffer.putInt(offset + ERROR_OFFSET, errorPpm);
    }

    /** The error of the median that {@link #writeSampled} would write. Returns ns; infinite if it would write none. */
    static double sampledErrorNs(
        final DirectBuffer distribution, final int distributionOffset, final long packets, final long sampled) {
        final int ppm = errorPpm(distribution, distributionOffset, 0, packets, sampled);
        return ppm > MOST_ERROR_PPM ? Double.POSITIVE_INFINITY :
            ppm / PPM * Math.abs(QuantileSketch.quantile(distribution, distributionOffset, QUANTILES[0]));
    }

    /** The larger distance of a quantile to the ends of its interval, as a share of it. */
    private static int errorPpm(
        final DirectBuffer distribution, final int offset, final int index, final long packets, final long sampled) {
        final double quantile = QUANTILES[index];
        final long known = QuantileSketch.count(distribution, offset);
        final long drawn = Math.max(known, sampled);
        final long all = Math.max(drawn, packets);
        final long lower = SampledRanks.lower(quantile, all, drawn) - (drawn - known);
        final long upper = SampledRanks.upper(quantile, all, drawn);
        if (!QuantileSketch.hasQuantile(distribution, offset, quantile) || lower < 1 || upper > known) {
            return Integer.MAX_VALUE;
        }
        final long valueNs = QuantileSketch.quantile(distribution, offset, quantile);
        final long lowerNs = QuantileSketch.atRank(distribution, offset, lower);
        final long upperNs = QuantileSketch.atRank(distribution, offset, upper);
        if (valueNs == 0 || lowerNs == 0 || upperNs == 0) {
            return Integer.MAX_VALUE;
        }
        final double bucketError = QuantileSketch.relativeError(distribution, offset);
        final double lowestNs = lowerNs / (lowerNs > 0 ? 1 + bucketError : 1 - bucketError);
        final double highestNs = upperNs / (upperNs > 0 ? 1 - bucketError : 1 + bucketError);
        return (int)Math.ceil(PPM * Math.max(valueNs - lowestNs, highestNs - valueNs) / Math.abs(valueNs));
    }

    private static void conclude(
        final MutableDirectBuffer buffer, final int offset, final int groups, final long minimumNs) {
        if (groups == GROUPS) {
            buffer.putLong(offset + VARIATION_OFFSET, quantileNs(buffer, offset, GROUPS - 1) - minimumNs);
        }
        buffer.putInt(offset + GROUPS_OFFSET, groups);
    }

    /** There are none. */
    static void clear(final MutableDirectBuffer buffer, final int offset) {
        buffer.putInt(offset + GROUPS_OFFSET, 0);
        buffer.putInt(offset + ERROR_OFFSET, 0);
    }

    /**
     * The half width of the widest 95 % interval, as a share of its quantile in a million. Returns 0 if none is known: the
     * quantiles, if any, are not of sampled packets.
     */
    public static int errorPpm(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + ERROR_OFFSET);
    }

    /**
     * The number of known quantiles, in the order of the layout; if all are known, the variation is too. Returns 0 to {@link
     * #GROUPS}.
     */
    public static int groups(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + GROUPS_OFFSET);
    }

    /** A quantile by its index in the layout, below {@link #groups}; ns, signed. */
    public static long quantileNs(final DirectBuffer buffer, final int offset, final int index) {
        return buffer.getLong(offset + index * Long.BYTES);
    }

    /** The packet delay variation, with all groups; ns, not negative. */
    public static long variationNs(final DirectBuffer buffer, final int offset) {
        return buffer.getLong(offset + VARIATION_OFFSET);
    }
}
