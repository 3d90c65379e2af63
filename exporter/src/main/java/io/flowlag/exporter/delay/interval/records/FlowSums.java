package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.hash.SecretPlace;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.interval.repair.FlowKeyTable;
import org.agrona.BitUtil;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

/**
 * Sums of each flow of an interval at one point: packets, timestamps, digests, octets. If count and digest sum agree at both
 * points, the difference of the timestamp sums is the exact sum of the packets' delays; {@link FlowSumPairs} compares them. A
 * flow is a segment flow hash, 64 bits under the key of the segment. The table holds all flows, or those that could be witnesses.
 * <p>
 * The table is bounded. A flow without room has no sums in the interval, and {@link #overflowPackets} counts its packets. Flows
 * in the table are complete. If the table has addresses, packets of another flow with the same hash count as overflow too.
 * <pre>
 *   0  flowHash            8
 *   8  packets             8
 *  16  timestampSumNs      8   sum of (timestamp - interval's start), modulo 2^64
 *  24  digestSum           8   sum of packet digests, modulo 2^64: independent of the order; always differs if one packet
 *                              was swapped for another
 *  32  bytes               8
 *  40  5-tuple            38   see {@link FlowKeyLayout}; ports are 0 for fragments, all is 0 without addresses
 *  78  class               2
 * </pre>
 * One thread at a time. Allocates at construction, off the heap; never per packet.
 */
public final class FlowSums implements FlowKeyTable {
    /** Row of an absent flow. */
    public static final int NONE = -1;
    /** The largest table. */
    public static final int MAX_CAPACITY = 1 << 24;

    private static final int FLOW_HASH_OFFSET = 0;
    private static final int PACKETS_OFFSET = FLOW_HASH_OFFSET + 8;
    private static final int TIMESTAMP_SUM_OFFSET = PACKETS_OFFSET + 8;
    private static final int DIGEST_SUM_OFFSET = TIMESTAMP_SUM_OFFSET + 8;
    private static final int BYTES_OFFSET = DIGEST_SUM_OFFSET + 8;
    private static final int KEY_OFFSET = BYTES_OFFSET + 8;
    private static final int CLASS_OFFSET = KEY_OFFSET + FlowKeyLayout.TUPLE_LENGTH_BYTES;
    private static final int LENGTH_BYTES = CLASS_OFFSET + 2;

    private static final int CLASS_MASK = 0xFFFF;
    private static final SharedSampling ALL_FLOWS = new SharedSampling(0, 0, SharedSampling.PPM);

    private final int capacity;
    private final SharedSampling sampling;
    private final boolean isOfAll;
    private final OffHeapBuffer rows;
    private final OffHeapBuffer index;
    private final int mask;
    private int count;
    private int keptCount;
    private long overflowPackets;

    private FlowSums(final int capacity, final SharedSampling sampling, final boolean isOfAll) {
        this.capacity = capacity;
        this.sampling = sampling;
        this.isOfAll = isOfAll;
        rows = OffHeapBuffer.allocateUntouched(Math.multiplyExact(Math.max(1, capacity), LENGTH_BYTES));
        index = OffHeapBuffer.allocateZeroed((int)indexLength(capacity) * Integer.BYTES);
        mask = (int)indexLength(capacity) - 1;
    }

    /** Creates a table of all flows, each a witness; one with room for none stays empty. */
    public static FlowSums ofAll(final int capacity) {
        return new FlowSums(capacity, ALL_FLOWS, true);
    }

    /** Creates a table of the flows that could be witnesses: the same at both points, which share the sampling. */
    public static FlowSums ofWitnesses(final int capacity, final SharedSampling sampling) {
        return new FlowSums(capacity, sampling, false);
    }

    /** Creates a table of all flows that distinguishes witnesses from others, to check bounds. */
    public static FlowSums ofAllWithWitnesses(final int capacity, final SharedSampling sampling) {
        return new FlowSums(capacity, sampling, true);
    }

    /** Memory, by formula. Returns octets. */
    public static long memoryBytes(final int capacity) {
        return (long)Math.max(1, capacity) * LENGTH_BYTES + indexLength(capacity) * Integer.BYTES;
    }

    /** {@return whether there is room for flows; without it, none are wanted} */
    public boolean keepsFlows() {
        return capacity > 0;
    }

    /** Clears the table. */
    public void clear() {
        index.setMemory(0, index.capacity(), (byte)0);
        count = 0;
        keptCount = 0;
        overflowPackets = 0;
    }

    /** Frees the memory at once; the table must not be used afterwards. */
    public void free() {
        rows.free();
        index.free();
    }

