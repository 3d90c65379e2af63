package io.flowlag.rli.receiver;

import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The regular packets that wait for their right reference (RLI paper, section III-B2), oldest first, in a ring of fixed size:
 * <pre>
 *   0  arrivalNs        8
 *   8  intervalNumber   8
 *  16  slot             4
 *  20  generation       4
 *  24  lengthBytes      4
 *  28  classIndex       4
 * </pre>
 * In the byte order of the machine. When the ring is empty, the next packet starts at its beginning, so short waits reuse the
 * same cached memory. All accesses lie within the ring, so they are not checked individually. One thread. Allocates at
 * construction.
 */
final class InterpolationBuffer {
    static final int ENTRY_LENGTH_BYTES = 32;
    static final int MAXIMUM_PACKETS = 1 << 25;

    private static final int ARRIVAL_NS_OFFSET = 0;
    private static final int INTERVAL_NUMBER_OFFSET = ARRIVAL_NS_OFFSET + 8;
    private static final int SLOT_OFFSET = INTERVAL_NUMBER_OFFSET + 8;
    private static final int GENERATION_OFFSET = SLOT_OFFSET + 4;
    private static final int LENGTH_BYTES_OFFSET = GENERATION_OFFSET + 4;
    private static final int CLASS_INDEX_OFFSET = LENGTH_BYTES_OFFSET + 4;

    /** Keeps the memory. */
    private final UnsafeBuffer entries;
    private final long address;
    private final int capacity;
    private final int mask;
    private long head;
    private long tail;

    InterpolationBuffer(final int packets) {
        capacity = BitUtil.findNextPositivePowerOfTwo(packets);
        mask = capacity - 1;
        entries = new UnsafeBuffer(BufferUtil.allocateDirectAligned(capacity * ENTRY_LENGTH_BYTES, CACHE_LINE_LENGTH));
        address = entries.addressOffset();
    }

    /** {@return octets off the heap of a buffer of so many packets} */
    static long memoryBytes(final int packets) {
        return (long)BitUtil.findNextPositivePowerOfTwo(packets) * ENTRY_LENGTH_BYTES;
    }

    boolean offer(
        final int slot, final int generation, final int classIndex, final long intervalNumber, final int lengthBytes,
        final long arrivalNs) {
        if (tail - head == capacity) {
            return false;
        }
        final long entry = entry(tail++);
        UnsafeApi.putLong(entry + ARRIVAL_NS_OFFSET, arrivalNs);
        UnsafeApi.putLong(entry + INTERVAL_NUMBER_OFFSET, intervalNumber);
        UnsafeApi.putInt(entry + SLOT_OFFSET, slot);
        UnsafeApi.putInt(entry + GENERATION_OFFSET, generation);
        UnsafeApi.putInt(entry + LENGTH_BYTES_OFFSET, lengthBytes);
        UnsafeApi.putInt(entry + CLASS_INDEX_OFFSET, classIndex);
        return true;
    }

    /** {@return whether so many packets fit} */
    boolean hasRoom(final int packets) {
        return packets <= capacity - (tail - head);
    }

    int size() {
        return (int)(tail - head);
    }

    /** {@return number of the oldest packets, up to a limit, before the first that arrived later} */
    int countUpTo(final long upToNs, final int limit) {
        final int most = (int)Math.min(limit, tail - head);
        int count = 0;
        while (count < most && arrivalNs(count) <= upToNs) {
            count++;
        }
        return count;
    }

    /** Removes the oldest packets. */
    void poll(final int count) {
        head += count;
        if (head == tail) {
            head = 0;
            tail = 0;
        }
    }

    private long entry(final long position) {
        return address + ((int)position & mask) * ENTRY_LENGTH_BYTES;
    }

    long arrivalNs(final int index) {
        return UnsafeApi.getLong(entry(head + index) + ARRIVAL_NS_OFFSET);
    }

    long intervalNumber(final int index) {
        return UnsafeApi.getLong(entry(head + index) + INTERVAL_NUMBER_OFFSET);
    }

    int slot(final int index) {
        return UnsafeApi.getInt(entry(head + index) + SLOT_OFFSET);
    }

    int generation(final int index) {
        return UnsafeApi.getInt(entry(head + index) + GENERATION_OFFSET);
    }

    int lengthBytes(final int index) {
        return UnsafeApi.getInt(entry(head + index) + LENGTH_BYTES_OFFSET);
    }

    int classIndex(final int index) {
        return UnsafeApi.getInt(entry(head + index) + CLASS_INDEX_OFFSET);
    }
}
