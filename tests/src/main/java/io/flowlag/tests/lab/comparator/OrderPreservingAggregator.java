package io.flowlag.tests.lab.comparator;

import io.flowlag.exporter.lab.LabRandom;

/**
 * The order preserving aggregator (OPA) of a group of packets, after "Every Packet Counts" (J. Wang, S. Lian, W. Dong, Y. Liu,
 * X.-Y. Li; ICNP 2014, section IV): sums of the packets' hashes, each hashed with its place, weighed by powers of the place. A
 * receiver tries what may be lost or displaced until the sums agree, and so knows the sender's place of each packet. Arithmetic
 * is modulo 2⁶⁴; instead of solving for the hashes of lost packets (the mapping equation) they are eliminated, which leaves the
 * checking equation. The paper also mixes losses and displacements; here such a group stays unsolved. One thread.
 */
public final class OrderPreservingAggregator {
    /** Octets on the wire: the paper's 24 for the sums and 4 for the number of packets. */
    public static final int BYTES = 28;

    private static final int MOST_LOST = 2;
    private static final int ROWS = MOST_LOST + 1;

    private final long[] sums = new long[ROWS];
    private int packets;

    /** Adds the packet that was sent next. */
    public void add(final long digest) {
        for (int row = 0; row < ROWS; row++) {
            sums[row] += term(row, digest, packets);
        }
        packets++;
    }

    private static long term(final int row, final long digest, final int place) {
        long term = LabRandom.mix(digest + LabRandom.mix(place));
        for (int i = 0; i < row; i++) {
            term *= weight(place);
        }
        return term;
    }

    private static long weight(final int place) {
        return place + 1;
    }

    /**
     * Finds the order in which packets were sent. Time: the square of the packets if two are lost.
     *
     * @param received digests in the order of arrival.
     * @param shift    how far one packet may have moved, in places; 0 tries none.
     * @return the sender's place of each, from 0; null if more than two are lost or nothing fits.
     */
    public int[] places(final long[] received, final int shift) {
        final int count = received.length;
        final int lost = packets - count;
        if (lost < 0 || lost > MOST_LOST) {
            return null;
        }
        final Sums found = new Sums(received);
        if (lost == 0) {
            return found.rest(0, count, count) == 0 && found.rest(1, count, count) == 0 && found.rest(2, count, count) == 0 ?
                places(count, count, count) : displaced(found, shift);
        }
        for (int first = 0; first <= count; first++) {
            for (int second = lost == 1 ? count : first; second <= count; second++) {
                if (lost == 1 ? found.isLost(first) : found.areLost(first, second)) {
                    return places(count, first, second);
                }
            }
        }
        return null;
    }

    private static int[] places(final int count, final int first, final int second) {
        final int[] places = new int[count];
        for (int i = 0; i < count; i++) {
            places[i] = i + (i >= first ? 1 : 0) + (i >= second ? 1 : 0);
        }
        return places;
    }

    private static int[] displaced(final Sums found, final int shift) {
        final int count = found.received.length;
        for (int from = 0; from < count; from++) {
            for (int to = Math.max(0, from - shift); to <= Math.min(count - 1, from + shift); to++) {
                if (to != from && found.isDisplaced(from, to)) {
                    final int[] places = places(count, count, count);
                    for (int i = Math.min(from, to); i <= Math.max(from, to); i++) {
                        places[i] += to > from ? -1 : 1;
                    }
                    places[from] = to;
                    return places;
                }
            }
        }
        return null;
    }

    /** Sums over the first packets that arrived, had each moved by so many places: -1 to 2. */
    private final class Sums {
        private final long[] received;
        private final long[][][] moved;

        Sums(final long[] received) {
            this.received = received;
            moved = new long[MOST_LOST + 2][ROWS][received.length + 1];
            for (int by = -1; by <= MOST_LOST; by++) {
                for (int row = 0; row < ROWS; row++) {
                    final long[] upTo = moved[by + 1][row];
                    for (int i = 0; i < received.length; i++) {
                        upTo[i + 1] = upTo[i] + term(row, received[i], i + by);
                    }
                }
            }
        }

        private long sum(final int by, final int row, final int from, final int to) {
            return moved[by + 1][row][to] - moved[by + 1][row][from];
        }

        /** What lost packets ahead of the first and of the second of two that arrived have to add. */
        long rest(final int row, final int first, final int second) {
            return sums[row] - sum(0, row, 0, first) - sum(1, row, first, second) -
                sum(2, row, second, received.length);
        }

        boolean isLost(final int first) {
            final int none = received.length;
            return rest(1, first, none) == weight(first) * rest(0, first, none) &&
                rest(2, first, none) == weight(first) * rest(1, first, none);
        }

        boolean areLost(final int first, final int second) {
            final long low = weight(first);
            final long high = weight(second + 1);
            return rest(2, first, second) - (low + high) * rest(1, first, second) + low * high * rest(0, first, second) == 0;
        }

        boolean isDisplaced(final int from, final int to) {
            final int low = Math.min(from, to);
            final int high = Math.max(from, to) + 1;
            for (int row = 0; row < ROWS; row++) {
                final long between = to > from ? sum(-1, row, low + 1, high) : sum(1, row, low, high - 1);
                if (rest(row, received.length, received.length) !=
                    between + term(row, received[from], to) - sum(0, row, low, high)) {
                    return false;
                }
            }
            return true;
        }
    }
}
