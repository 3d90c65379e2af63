package io.flowlag.exporter.delay.exact;

import io.flowlag.common.memory.OffHeapBuffer;

/**
 * The packets that a matcher remembers, in order of arrival: a ring of records of half a cache line.
 * <pre>
 *   0  timeNs     8   at its point, UNIX epoch
 *   8  tag        8   of a receiver packet; 0 for a sender packet
 *  16  flow       4   in SegmentFlows, or NO_FLOW
 *  20  digest     4   slot in DigestTable
 *  24  next       4   packet of the same digest and kind behind it, or NONE
 *  28  state      4   STATE_
 * </pre>
 * One thread owns it. Allocates at construction, off-heap. Memory is touched as packets come, and no more than the largest
 * number of packets at once needs.
 */
final class WaitingPackets {
    static final int NONE = -1;
    static final int RECORD_LENGTH_BYTES = 32;
    /** A sent packet that waits for its arrival. */
    static final int STATE_SENT = 1;
    /** A received packet that waits for its sending. */
    static final int STATE_RECEIVED = 2;
    /** A decided sent packet, remembered for its copies. */
    static final int STATE_SENT_DECIDED = 3;
    static final int STATE_RECEIVED_DECIDED = 4;

    private static final int TIME_NS_OFFSET = 0;
    private static final int TAG_OFFSET = TIME_NS_OFFSET + 8;
    private static final int FLOW_OFFSET = TAG_OFFSET + 8;
    private static final int DIGEST_OFFSET = FLOW_OFFSET + 4;
    private static final int NEXT_OFFSET = DIGEST_OFFSET + 4;
    private static final int STATE_OFFSET = NEXT_OFFSET + 4;

    private final OffHeapBuffer records;
    private final int capacity;
    private int room;
    private int oldest;
    private int size;

    /** No packets, and room for some of the capacity at first. */
    WaitingPackets(final int capacity, final int room) {
        this.capacity = capacity;
        this.room = room;
        records = OffHeapBuffer.allocateUntouched(capacity * RECORD_LENGTH_BYTES);
    }

    boolean isEmpty() {
        return size == 0;
    }

    boolean isFull() {
        return size == room;
    }

    boolean mayGrow() {
        return room < capacity;
    }

    /** Doubles the room, when it is full: the packets from the oldest to the end of the ring move to its new end. */
    void grow(final DigestTable digests) {
        final int end = room;
        room = (int)Math.min(capacity, 2L * end);
        final int by = room - end;
        records.putBytes(
            (oldest + by) * RECORD_LENGTH_BYTES, records, oldest * RECORD_LENGTH_BYTES, (end - oldest) * RECORD_LENGTH_BYTES);
        for (int i = 0; i < size; i++) {
            final int packet = i < oldest ? i : i + by;
            final int next = next(packet);
            next(packet, next >= oldest && next < end ? next + by : next);
        }
        digests.onMoved(oldest, end, by);
        oldest += by;
    }

    /** {@return the number of packets for which there is room now} */
    int room() {
        return room;
    }

    int size() {
        return size;
    }

    /** {@return the packet that came first; there must be one} */
    int oldest() {
        return oldest;
    }

    /** Appends a packet; there must be room. Returns its position, valid until it is removed. */
    int add(final int state, final long timeNs, final long tag, final int flow, final int digest) {
        int packet = oldest + size;
        if (packet >= room) {
            packet -= room;
        }
        size++;
        final int offset = packet * RECORD_LENGTH_BYTES;
        records.putLong(offset + TIME_NS_OFFSET, timeNs);
        records.putLong(offset + TAG_OFFSET, tag);
        records.putInt(offset + FLOW_OFFSET, flow);
        records.putInt(offset + DIGEST_OFFSET, digest);
        records.putInt(offset + NEXT_OFFSET, NONE);
        records.putInt(offset + STATE_OFFSET, state);
        return packet;
    }

    /** Forgets the packet that came first. */
    void removeOldest() {
        oldest = oldest + 1 == room ? 0 : oldest + 1;
        size--;
    }

    /**
     * From now on a received packet represents the sent one that it matched, and is remembered as long as the later of the two.
     */
    void becomesSent(final int packet, final long timeNs) {
        records.putLong(packet * RECORD_LENGTH_BYTES + TIME_NS_OFFSET, timeNs);
        state(packet, STATE_SENT_DECIDED);
    }

    long timeNs(final int packet) {
        return records.getLong(packet * RECORD_LENGTH_BYTES + TIME_NS_OFFSET);
    }

    long tag(final int packet) {
        return records.getLong(packet * RECORD_LENGTH_BYTES + TAG_OFFSET);
    }

    int flow(final int packet) {
        return records.getInt(packet * RECORD_LENGTH_BYTES + FLOW_OFFSET);
    }

    int digest(final int packet) {
        return records.getInt(packet * RECORD_LENGTH_BYTES + DIGEST_OFFSET);
    }

    int next(final int packet) {
        return records.getInt(packet * RECORD_LENGTH_BYTES + NEXT_OFFSET);
    }

    void next(final int packet, final int value) {
        records.putInt(packet * RECORD_LENGTH_BYTES + NEXT_OFFSET, value);
    }

    int state(final int packet) {
        return records.getInt(packet * RECORD_LENGTH_BYTES + STATE_OFFSET);
    }

    void state(final int packet, final int value) {
        records.putInt(packet * RECORD_LENGTH_BYTES + STATE_OFFSET, value);
    }
}
