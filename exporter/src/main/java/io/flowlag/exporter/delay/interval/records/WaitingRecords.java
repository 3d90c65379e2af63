package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.memory.OffHeapBuffer;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.List;

/**
 * Copies of the records of ended flows, off the heap, while they wait. One thread. Allocates at construction; the system commits
 * memory only for records that arrive.
 */
final class WaitingRecords {
    /** No place: there is no room. */
    static final int NONE = -1;

    private static final int CHUNK_RECORDS = 1024;

    private final int lengthBytes;
    private final List<UnsafeBuffer> chunks = new ArrayList<>();
    private final int[] free;
    private int freeCount;

    /** Creates an empty store. */
    WaitingRecords(final int capacity, final int lengthBytes) {
        this.lengthBytes = lengthBytes;
        for (int i = 0; i < capacity; i += CHUNK_RECORDS) {
            chunks.add(OffHeapBuffer.allocateUntouched(CHUNK_RECORDS * lengthBytes));
        }
        free = new int[capacity];
        for (int i = 0; i < capacity; i++) {
            free[i] = capacity - 1 - i;
        }
        freeCount = capacity;
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity, final int lengthBytes) {
        return (capacity + CHUNK_RECORDS - 1L) / CHUNK_RECORDS * CHUNK_RECORDS * lengthBytes + (long)capacity * Integer.BYTES;
    }

    /** Copies a record. Returns its place; {@link #NONE} if there is no room. */
    int add(final DirectBuffer record, final int offset) {
        if (freeCount == 0) {
            return NONE;
        }
        final int place = free[--freeCount];
        buffer(place).putBytes(offset(place), record, offset, lengthBytes);
        return place;
    }

    void remove(final int place) {
        free[freeCount++] = place;
    }

    int count() {
        return free.length - freeCount;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    UnsafeBuffer buffer(final int place) {
        return chunks.get(place / CHUNK_RECORDS);
    }

    int offset(final int place) {
        return place % CHUNK_RECORDS * lengthBytes;
    }
}
