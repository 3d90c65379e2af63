package io.flowlag.exporter.delay.exact;

import io.flowlag.common.memory.OffHeapBuffer;

/**
 * The digests that a matcher remembers, each with the queues of its waiting packets in order of arrival. A slot keeps its
 * number while the digest has packets in {@link WaitingPackets}.
 * <pre>
 *   0  digest            8
 *   8  newestMatchedNs   8   largest sender time of a matched packet, valid with FLAG_MATCHED
 *  16  sentHead          4   sent packets that wait, or NONE
 *  20  sentTail          4
 *  24  receivedHead      4   received packets that wait, or NONE
 *  28  receivedTail      4
 *  32  packetCount       4   of this digest in WaitingPackets
 *  36  sentCount         4   of these, those that stand for a sent packet
 *  40  flags             4   FLAG_MATCHED
 *  44  matchedSpan       4   from the smallest sender time of a matched packet to the largest, 1024 ns, rounded up; in a free
 *                            slot, the next free one
 * </pre>
 * One thread owns it. Allocates at construction and when its index grows, off-heap; the memory of slots that were never used
 * stays untouched.
 */
final class DigestTable {
    static final int NONE = -1;
    /** Octets of one digest. */
    static final int ENTRY_LENGTH_BYTES = 48;

    private static final int DIGEST_OFFSET = 0;
    private static final int NEWEST_MATCHED_NS_OFFSET = DIGEST_OFFSET + 8;
    private static final int SENT_HEAD_OFFSET = NEWEST_MATCHED_NS_OFFSET + 8;
    private static final int SENT_TAIL_OFFSET = SENT_HEAD_OFFSET + 4;
    private static final int RECEIVED_HEAD_OFFSET = SENT_TAIL_OFFSET + 4;
    private static final int RECEIVED_TAIL_OFFSET = RECEIVED_HEAD_OFFSET + 4;
    private static final int PACKET_COUNT_OFFSET = RECEIVED_TAIL_OFFSET + 4;
    private static final int SENT_COUNT_OFFSET = PACKET_COUNT_OFFSET + 4;
    private static final int FLAGS_OFFSET = SENT_COUNT_OFFSET + 4;
    private static final int MATCHED_SPAN_OFFSET = FLAGS_OFFSET + 4;
    private static final int NEXT_FREE_OFFSET = MATCHED_SPAN_OFFSET;
    private static final int SPAN_UNIT_SHIFT = 10;

    private static final int FLAG_MATCHED = 1;
    /** Mixes digests that are less random than a keyed hash; 2^64 divided by the golden ratio. */
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;

    private final SlotIndex index;
    private final OffHeapBuffer entries;
    private final WaitingPackets packets;
    private int freeHead = NONE;
    /** Slots that ever held a digest are below it. */
    private int usedSlots;

    /**
     * An empty table for as many digests as there may be packets, so that there is always room; the queues consist of the
     * packets.
     */
    DigestTable(final int capacity, final WaitingPackets packets) {
        this.packets = packets;
        index = new SlotIndex(packets.room());
        entries = OffHeapBuffer.allocateUntouched(capacity * ENTRY_LENGTH_BYTES);
    }

    /** Prefetches the first bucket of a digest; see {@link SlotIndex#touch}. */
    long touch(final long digest) {
        return index.touch(tag(digest));
    }

    int find(final long digest) {
        final int tag = tag(digest);
        int position = index.first(tag);
        while (position != SlotIndex.NONE) {
            final int slot = index.slot(position);
            if (digest(slot) == digest) {
                return slot;
            }
            position = index.next(tag, position);
        }
        return NONE;
    }

    int add(final long digest) {
        final int slot = freeHead == NONE ? usedSlots++ : freeHead;
        freeHead = freeHead == NONE ? NONE : getInt(slot, NEXT_FREE_OFFSET);
        entries.putLong(slot * ENTRY_LENGTH_BYTES + DIGEST_OFFSET, digest);
        putInt(slot, SENT_HEAD_OFFSET, WaitingPackets.NONE);
        putInt(slot, SENT_TAIL_OFFSET, WaitingPackets.NONE);
        putInt(slot, RECEIVED_HEAD_OFFSET, WaitingPackets.NONE);
        putInt(slot, RECEIVED_TAIL_OFFSET, WaitingPackets.NONE);
        putInt(slot, PACKET_COUNT_OFFSET, 0);
        putInt(slot, SENT_COUNT_OFFSET, 0);
        putInt(slot, FLAGS_OFFSET, 0);
        index.add(tag(digest), slot);
        return slot;
    }

    /** Packets have moved; there is room for more of them, and so for more digests. */
    void onMoved(final int from, final int to, final int by) {
        for (int slot = 0; slot < usedSlots; slot++) {
            for (int field = SENT_HEAD_OFFSET; field <= RECEIVED_TAIL_OFFSET; field += Integer.BYTES) {
                final int packet = getInt(slot, field);
                putInt(slot, field, packet >= from && packet < to ? packet + by : packet);
            }
        }
        index.grow(packets.room());
    }

