package io.flowlag.exporter.delay.interval.records;

/**
 * Packets that arrived in the first W of an interval, or in the last G before it. The sender's digests decide whether they belong
 * to it or to the previous interval. One thread. Allocates at construction.
 */
public final class HeldPackets {
    /** Octets of a packet. */
    public static final int PACKET_BYTES = 3 * Long.BYTES + 4 * Integer.BYTES;
    /** Octets of a packet's estimate, where estimates are kept. */
    public static final int ESTIMATE_BYTES = 3 * Long.BYTES + Float.BYTES;

    private static final long NO_ESTIMATE = Long.MIN_VALUE;

    private final long[] flowHashes;
    private final long[] digests;
    private final long[] timestampsNs;
    private final int[] lengthsBytes;
    private final int[] classIndexes;
    private final int[] weights;
    private final int[] records;
    private final long[] tickets;
    private final long[] estimatesNs;
    private final long[] spanNumbers;
    private final float[] errorScalesNs;
    private int count;

    /** Creates an empty buffer, with or without room for delay estimates of the packets. */
    public HeldPackets(final int capacity, final boolean hasEstimates) {
        tickets = new long[hasEstimates ? capacity : 0];
        estimatesNs = new long[hasEstimates ? capacity : 0];
        spanNumbers = new long[estimatesNs.length];
        errorScalesNs = new float[estimatesNs.length];
        flowHashes = new long[capacity];
        digests = new long[capacity];
        timestampsNs = new long[capacity];
        lengthsBytes = new int[capacity];
        classIndexes = new int[capacity];
        weights = new int[capacity];
        records = new int[capacity];
    }

    public void clear() {
        count = 0;
    }

    public int count() {
        return count;
    }

    /** {@return whether there was room} */
    public boolean add(final SketchedPacket packet) {
        if (count == digests.length) {
            return false;
        }
        timestampsNs[count] = packet.timestampNs();
        flowHashes[count] = packet.flowHash();
        digests[count] = packet.digest();
        lengthsBytes[count] = packet.lengthBytes();
        classIndexes[count] = packet.classIndex();
        weights[count] = packet.weight();
        records[count++] = packet.record();
        return true;
    }

    /** Reads a packet into a flyweight, and returns it. */
    public SketchedPacket read(final int index, final SketchedPacket packet) {
        return packet.set(
            timestampsNs[index], flowHashes[index], digests[index], lengthsBytes[index], classIndexes[index], weights[index])
            .record(records[index]);
    }

    /** Sets the ticket of the packet added last, by which its estimate finds it. */
    public void ticket(final long ticket) {
        tickets[count - 1] = ticket;
        estimatesNs[count - 1] = NO_ESTIMATE;
    }

    public long ticket(final int index) {
        return tickets[index];
    }

    public void estimate(final int index, final long delayNs, final long spanNumber, final float errorScaleNs) {
        estimatesNs[index] = delayNs;
        spanNumbers[index] = spanNumber;
        errorScalesNs[index] = errorScaleNs;
    }

    public boolean hasEstimate(final int index) {
        return estimatesNs[index] != NO_ESTIMATE;
    }

    public long estimateNs(final int index) {
        return estimatesNs[index];
    }

    public long spanNumber(final int index) {
        return spanNumbers[index];
    }

    public float errorScaleNs(final int index) {
        return errorScalesNs[index];
    }

    public long timestampNs(final int index) {
        return timestampsNs[index];
    }

    public long digest(final int index) {
        return digests[index];
    }

    public void digest(final int index, final long digest) {
        digests[index] = digest;
    }

    public int record(final int index) {
        return records[index];
    }
}
