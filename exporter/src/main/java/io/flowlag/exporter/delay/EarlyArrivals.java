package io.flowlag.exporter.delay;

import java.util.Arrays;

/**
 * Packets of the receiver point that the sender point has not seen yet, since the receiver's clock is behind. A packet that the
 * sender point saw first is no early one, though an earlier packet had the same digest: so packets under way are remembered too.
 * Bounded: each digest has one place, and a later digest takes it over. One thread. Allocates at construction.
 */
final class EarlyArrivals {
    private static final int CAPACITY = 256 * 1024;
    private static final int MASK = CAPACITY - 1;
    /** In place of an arrival: the sender point has seen the packet, or there is none. */
    private static final long UNDER_WAY = Long.MIN_VALUE;
    private static final int NONE = -1;

    private final long[] digests = new long[CAPACITY];
    private final long[] arrivalsNs = new long[CAPACITY];
    private final int[] lengthsBytes = new int[CAPACITY];
    private final long maximumLeadNs;

    /**
     * Nothing has come.
     *
     * @param maximumLeadNs by which an arrival may be before its packet was sent.
     */
    EarlyArrivals(final long maximumLeadNs) {
        this.maximumLeadNs = maximumLeadNs;
        Arrays.fill(arrivalsNs, UNDER_WAY);
    }

    /** {@return octets, by formula: three arrays} */
    static long memoryBytes() {
        return CAPACITY * (2L * Long.BYTES + Integer.BYTES);
    }

    /**
     * A packet passes the sender point.
     *
     * @return the place of its arrival, until the next packet; negative if it has not arrived.
     */
    int onSent(final long digest, final long sentNs) {
        final int index = (int)digest & MASK;
        final long arrivalNs = arrivalsNs[index];
        if (digests[index] == digest && arrivalNs != UNDER_WAY && sentNs - arrivalNs <= maximumLeadNs) {
            digests[index] = 0;
            return index;
        }
        digests[index] = digest;
        arrivalsNs[index] = UNDER_WAY;
        return NONE;
    }

    /** A packet passes the receiver point. */
    void onReceived(final long digest, final long arrivalNs, final int lengthBytes) {
        final int index = (int)digest & MASK;
        if (digests[index] != digest) {
            digests[index] = digest;
        } else if (arrivalsNs[index] == UNDER_WAY) {
            digests[index] = 0;
            return;
        } else if (arrivalNs - arrivalsNs[index] <= maximumLeadNs) {
            // Of packets with equal digests the first counts.
            return;
        }
        arrivalsNs[index] = arrivalNs;
        lengthsBytes[index] = lengthBytes;
    }

    long arrivalNs(final int index) {
        return arrivalsNs[index];
    }

    int lengthBytes(final int index) {
        return lengthsBytes[index];
    }
}