    long digest(final int slot) {
        return entries.getLong(slot * ENTRY_LENGTH_BYTES + DIGEST_OFFSET);
    }

    int sentHead(final int slot) {
        return getInt(slot, SENT_HEAD_OFFSET);
    }

    int receivedHead(final int slot) {
        return getInt(slot, RECEIVED_HEAD_OFFSET);
    }

    boolean hasSent(final int slot) {
        return getInt(slot, SENT_COUNT_OFFSET) > 0;
    }

    void addSent(final int slot, final int packet) {
        count(slot, PACKET_COUNT_OFFSET, 1);
        count(slot, SENT_COUNT_OFFSET, 1);
        append(slot, SENT_HEAD_OFFSET, SENT_TAIL_OFFSET, packet);
    }

    void addReceived(final int slot, final int packet) {
        count(slot, PACKET_COUNT_OFFSET, 1);
        append(slot, RECEIVED_HEAD_OFFSET, RECEIVED_TAIL_OFFSET, packet);
    }

    /** Removes the sent packet that waited longest from the queue; there must be one. */
    void popSent(final int slot) {
        pop(slot, SENT_HEAD_OFFSET, SENT_TAIL_OFFSET);
    }

    /** Removes the received packet that waited longest from the queue; there must be one. */
    void popReceived(final int slot) {
        pop(slot, RECEIVED_HEAD_OFFSET, RECEIVED_TAIL_OFFSET);
    }

    /** From now on a received packet of the digest represents the sent one that it matched. */
    void becomesSent(final int slot) {
        count(slot, SENT_COUNT_OFFSET, 1);
    }

    void onMatched(final int slot, final long sentNs) {
        final int offset = slot * ENTRY_LENGTH_BYTES + NEWEST_MATCHED_NS_OFFSET;
        if (!hasMatched(slot)) {
            entries.putLong(offset, sentNs);
            putInt(slot, FLAGS_OFFSET, FLAG_MATCHED);
            putInt(slot, MATCHED_SPAN_OFFSET, 0);
        } else {
            final long oldestNs = Math.min(oldestMatchedNs(slot), sentNs);
            final long newestNs = Math.max(entries.getLong(offset), sentNs);
            entries.putLong(offset, newestNs);
            putInt(slot, MATCHED_SPAN_OFFSET, (int)Math.min(Integer.MAX_VALUE, (newestNs - oldestNs >> SPAN_UNIT_SHIFT) + 1));
        }
    }

    boolean hasMatched(final int slot) {
        return (getInt(slot, FLAGS_OFFSET) & FLAG_MATCHED) != 0;
    }

    long newestMatchedNs(final int slot) {
        return entries.getLong(slot * ENTRY_LENGTH_BYTES + NEWEST_MATCHED_NS_OFFSET);
    }

    /** {@return the smallest sender time of a matched packet, or up to 1024 ns less} */
    long oldestMatchedNs(final int slot) {
        return newestMatchedNs(slot) - ((long)getInt(slot, MATCHED_SPAN_OFFSET) << SPAN_UNIT_SHIFT);
    }

    /** Forgets one packet of the digest; the digest is removed with its last packet. */
    void onForgotten(final int slot, final boolean isSent) {
        if (isSent) {
            count(slot, SENT_COUNT_OFFSET, -1);
        }
        count(slot, PACKET_COUNT_OFFSET, -1);
        if (getInt(slot, PACKET_COUNT_OFFSET) == 0) {
            index.remove(tag(digest(slot)), slot);
            putInt(slot, NEXT_FREE_OFFSET, freeHead);
            freeHead = slot;
        }
    }

    private void append(final int slot, final int headOffset, final int tailOffset, final int packet) {
        final int tail = getInt(slot, tailOffset);
        if (tail == WaitingPackets.NONE) {
            putInt(slot, headOffset, packet);
        } else {
            packets.next(tail, packet);
        }
        putInt(slot, tailOffset, packet);
    }

    private void pop(final int slot, final int headOffset, final int tailOffset) {
        final int next = packets.next(getInt(slot, headOffset));
        putInt(slot, headOffset, next);
        if (next == WaitingPackets.NONE) {
            putInt(slot, tailOffset, WaitingPackets.NONE);
        }
    }

    private void count(final int slot, final int fieldOffset, final int amount) {
        putInt(slot, fieldOffset, getInt(slot, fieldOffset) + amount);
    }

    private int getInt(final int slot, final int fieldOffset) {
        return entries.getInt(slot * ENTRY_LENGTH_BYTES + fieldOffset);
    }

    private void putInt(final int slot, final int fieldOffset, final int value) {
        entries.putInt(slot * ENTRY_LENGTH_BYTES + fieldOffset, value);
    }

    private static int tag(final long digest) {
        return (int)(digest * SPREAD >>> 32);
    }
}
