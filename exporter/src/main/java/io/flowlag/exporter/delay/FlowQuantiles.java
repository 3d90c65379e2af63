package io.flowlag.exporter.delay;

import io.flowlag.sketch.quantile.QuantileSketch;
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
 * 52  (unused)    12
 * </pre>
 * Fields are in the byte order of the machine. Stateless; the thread that owns the memory may call it.
 */
public final class FlowQuantiles {
    static final int LENGTH_BYTES = 64;
    static final int GROUPS = 5;

    private static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99, 0.999};
    private static final int VARIATION_OFFSET = GROUPS * Long.BYTES;
    private static final int GROUPS_OFFSET = VARIATION_OFFSET + 8;

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
        if (groups == GROUPS) {
            buffer.putLong(offset + VARIATION_OFFSET, quantileNs(buffer, offset, GROUPS - 1) - minimumNs);
        }
        buffer.putInt(offset + GROUPS_OFFSET, groups);
    }

    /** There are none. */
    static void clear(final MutableDirectBuffer buffer, final int offset) {
        buffer.putInt(offset + GROUPS_OFFSET, 0);
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
