package io.flowlag.exporter.delay.interval.records;

/** A batch of the receiver point's packets to be gathered, one array for each field. One thread. Allocates at construction. */
public final class ReceivedPackets {
    /** Ticket of a packet that is in no sketch. */
    public static final long NO_TICKET = -1;

    private final long[] timestampsNs;
    private final long[] digests;
    private final int[] lengthsBytes;
    private final int[] classIndexes;
    private final int[] weights;
    private final int[] records;
    private final long[] tickets;
    private int count;

    /** Creates an empty batch for at most so many packets. */
    public ReceivedPackets(final int limit) {
        timestampsNs = new long[limit];
        digests = new long[limit];
        lengthsBytes = new int[limit];
        classIndexes = new int[limit];
        weights = new int[limit];
        records = new int[limit];
        tickets = new long[limit];
    }

    /** {@return octets of a batch, by formula} */
    public static long memoryBytes(final int limit) {
        return (long)limit * (3 * Long.BYTES + 4 * Integer.BYTES);
    }

    public void clear() {
        count = 0;
    }

    /** Adds a packet without a ticket. */
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

    public int count() {
        return count;
    }

    /** Reads a packet into a flyweight, with the flow hash of its record, and returns it. */
    public SketchedPacket read(final int index, final SketchRecords table, final SketchedPacket packet) {
        return packet.set(
            timestampsNs[index], table.flowHash(records[index]), digests[index], lengthsBytes[index], classIndexes[index],
            weights[index]).record(records[index]);
    }

    /** {@return the ticket for an estimate of a packet's delay} */
    public long ticket(final int index) {
        return tickets[index];
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
