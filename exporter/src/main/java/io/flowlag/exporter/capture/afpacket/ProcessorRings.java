package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CapturedPacket;

import java.nio.ByteOrder;
import java.util.Arrays;

import static io.flowlag.exporter.capture.afpacket.ProcessorLayout.*;

/**
 * Reads the rings of all processors, merged by time: a record is shown when no ring has an earlier one. Times may still differ
 * from the order by as long as a processor takes from a record's time to its publication.
 * <p>
 * Nothing in the memory is trusted: where a number cannot be, the rest of that ring is skipped and counted as lost. One thread;
 * allocates at construction only.
 */
final class ProcessorRings {
    private static final int NONE = -1;
    /** Memory is given back in parts, as the processor that fills the ring reads the tail for each packet. */
    private static final int TAILS_PER_RING = 16;
    private static final int VLAN_TAG_LENGTH_BYTES = 4;
    /** More than the kernel's longest packet. */
    private static final int MAX_WIRE_BYTES = 1 << 24;
    /** Of times: {@link io.flowlag.exporter.capture.PacketSource#MAX_TIMESTAMP_NS} less what is added to them. */
    private static final long MAX_TIME_NS = 1L << 61;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final CheckedBuffer memory;
    private final int mostBytes;
    private final int ringBytes;
    private final int strideBytes;
    /** Of the next record of each ring. */
    private final long[] positions;
    private final long[] tails;
    /** {@link Long#MAX_VALUE} if there is none. */
    private final long[] timesNs;
    private final int[] capturedBytes;
    private final int[] wireBytes;
    /** Heads, as read before {@link #ends}: what is earlier than a record before them lies before the ends. */
    private final long[] limits;
    private final long[] ends;
    private final long[] readCounts;
    private int current = NONE;
    /** The earliest next record of the other rings. */
    private long othersNs;
    private long refusedCount;

    /** A reader of so many rings in the memory, which are empty. */
    ProcessorRings(final CheckedBuffer memory, final int processorCount, final int ringBytes, final int mostBytes) {
        this.memory = memory;
        this.mostBytes = mostBytes;
        this.ringBytes = ringBytes;
        strideBytes = strideBytes(ringBytes, mostBytes);
        positions = new long[processorCount];
        tails = new long[processorCount];
        timesNs = new long[processorCount];
        Arrays.fill(timesNs, Long.MAX_VALUE);
        capturedBytes = new int[processorCount];
        wireBytes = new int[processorCount];
        limits = new long[processorCount];
        ends = new long[processorCount];
        readCounts = new long[processorCount];
    }

    /** Goes to the next record, and gives back the memory of those before it. Returns whether there is one. */
    boolean advance() {
        if (current != NONE) {
            positions[current] = next(positions[current], ringBytes, capturedBytes[current]);
            readCounts[current]++;
            if (positions[current] - tails[current] > ringBytes / TAILS_PER_RING) {
                release(current);
            }
            look(current);
            if (timesNs[current] <= othersNs && positions[current] < limits[current]) {
                return true;
            }
        }
        chooseEarliest();
        while (current == NONE || positions[current] >= limits[current]) {
            if (!refill()) {
                current = NONE;
                return false;
            }
            chooseEarliest();
        }
        return true;
    }

    private void chooseEarliest() {
        current = NONE;
        othersNs = Long.MAX_VALUE;
        long earliestNs = Long.MAX_VALUE;
        for (int i = 0; i < timesNs.length; i++) {
            if (timesNs[i] < earliestNs) {
                othersNs = earliestNs;
                earliestNs = timesNs[i];
                current = i;
            } else {
                othersNs = Math.min(othersNs, timesNs[i]);
            }
        }
    }

    /** Gives back what was read, and reads all heads twice. Returns whether there is a record that may be shown. */
    private boolean refill() {
        for (int i = 0; i < positions.length; i++) {
            release(i);
            limits[i] = head(i);
        }
        boolean hasAny = false;
        for (int i = 0; i < positions.length; i++) {
            ends[i] = head(i);
            enter(i);
            hasAny |= positions[i] < limits[i];
        }
        return hasAny;
    }

