package io.flowlag.tests.lab.comparator;

import io.flowlag.exporter.lab.LabRandom;

/**
 * The order preserving aggregator (OPA) of a group of packets, after "Every Packet Counts" (J. Wang, S. Lian, W. Dong, Y. Liu,
 * X.-Y. Li; ICNP 2014, section IV): sums of the packets' hashes, each hashed with its place, weighed by powers of the place. A
 * receiver tries what may be lost or displaced until the sums agree, and so knows the sender's place of each packet. Arithmetic
 * is modulo 2⁶⁴; instead of solving for the hashes of lost packets (the mapping equation) they are eliminated, which leaves the
 * checking equation. Of the paper's two errors a group one at most may be a displaced packet. One thread.
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
        long term = hash(digest, packets);
        for (int row = 0; row < ROWS; row++) {
            sums[row] += term;
            term *= weight(packets);
        }
        packets++;
    }

    private static long hash(final long digest, final int place) {
        return LabRandom.mix(digest + LabRandom.mix(place));
    }

    private static long weight(final int place) {
        return place + 1;
    }

    /**
     * Finds the order in which packets were sent. Time grows as the square of the packets if two are lost, or one was displaced.
     *
     * @param received digests in the order of arrival.
     * @param shift    how far one packet may have moved, in places; 0 tries none.
     * @return the sender's place of each, from 0; null if more than two are lost or nothing fits.
     */
    public int[] places(final long[] received, final int shift) {
        final int count = received.length;
        if (count > packets || count < packets - MOST_LOST) {
            return null;
        }
        int[] places = places(received, moved(count, 0, 0));
        for (int from = 0; from < count && count > packets - MOST_LOST; from++) {
            for (int to = Math.max(0, from - shift); to <= Math.min(count - 1, from + shift) && places == null; to++) {
                places = places(received, moved(count, from, to));
            }
        }
        return places;
    }

    /** Numbers in order, but one. */
    private static int[] moved(final int count, final int from, final int to) {
        final int[] order = new int[count];
        for (int i = 0; i < count; i++) {
            order[i] = i == to ? from : i >= from && i < to ? i + 1 : i <= from && i > to ? i - 1 : i;
        }
        return order;
    }

    /** Tries every loss, with the packets in an order. */
    private int[] places(final long[] received, final int[] order) {
        final int count = order.length;
        final int lost = packets - count;
        final Sums found = new Sums(received, order, lost);
        for (int first = lost == 0 ? count : 0; first <= count; first++) {
            for (int second = lost == MOST_LOST ? first : count; second <= count; second++) {
                if (found.fits(first, second)) {
                    final int[] places = new int[count];
                    for (int i = 0; i < count; i++) {
                        places[order[i]] = i + (i >= first ? 1 : 0) + (i >= second ? 1 : 0);
                    }
                    return places;
                }
            }
        }
        return null;
    }

    /** Sums over the first packets of an order, had so many been lost before each. */
    private final class Sums {
        private final long[][][] after;

        Sums(final long[] received, final int[] order, final int mostLost) {
            after = new long[MOST_LOST + 1][ROWS][order.length + 1];
            for (int lost = 0; lost <= mostLost; lost++) {
                for (int i = 0; i < order.length; i++) {
                    long term = hash(received[order[i]], i + lost);
                    for (int row = 0; row < ROWS; row++) {
                        after[lost][row][i + 1] = after[lost][row][i] + term;
                        term *= weight(i + lost);
                    }
                }
            }
        }

        /** What packets lost ahead of the first and of the second have to add. */
        private long rest(final int row, final int first, final int second) {
            return sums[row] - after[0][row][first] - (after[1][row][second] - after[1][row][first]) -
                (after[2][row][after[2][row].length - 1] - after[2][row][second]);
        }

        /** The rows less those that the lost packets' hashes need. */
        boolean fits(final int first, final int second) {
            final long one = rest(0, first, second);
            final long two = rest(1, first, second);
            final long three = rest(2, first, second);
            final int count = after[0][0].length - 1;
            final long low = weight(first);
            final long high = weight(second + 1);
            if (packets - count == MOST_LOST) {
                return three - (low + high) * two + low * high * one == 0;
            }
            return packets == count ? one == 0 && two == 0 && three == 0 : two == low * one && three == low * two;
        }
    }
}
