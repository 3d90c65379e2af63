package io.flowlag.network.window;

import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The delays of a segment in a window as a histogram: a sum of those of intervals (element 26), or of other sums, in any order.
 * Quantiles come from it and never from quantiles. One thread; {@link LogHistogram#MEMORY_BYTES}, allocated at construction.
 */
public final class WindowHistogram {
    /** A quantile q needs so many delays above it. */
    private static final double LEAST_ABOVE = 10 - 1e-6;
    /** Of a number that is rounded to a 64th: digits that are kept. */
    private static final int STEP_BITS = 7;

    private final LogHistogram sum = new LogHistogram();
    private final LogHistogram interval = new LogHistogram();
    private long above;

    /** Adds an interval's octets. Returns whether they are valid; if not, nothing is added. */
    public boolean add(final DirectBuffer octets, final int offset, final int lengthBytes) {
        final boolean isValid = interval.decode(octets, offset, lengthBytes);
        if (isValid) {
            sum.add(interval);
        }
        return isValid;
    }

    /** Forgets all delays. */
    public void clear() {
        sum.clear();
    }

    /**
     * Writes the delays as element 26 has them.
     *
     * @param limitBytes room, at least {@link LogHistogram#LEAST_LIMIT_BYTES}.
     * @return octets written.
     */
    public int encode(final MutableDirectBuffer buffer, final int offset, final int limitBytes) {
        return sum.encode(buffer, offset, limitBytes);
    }

    /** Adds what another has. */
    public void add(final WindowHistogram other) {
        sum.add(other.sum);
    }

    /** {@return how many delays there are} */
    public long count() {
        return sum.count();
    }

    /** {@return how far a quantile may be off, as a share of itself} */
    public double relativeError() {
        return sum.relativeError();
    }

    /**
     * The delay that a share of the packets does not exceed.
     *
     * @param quantile above 0 and below 1.
     * @return ns, or NaN with fewer than 10/(1 − q) delays.
     */
    public double quantileNs(final double quantile) {
        return sum.count() * (1 - quantile) < LEAST_ABOVE ? Double.NaN : sum.quantile(quantile);
    }

    /**
     * {@return how many delays are above a limit, for {@link BurnRate}; one within {@link #relativeError} of it may be on either
     * side}
     */
    public long above(final long limitNs) {
        above = 0;
        sum.forEach((value, count) -> above += value > limitNs ? count : 0);
        return above;
    }

    /**
     * The share of sums above a limit, of one delay from each histogram, as if they were independent. Sums are rounded to a 64th.
     *
     * @param parts   at least one, each with delays.
     * @param limitNs as {@link #above} has it.
     */
    public static double shareAbove(final List<WindowHistogram> parts, final long limitNs) {
        if (parts.size() == 1) {
            return (double)parts.get(0).above(limitNs) / parts.get(0).count();
        }
        Map<Long, Double> sums = Map.of(0L, 1.0);
        for (final WindowHistogram part : parts) {
            final Map<Long, Double> longer = new HashMap<>();
            sums.forEach((sum, share) -> part.sum.forEach((value, count) ->
                longer.merge(rounded(sum + value), share * count / part.sum.count(), Double::sum)));
            sums = longer;
        }
        return sums.entrySet().stream().filter((each) -> each.getKey() > limitNs).mapToDouble(Map.Entry::getValue).sum();
    }

    /** To the middle of the step that holds it. */
    private static long rounded(final long value) {
        final int shift = Math.max(0, Long.SIZE - Long.numberOfLeadingZeros(Math.abs(value)) - STEP_BITS);
        final long step = 1L << shift;
        return Math.floorDiv(value, step) * step + step / 2;
    }
}
