package io.flowlag.exporter.delay.interval.records;

/**
 * Packets of the receiver point, field by field, which are gathered together. One thread. Allocates at construction.
 */
public final class ReceivedPackets {
    /** Of a packet that is in no sketch. */
    public static final long NO_TICKET = -1;

    private final long[] timestampsNs;
    private final long[] digests;
    private final int[] lengthsBytes;
    private final int[] classIndexes;
    private final int[] weights;
    private final int[] records;
    private final long[] tickets;
    private int count;

    /**
     * No packet.
     *
     * @param limit how many fit.
     */
    public ReceivedPackets(final int limit) {
        timestampsNs = new long[limit];
        digests = new long[limit];
        lengthsBytes = new int[limit];
        classIndexes = new int[limit];
        weights = new int[limit];
        records = new int[limit];
        tickets = new long[limit];
    }

    /**
     * The memory of packets, by formula.
     *
     * @param limit how many fit.
     * @return octets.
     */
    public static long memoryBytes(final int limit) {
        return (long)limit * (3 * Long.BYTES + 4 * Integer.BYTES);
    }

    /** Lets all packets go. */
    public void clear() {
        count = 0;
    }

    /** Adds a packet. */
    public void add(
        final long timestampNs, final long digest, final int lengthBytes, final int classIndex, final int weight,
        final int record) {
        timestampsNs[count] = timestampNs;
        digests[count] = digest;
        lengthsBytes[count] = lengthBytes;
        classIndexes[count] = classIndex;
        weights[count] = weight;
        records[count] = record;
        tickets[count] = NO_TICKET;
        count++;
    }

    /** How many there are. */
    public int count() {
        return count;
    }

    /**
     * What an estimate of a packet's delay has to carry.
     *
     * @param index of a packet that was gathered.
     */
    public long ticket(final int index) {
        return tickets[index];
    }

    public int weight(final int index) {
        return weights[index];
    }

    public long timestampNs(final int index) {
        return timestampsNs[index];
    }

    public long[] timestampsNs() {
        return timestampsNs;
    }

    public long digest(final int index) {
        return digests[index];
    }

    public long[] digests() {
        return digests;
    }

    public int lengthBytes(final int index) {
        return lengthsBytes[index];
    }

    public int[] lengthsBytes() {
        return lengthsBytes;
    }

    public int classIndex(final int index) {
        return classIndexes[index];
    }

    public int record(final int index) {
        return records[index];
    }

    public void ticket(final int index, final long ticket) {
        tickets[index] = ticket;
    }
}