    /**
     * Prefetches the data that {@link #add} of a packet needs. Changes nothing. Returns what was read; the caller must keep it,
     * or the compiler removes the reads.
     */
    public long touch(final long flowHash) {
        if (!isOfAll && !sampling.isKept(flowHash)) {
            return 0;
        }
        final int row = rowAt(SecretPlace.of(flowHash, mask));
        return row < 0 ? row : packets(row);
    }

    /**
     * Adds a packet; ignores it if the sample excludes its flow. The flow has the class of its first packet.
     *
     * @param relativeNs its timestamp minus the interval's start.
     */
    public void add(final SketchedPacket packet, final long relativeNs) {
        final long flowHash = packet.flowHash();
        if (!isOfAll && !sampling.isKept(flowHash)) {
            return;
        }
        final DirectBuffer descriptor = packet.descriptor();
        final int place = place(flowHash);
        int row = rowAt(place);
        if (row < 0) {
            if (count == capacity) {
                overflowPackets++;
                return;
            }
            row = append(place, flowHash);
            if (descriptor != null) {
                key(row, descriptor, packet.offset());
            }
            classIndex(row, packet.classIndex());
        } else if (descriptor != null && !isKey(row, descriptor, packet.offset())) {
            overflowPackets++;
            return;
        }
        addSums(row, 1, relativeNs, packet.digest(), packet.lengthBytes());
    }

    private void addSums(
        final int row, final long packets, final long timestampSumNs, final long digestSum, final long bytes) {
        final int at = at(row);
        addLong(at + PACKETS_OFFSET, packets);
        addLong(at + TIMESTAMP_SUM_OFFSET, timestampSumNs);
        addLong(at + DIGEST_SUM_OFFSET, digestSum);
        addLong(at + BYTES_OFFSET, bytes);
    }

    /**
     * Adds a flow with the sums of another point, without its addresses. A flow that is already present or finds no room counts
     * as overflow.
     *
     * @param packets        at least 1.
     * @param timestampSumNs relative to the interval's start, modulo 2^64.
     * @param digestSum      modulo 2^64.
     * @return its row; {@link #NONE} if it was not added.
     */
    public int put(
        final long flowHash, final long packets, final long timestampSumNs, final long digestSum, final long bytes) {
        final int place = place(flowHash);
        if (rowAt(place) != NONE || count == capacity) {
            overflowPackets += packets;
            return NONE;
        }
        final int row = append(place, flowHash);
        addSums(row, packets, timestampSumNs, digestSum, bytes);
        return row;
    }

    /** Adds the packets of another table of this point and interval; those of a flow without room count as overflow. */
    public void add(final FlowSums other) {
        overflowPackets += other.overflowPackets;
        for (int from = 0; from < other.count; from++) {
            int row = find(other.flowHash(from));
            if (row != NONE) {
                addSums(row, other.packets(from), other.timestampSumNs(from), other.digestSum(from), other.bytes(from));
                continue;
            }
            row = put(other.flowHash(from), other.packets(from), other.timestampSumNs(from), other.digestSum(from),
                other.bytes(from));
            if (row != NONE) {
                key(row, other, from);
                classIndex(row, other.classIndex(from));
            }
        }
    }

    /** Adds to a flow's packet count. */
    public void addPackets(final int row, final long packets) {
        addLong(at(row) + PACKETS_OFFSET, packets);
    }

    /**
     * Moves all packets in time: one at t, since the interval's start, is then at t + offset + rate · t. The sums are right to
     * a nanosecond while they are below 2^63.
     */
    public void retime(final long offsetNs, final double rate) {
        for (int row = 0; row < count; row++) {
            final int at = at(row);
            addLong(at + TIMESTAMP_SUM_OFFSET, packets(row) * offsetNs + Math.round(rate * timestampSumNs(row)));
        }
    }

    /**
     * Subtracts packets that only this point has, with sums as those of {@link #put}. Does nothing if the flow is absent or
     * has fewer.
     */
    public void subtract(
        final long flowHash, final long packets, final long timestampSumNs, final long digestSum, final long bytes) {
        final int row = find(flowHash);
        if (row != NONE && packets(row) >= packets) {
            addSums(row, -packets, -timestampSumNs, -digestSum, -bytes);
        }
    }

    /** Sets the key of a row, in {@link FlowKeyLayout}; ports do not count with {@link PacketDescriptor#FLAG_FRAGMENT}. */
    public void key(final int row, final DirectBuffer key, final int offset) {
        FlowKeyLayout.copyTuple(rows, keyAt(row), key, offset);
        FlowKeyLayout.ports(rows, keyAt(row), ports(key, offset));
    }

