package io.flowlag.network.window;

import java.util.ArrayList;
import java.util.List;

/**
 * Windows [i·length, (i + 1)·length) since the epoch.
 *
 * @param lengthNs above 0.
 */
public record Windows(long lengthNs) {
    /**
     * What falls to a window.
     *
     * @param startNs of the window.
     * @param count   how many.
     */
    public record Share(long startNs, long count) {
    }

    /** Checks the length. */
    public Windows {
        if (lengthNs <= 0) {
            throw new IllegalArgumentException("lengthNs=" + lengthNs + ": must be above 0");
        }
    }

    /** {@return the start of the window that a time lies in} */
    public long startNs(final long timeNs) {
        return Math.floorDiv(timeNs, lengthNs) * lengthNs;
    }

    /**
     * Divides a record between windows in proportion to time.
     *
     * @param startNs of its packets.
     * @param endNs   of its packets, not before their start.
     * @param count   packets or octets.
     * @return one share for each window that it lies in, in order; together they are the count.
     */
    public List<Share> divide(final long startNs, final long endNs, final long count) {
        final List<Share> shares = new ArrayList<>();
        final double duration = endNs - startNs;
        long given = 0;
        for (long window = startNs(startNs); window <= endNs; window += lengthNs) {
            final long untilNs = window + lengthNs;
            final long upTo = untilNs > endNs ? count : Math.round(count * ((untilNs - startNs) / duration));
            shares.add(new Share(window, upTo - given));
            given = upTo;
        }
        return shares;
    }
}
