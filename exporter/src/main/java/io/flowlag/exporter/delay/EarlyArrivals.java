package io.flowlag.exporter.delay;

/**
 * Packets of the receiver point that the sender point has not seen yet, because the receiver's clock is behind. A packet that
 * the sender point saw first is not early, even if an earlier packet had the same digest; so packets under way are remembered
 * too. Bounded: each digest maps to one place, which a later digest overwrites. One thread. Allocates at construction.
 */
final class EarlyArrivals {
    private static final int CAPACITY = 256 * 1024;
    private static final int MASK = CAPACITY - 1;
    /** In place of an arrival: the sender point has seen the packet, or there is none. */
    private static final long UNDER_WAY = Long.MIN_VALUE;
    private static final long NO_DIGEST = ~MASK;
    private static final int NONE = -1;

    /** For each place the digest, with the packet's length in the bits that address the place, and the arrival, ns. */
    private final long[] places = new long[2 * CAPACITY];
    private final long maximumLeadNs;

    /** Nothing has come; an arrival may be so much before its packet was sent. */
    EarlyArrivals(final long maximumLeadNs) {
        this.maximumLeadNs = maximumLeadNs;
        for (int place = 0; place < places.length; place += 2) {
            places[place] = NO_DIGEST;
            places[place + 1] = UNDER_WAY;
        }
    }

    /** {@return octets, by formula} */
    static long memoryBytes() {
        return CAPACITY * 2L * Long.BYTES;
    }

    /** Prefetches a digest's place. Changes nothing. */
    long touch(final long digest) {
        return places[place(digest)];
    }

    /**
     * A packet passes the sender point. Returns the place of its arrival, until the next packet; negative if it has not arrived.
     */
    int onSent(final long digest, final long sentNs) {
        final int place = place(digest);
        final long arrivalNs = places[place + 1];
        if (holds(place, digest) && arrivalNs != UNDER_WAY && sentNs - arrivalNs <= maximumLeadNs) {
            forget(place);
            return place;
        }
        places[place] = digest & ~MASK;
        places[place + 1] = UNDER_WAY;
        return NONE;
    }

    /** A packet passes the receiver point. */
    void onReceived(final long digest, final long arrivalNs, final int lengthBytes) {
        final int place = place(digest);
        if (holds(place, digest)) {
            if (places[place + 1] == UNDER_WAY) {
                forget(place);
                return;
            }
            if (arrivalNs - places[place + 1] <= maximumLeadNs) {
                // Among packets with equal digests the first counts.
                return;
            }
        }
        places[place] = digest & ~MASK | Math.min(MASK, lengthBytes);
        places[place + 1] = arrivalNs;
    }

    /** Keeps the length, which the caller may still read. */
    private void forget(final int place) {
        places[place] ^= ~MASK;
    }

    private static int place(final long digest) {
        return 2 * ((int)digest & MASK);
    }

    private boolean holds(final int place, final long digest) {
        return ((places[place] ^ digest) & ~MASK) == 0;
    }

    long arrivalNs(final int place) {
        return places[place + 1];
    }

    int lengthBytes(final int place) {
        return (int)places[place] & MASK;
    }
}
