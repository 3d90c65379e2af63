package io.flowlag.exporter.runtime.delay;

import java.util.Arrays;

/**
 * The number of packets in any time, with a resolution of a 65 536th of the whole or better. One thread. Allocates at
 * construction.
 */
final class PacketTimes {
    private static final int SLOTS = 1 << 16;

    private final long[] counts = new long[SLOTS];
    private long slotNs = 1L << 16;
    private long firstNs;
    private long newestNs = Long.MIN_VALUE;
    private long oldestNs = Long.MAX_VALUE;

    /** Adds a packet; one before the first counts as at the first. */
    void add(final long timestampNs) {
        if (newestNs == Long.MIN_VALUE) {
            firstNs = timestampNs;
        }
        newestNs = Math.max(newestNs, timestampNs);
        oldestNs = Math.min(oldestNs, timestampNs);
        final long distanceNs = Math.max(0, timestampNs - firstNs);
        while (distanceNs / slotNs >= SLOTS) {
            coarsen();
        }
        counts[(int)(distanceNs / slotNs)]++;
    }

    private void coarsen() {
        for (int i = 0; i < SLOTS / 2; i++) {
            counts[i] = counts[2 * i] + counts[2 * i + 1];
        }
        Arrays.fill(counts, SLOTS / 2, SLOTS, 0);
        slotNs *= 2;
    }

    /** {@return the earliest time; only if there is a packet} */
    long oldestNs() {
        return oldestNs;
    }

    /** {@return the latest time; only if there is a packet} */
    long newestNs() {
        return newestNs;
    }

    /** {@return most packets while another point has almost none} */
    long mostAlone(final PacketTimes other) {
        long sum = 0;
        long most = 0;
        for (int i = 0; i < SLOTS; i++) {
            sum = counts[i] + (other.hasAny(firstNs + i * slotNs, firstNs + (i + 1) * slotNs) ? 0 : sum);
            most = Math.max(most, sum);
        }
        return most;
    }

    private boolean hasAny(final long fromNs, final long untilNs) {
        boolean hasAny = false;
        final long last = Math.min(SLOTS - 1, Math.floorDiv(untilNs - 1 - firstNs, slotNs));
        for (long i = Math.max(0, Math.floorDiv(fromNs - firstNs, slotNs)); i <= last && !hasAny; i++) {
            hasAny = counts[(int)i] > 0;
        }
        return hasAny;
    }

    /** {@return packets at most in a time of that length} */
    long mostWithin(final long lengthNs) {
        final int width = (int)Math.min(SLOTS, lengthNs / slotNs + 2);
        long sum = 0;
        long most = 0;
        for (int i = 0; i < SLOTS; i++) {
            sum += counts[i] - (i >= width ? counts[i - width] : 0);
            most = Math.max(most, sum);
        }
        return most;
    }
}
