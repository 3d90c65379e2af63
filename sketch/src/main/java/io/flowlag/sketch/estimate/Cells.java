package io.flowlag.sketch.estimate;

import io.flowlag.sketch.image.SketchImage;

/**
 * Compares the cells of two points (LDS paper, section 2.3.2). If the sender's image is null, the receiver's is an SDS: its cells
 * hold delays and are usable as they are. Stateless, any thread; never allocates.
 */
public final class Cells {
    private Cells() {
    }

    /**
     * Whether a cell holds packets, and counts and digests agree.
     *
     * @param sender image of the sender, null for an SDS.
     * @return true if its delays can be used.
     */
    public static boolean usable(
        final SketchImage sender, final SketchImage receiver, final int row, final int column) {
        return receiver.count(row, column) > 0 && agree(sender, receiver, row, column);
    }

    /**
     * Whether counts and digests of a cell agree.
     *
     * @param sender image of the sender, null for an SDS.
     * @return true if no packet of the cell was lost or gained.
     */
    public static boolean agree(
        final SketchImage sender, final SketchImage receiver, final int row, final int column) {
        return sender == null ||
            sender.count(row, column) == receiver.count(row, column) &&
            sender.digest(row, column) == receiver.digest(row, column);
    }

    /** Whether one point at least counted a packet in a cell; the sender's image is null for an SDS. */
    public static boolean occupied(
        final SketchImage sender, final SketchImage receiver, final int row, final int column) {
        return receiver.count(row, column) != 0 || sender != null && sender.count(row, column) != 0;
    }

    /**
     * Sum of the weighted delays of a usable cell's packets: exact, since timestamp sums are modulo 2^64 and the sum of
     * delays fits.
     *
     * @param sender image of the sender, null for an SDS.
     * @return ns, signed.
     */
    public static long delaySumNs(
        final SketchImage sender, final SketchImage receiver, final int row, final int column) {
        final long sentNs = sender == null ? 0 : sender.timestampSumNs(row, column);
        return receiver.timestampSumNs(row, column) - sentNs;
    }
}
