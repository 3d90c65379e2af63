package io.flowlag.rli.counters;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * The error of a flow's mean delay, from the scale of each sample's error. Samples in one span of two gaps between references
 * share one error; errors of different spans are independent. A flow of a few bursts therefore has few independent errors,
 * however many samples it has. The flow's owner reserves:
 * <pre>
 *   0  span      2   one more than the number of the last sample's span, modulo 32768; 0 for none
 *   2  samples   2   of the flow in that span, at most 65535
 *   4  variance  4   float: sum over spans of (sum of the scales of the flow's samples in it)², ns²
 * </pre>
 * Stateless; the thread that owns the flow's memory may call it. Allocates: never.
 */
public final class SpanCounters {
    /** Octets that a flow reserves. */
    public static final int LENGTH_BYTES = 8;

    private static final int SAMPLES_SHIFT = 16;
    private static final int VARIANCE_SHIFT = 32;
    private static final int SPAN_MASK = 0x7FFF;
    private static final int MOST = 0xFFFF;
    /** A scale is 1 ns or more where it is known. */
    private static final float LEAST_VARIANCE_NS2 = 1;

    private SpanCounters() {
    }

    /**
     * Adds one sample. Samples before the first with a known scale count as one span with the same scale.
     *
     * @param offset        of the counters; zeros for a flow without samples.
     * @param scaleNs       of the sample's error; 0 if it is not known.
     * @param samplesBefore samples that the flow already has.
     */
    public static void record(
        final MutableDirectBuffer buffer, final int offset, final long spanNumber, final float scaleNs,
        final long samplesBefore) {
        final long packed = buffer.getLong(offset);
        final int span = 1 + (int)(spanNumber & SPAN_MASK);
        final float sampleNs2 = scaleNs * scaleNs;
        float varianceNs2 = Float.intBitsToFloat((int)(packed >>> VARIANCE_SHIFT));
        int samples = 0;
        if (!(varianceNs2 >= LEAST_VARIANCE_NS2)) {
            varianceNs2 = (float)samplesBefore * samplesBefore * sampleNs2;
        } else if (span == (int)(packed & MOST)) {
            samples = (int)(packed >>> SAMPLES_SHIFT) & MOST;
        }
        varianceNs2 += (2 * samples + 1) * sampleNs2;
        buffer.putLong(offset, (long)Float.floatToRawIntBits(varianceNs2) << VARIANCE_SHIFT |
            (long)Math.min(MOST, samples + 1) << SAMPLES_SHIFT | span);
    }

    /**
     * The scale of the error of the mean of a flow's samples.
     *
     * @param sampleCount of the flow, 1 or more.
     * @return ns; NaN if the scales of its samples are unknown.
     */
    public static double meanScaleNs(final DirectBuffer buffer, final int offset, final long sampleCount) {
        final float varianceNs2 = Float.intBitsToFloat((int)(buffer.getLong(offset) >>> VARIANCE_SHIFT));
        return varianceNs2 >= LEAST_VARIANCE_NS2 ? Math.sqrt(varianceNs2) / sampleCount : Double.NaN;
    }
}
