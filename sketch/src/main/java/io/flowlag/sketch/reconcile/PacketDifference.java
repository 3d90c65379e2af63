package io.flowlag.sketch.reconcile;

/**
 * The decoded difference of two points: items that are lost (only the sender has them) or reordered (only the receiver has them).
 * Filled by a decoder, reused. Belongs to the decoding thread; allocates at construction.
 */
public final class PacketDifference {
    final long[] identifiers;
    final int[] signedCopies;
    int size;
    int undecodedCells;

    PacketDifference(final int capacity) {
        identifiers = new long[capacity];
        signedCopies = new int[capacity];
    }

    /** How many items are listed. */
    public int size() {
        return size;
    }

    /** The packet of an item. Returns its identifier: the packet's, not the group's. */
    public long identifier(final int index) {
        return identifiers[index];
    }

    /** How many packets of this identifier the one point saw. Returns count, at least 1. */
    public int copies(final int index) {
        return Math.abs(signedCopies[index]);
    }

    /** Which point has the item. Returns true if only the sender has it, false if only the receiver. */
    public boolean lost(final int index) {
        return signedCopies[index] < 0;
    }

    /** Whether all of the difference is listed. Returns true if no cell is left that differs. */
    public boolean complete() {
        return undecodedCells == 0;
    }

    /** Cells, of all banks, that still differ: they hold items that could not be decoded. */
    public int undecodedCells() {
        return undecodedCells;
    }

    /** Becomes a copy of the list of a decoder of the same capacity. */
    public void set(final PacketDifference other) {
        size = other.size;
        undecodedCells = other.undecodedCells;
        System.arraycopy(other.identifiers, 0, identifiers, 0, size);
        System.arraycopy(other.signedCopies, 0, signedCopies, 0, size);
    }

    /** Forgets every item. */
    public void clear() {
        size = 0;
        undecodedCells = 0;
    }

    void add(final long identifier, final int copies) {
        identifiers[size] = identifier;
        signedCopies[size] = copies;
        size++;
    }
}
