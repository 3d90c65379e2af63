package io.flowlag.rli.counters;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * How the samples of a flow lie in spans of two gaps between references: those of one span have one error of interpolation in
 * common, so a flow that comes in a few bursts has met a few errors, however many samples it has and however long it lasts. What
 * every sample touches is apart from what only a further sample in the same span does; the flow's owner reserves both:
 * <pre>
 *   near  0  span      4   one more than the number of the last sample's span, modulo 2^30; 0 for none
 *         4  samples   4   of the flow in that span
 *   far   0  shared    8   sum over spans of n(n - 1), n samples of the flow in one
 * </pre>
 * Stateless; the thread that owns the flow's memory may call it. Allocates: never.
 */
public final class SpanCounters {
    /** Octets that a flow reserves for what every sample touches. */
    public static final int NEAR_BYTES = 8;
    /** Octets that a flow reserves for the rest. */
    public static final int FAR_BYTES = 8;

    private static final int SPAN_OFFSET = 0;
    private static final int SAMPLES_OFFSET = SPAN_OFFSET + 4;

    private SpanCounters() {
    }

    /**
     * Adds one sample. Samples from before the first that is added here lie anywhere, and count as of one span.
     *
     * @param buffer        holds the counters.
     * @param nearOffset    of what every sample touches; zeros for a flow without samples.
     * @param farOffset     of the rest; zeros too.
     * @param spanNumber    of the sample.
     * @param samplesBefore that the flow has had.
     */
    public static void record(
        final MutableDirectBuffer buffer, final int nearOffset, final int farOffset, final long spanNumber,
        final long samplesBefore) {
        final int span = 1 + (int)(spanNumber & Integer.MAX_VALUE >> 1);
        final int lastSpan = buffer.getInt(nearOffset + SPAN_OFFSET);
        if (span == lastSpan) {
            final int samples = buffer.getInt(nearOffset + SAMPLES_OFFSET);
            buffer.putLong(farOffset, buffer.getLong(farOffset) + 2L * samples);
            buffer.putInt(nearOffset + SAMPLES_OFFSET, samples + 1);
            return;
        }
        if (lastSpan == 0 && samplesBefore > 1) {
            buffer.putLong(farOffset, samplesBefore * (samplesBefore - 1));
        }
        buffer.putInt(nearOffset + SPAN_OFFSET, span);
        buffer.putInt(nearOffset + SAMPLES_OFFSET, 1);
    }

    /**
     * How many independent errors the mean of a flow's samples has in it: errors of unequal weight are worth (Σn)²/Σn² of equal
     * weight, n samples in a span.
     *
     * @param buffer      holds the counters.
     * @param nearOffset  of what every sample touches.
     * @param farOffset   of the rest.
     * @param sampleCount of the flow, 1 or more.
     * @return 1 up to the number of spans with samples.
     */
    public static double independentErrors(
        final DirectBuffer buffer, final int nearOffset, final int farOffset, final long sampleCount) {
        return buffer.getInt(nearOffset + SPAN_OFFSET) == 0 ? 1 :
            (double)sampleCount * sampleCount / (sampleCount + buffer.getLong(farOffset));
    }
}