    private void release(final int ring) {
        tails[ring] = positions[ring];
        memory.putLongRelease(ring * strideBytes + TAIL_OFFSET, positions[ring]);
    }

    private long head(final int ring) {
        return memory.getLongAcquire(ring * strideBytes + HEAD_OFFSET);
    }

    private long base(final int ring) {
        return memory.getLong(ring * strideBytes + BASE_OFFSET, ORDER);
    }

    /** Goes to where the program began again, if it did, and to the first record. */
    private void enter(final int ring) {
        final long end = ends[ring];
        if (end != positions[ring]) {
            final long base = base(ring);
            if (base > positions[ring] && base <= end && (base & ringBytes - 1) == 0) {
                positions[ring] = base;
            }
            final long distance = end - positions[ring];
            if (distance <= 0 || distance > ringBytes || (positions[ring] & 7) != 0) {
                refuse(ring);
            }
        }
        look(ring);
    }

    private void look(final int ring) {
        if (positions[ring] == ends[ring]) {
            timesNs[ring] = Long.MAX_VALUE;
            return;
        }
        final int at = record(ring);
        final int captured = memory.getInt(at + CAPTURED_LENGTH_OFFSET, ORDER);
        final int wire = memory.getInt(at + LENGTH_OFFSET, ORDER);
        final long timeNs = memory.getLong(at + TIME_OFFSET, ORDER);
        final boolean isPossible = captured > 0 && captured <= mostBytes && wire >= captured && wire <= MAX_WIRE_BYTES &&
            timeNs >= 0 && timeNs < MAX_TIME_NS && next(positions[ring], ringBytes, captured) <= ends[ring];
        capturedBytes[ring] = captured;
        wireBytes[ring] = wire;
        timesNs[ring] = timeNs;
        if (!isPossible) {
            refuse(ring);
            timesNs[ring] = Long.MAX_VALUE;
        }
    }

    /** Skips what a ring has: by the program's count, as far as that can be. */
    private void refuse(final int ring) {
        final long written = memory.getLongAcquire(ring * strideBytes + WRITTEN_OFFSET);
        refusedCount += Math.max(1, Math.min(ringBytes / recordBytes(1), written - readCounts[ring]));
        readCounts[ring] = written;
        positions[ring] = ends[ring];
    }

    private int record(final int ring) {
        return ring * strideBytes + RECORDS_OFFSET + ((int)positions[ring] & ringBytes - 8);
    }

    /** Shows the record that {@link #advance} went to; to its time the offset is added. */
    void show(final CapturedPacket packet, final long offsetNs) {
        final int at = record(current);
        final boolean isTagged = memory.getByte(at + VLAN_PRESENT_OFFSET) != 0;
        packet.set(at + OCTETS_OFFSET, capturedBytes[current], wireBytes[current] + (isTagged ? VLAN_TAG_LENGTH_BYTES : 0),
            timesNs[current] + offsetNs);
        packet.vlanTag(!isTagged ? CapturedPacket.NO_VLAN_TAG :
            (memory.getShort(at + VLAN_TPID_OFFSET, ByteOrder.BIG_ENDIAN) & 0xffff) << Short.SIZE |
            memory.getShort(at + VLAN_TCI_OFFSET, ORDER) & 0xffff);
    }

    /** {@return the packet type of that record} */
    int packetType() {
        return memory.getByte(record(current) + PACKET_TYPE_OFFSET);
    }

    /** {@return octets of the records of all rings that are not read yet, by their heads; 0 if there is none} */
    long unreadBytes() {
        long bytes = 0;
        for (int i = 0; i < positions.length; i++) {
            final long head = head(i);
            bytes += head == positions[i] ? 0 : Math.max(1, head - Math.max(positions[i], base(i)));
        }
        return bytes;
    }

    /** {@return packets lost so far: for want of room, on a processor without a ring, or refused here} */
    long lostCount() {
        long count = refusedCount + memory.getLong(OTHERS_LOST_OFFSET, ORDER);
        for (int i = 0; i < positions.length; i++) {
            count += memory.getLong(i * strideBytes + LOST_OFFSET, ORDER);
        }
        return count;
    }
}
