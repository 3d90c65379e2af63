package io.flowlag.exporter.sketching;

/**
 * Packets that arrived in the first W of an interval: whether they belong to it or to the one before is known when the sender's
 * digests are there. One thread. Allocates at construction.
 */
final class HeldPackets {
    /** Octets of a packet here. */
    static final int PACKET_BYTES = 3 * Long.BYTES + 4 * Integer.BYTES;

    private final long[] flowHashes;
    private final long[] digests;
    private final long[] timestampsNs;
    private final int[] lengthsBytes;
    private final int[] classIndexes;
    private final int[] weights;
    private final int[] records;
    private int count;

    HeldPackets(final int capacity) {
        flowHashes = new long[capacity];
        digests = new long[capacity];
        timestampsNs = new long[capacity];
        lengthsBytes = new int[capacity];
        classIndexes = new int[capacity];
        weights = new int[capacity];
        records = new int[capacity];
    }

    void clear() {
        count = 0;
    }

    int count() {
        return count;
    }

    /** {@return whether there was room} */
    boolean add(
        final long timestampNs, final long flowHash, final long digest, final int lengthBytes, final int classIndex,
        final int weight, final int record) {
        if (count == digests.length) {
            return false;
        }
        timestampsNs[count] = timestampNs;
        flowHashes[count] = flowHash;
        digests[count] = digest;
        lengthsBytes[count] = lengthBytes;
        classIndexes[count] = classIndex;
        weights[count] = weight;
        records[count++] = record;
        return true;
    }

    long timestampNs(final int index) {
        return timestampsNs[index];
    }

    long flowHash(final int index) {
        return flowHashes[index];
    }

    long digest(final int index) {
        return digests[index];
    }

    int lengthBytes(final int index) {
        return lengthsBytes[index];
    }

    int classIndex(final int index) {
        return classIndexes[index];
    }

    int weight(final int index) {
        return weights[index];
    }

    int record(final int index) {
        return records[index];
    }
}