    /** Sets the key of a row to that of a row of another table. */
    public void key(final int row, final FlowSums other, final int otherRow) {
        other.copyKey(otherRow, rows, keyAt(row));
    }

    @Override
    public void copyKey(final int row, final MutableDirectBuffer buffer, final int offset) {
        FlowKeyLayout.copyTuple(buffer, offset, rows, keyAt(row));
    }

    /** Sets the traffic class of a row's flow, that of its first packet. */
    public void classIndex(final int row, final int classIndex) {
        rows.putShort(at(row) + CLASS_OFFSET, (short)classIndex);
    }

    @Override
    public int classIndex(final int row) {
        return rows.getShort(at(row) + CLASS_OFFSET) & CLASS_MASK;
    }

    /** {@return number of flows; rows begin at 0, in the order of their first packets} */
    public int count() {
        return count;
    }

    @Override
    public long overflowPackets() {
        return overflowPackets;
    }

    @Override
    public int find(final long flowHash) {
        return rowAt(place(flowHash));
    }

    /** Whether a flow is a witness, by its size at the sender. */
    public boolean isWitness(final int row) {
        return sampling.isWitness(flowHash(row), packets(row), sampling.sharePpm(keptCount));
    }

    /** Reads the segment flow hash. Returns 64 bits. */
    public long flowHash(final int row) {
        return rows.getLong(at(row) + FLOW_HASH_OFFSET);
    }

    @Override
    public long packets(final int row) {
        return rows.getLong(at(row) + PACKETS_OFFSET);
    }

    /** Reads the sum of timestamps. Returns ns relative to the interval's start, modulo 2^64. */
    public long timestampSumNs(final int row) {
        return rows.getLong(at(row) + TIMESTAMP_SUM_OFFSET);
    }

    /** Reads the sum of packet digests, modulo 2^64. */
    public long digestSum(final int row) {
        return rows.getLong(at(row) + DIGEST_SUM_OFFSET);
    }

    /** Reads the octets of the packets. */
    public long bytes(final int row) {
        return rows.getLong(at(row) + BYTES_OFFSET);
    }

    @Override
    public int ipVersion(final int row) {
        return FlowKeyLayout.ipVersion(rows, keyAt(row));
    }

    public int protocol(final int row) {
        return FlowKeyLayout.protocol(rows, keyAt(row));
    }

    public int sourcePort(final int row) {
        return FlowKeyLayout.sourcePort(rows, keyAt(row));
    }

    public int destinationPort(final int row) {
        return FlowKeyLayout.destinationPort(rows, keyAt(row));
    }

    public long sourceHigh(final int row) {
        return FlowKeyLayout.sourceHigh(rows, keyAt(row));
    }

    public long sourceLow(final int row) {
        return FlowKeyLayout.sourceLow(rows, keyAt(row));
    }

    public long destinationHigh(final int row) {
        return FlowKeyLayout.destinationHigh(rows, keyAt(row));
    }

    public long destinationLow(final int row) {
        return FlowKeyLayout.destinationLow(rows, keyAt(row));
    }

    private boolean isKey(final int row, final DirectBuffer descriptor, final int offset) {
        final int at = keyAt(row);
        return FlowKeyLayout.ports(rows, at) == ports(descriptor, offset) &&
            FlowKeyLayout.isSameHosts(rows, at, descriptor, offset);
    }

    private static int ports(final DirectBuffer descriptor, final int offset) {
        return (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_FRAGMENT) != 0 ? 0 :
            FlowKeyLayout.ports(descriptor, offset);
    }

    private static int keyAt(final int row) {
        return at(row) + KEY_OFFSET;
    }

    private int append(final int place, final long flowHash) {
        final int row = count++;
        index.putInt(place * Integer.BYTES, count);
        keptCount += sampling.isKept(flowHash) ? 1 : 0;
        rows.setMemory(at(row), LENGTH_BYTES, (byte)0);
        rows.putLong(at(row) + FLOW_HASH_OFFSET, flowHash);
        return row;
    }

    private int place(final long flowHash) {
        int place = SecretPlace.of(flowHash, mask);
        while (rowAt(place) != NONE && flowHash(rowAt(place)) != flowHash) {
            place = place + 1 & mask;
        }
        return place;
    }

    private int rowAt(final int place) {
        return index.getInt(place * Integer.BYTES) - 1;
    }

    private void addLong(final int at, final long amount) {
        rows.putLong(at, rows.getLong(at) + amount);
    }

    private static int at(final int row) {
        return row * LENGTH_BYTES;
    }

    private static long indexLength(final int capacity) {
        return BitUtil.findNextPositivePowerOfTwo(2L * Math.max(1, capacity));
    }
}
