package io.flowlag.exporter.runtime.delay;

import io.flowlag.common.memory.OffHeapBuffer;

import java.util.BitSet;

/**
 * The digests of two captures, each with when it came at either point and how often. A digest that came once at each tells the
 * delay of its packet. When there are more than the memory holds, those of every other packet are left out, again and again.
 * <pre>
 *   0  digest      8
 *   8  sentNs      8   of its first packet at the sender point
 *  16  receivedNs  8   of its first packet at the receiver point
 *  24  sent        1   packets at the sender point, 2 for more
 *  25  received    1   packets at the receiver point, 2 for more
 *  26  ttl         1   at the sender point
 *  27  isLong      1   longer than Ethernet carries
 *  28  flow        4   as FlowCountEstimate numbers it
 * </pre>
 * One thread. Allocates off the heap as digests come.
 */
final class SurveyedDigests {
    private static final int ENTRY_BYTES = 32;
    private static final int SENT_NS = 8;
    private static final int RECEIVED_NS = 16;
    private static final int SENT = 24;
    private static final int RECEIVED = 25;
    private static final int TTL = 26;
    private static final int LONG = 27;
    private static final int FLOW = 28;
    private static final int SMALLEST_SHIFT = 12;
    private static final int LARGEST_SHIFT = 25;
    private static final int MANY = 2;
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
    private static final long LONG_SHARE = 10;

    private final int largestShift;
    private int shift = SMALLEST_SHIFT;
    private OffHeapBuffer entries = OffHeapBuffer.allocateZeroed(ENTRY_BYTES << SMALLEST_SHIFT);
    private int size;
    private int halvings;
    private int found;

    private long matched;
    private long lost;
    private long unexpected;
    private long longestNs;
    private boolean isWhole;
    private boolean areJoined;

    /** No digest. Takes at most the given memory, as far as 256 KiB are enough. */
    SurveyedDigests(final long memoryBytes) {
        int most = SMALLEST_SHIFT;
        while (most < LARGEST_SHIFT && (3L * ENTRY_BYTES << most) <= memoryBytes) {
            most++;
        }
        largestShift = most;
    }

    /** Reads where a digest's entry is or will be, so that it is in the processor's cache when it comes. Changes nothing. */
    long touch(final long digest) {
        return isIn(digest) ? entries.getLong(firstSlot(shift, digest) * ENTRY_BYTES) : 0;
    }

    /** A packet at the sender point. */
    void onSent(final long digest, final long timestampNs, final int flow, final int ttl, final boolean isLong) {
        if (place(digest)) {
            if (entries.getByte(found + SENT) == 0) {
                entries.putLong(found + SENT_NS, timestampNs);
                entries.putInt(found + FLOW, flow);
                entries.putByte(found + TTL, (byte)ttl);
                entries.putByte(found + LONG, (byte)(isLong ? 1 : 0));
            }
            count(SENT);
        }
    }

    /**
     * A packet at the receiver point, all of the sender point having come. Returns whether it is the first of its digest, and the
     * sender point had one of it.
     */
    boolean onReceived(final long digest, final long timestampNs, final int flow, final boolean isLong) {
        if (!place(digest)) {
            return false;
        }
        final boolean isFirst = entries.getByte(found + RECEIVED) == 0;
        if (isFirst) {
            entries.putLong(found + RECEIVED_NS, timestampNs);
            entries.putInt(found + FLOW, flow);
            entries.putByte(found + LONG, (byte)(isLong ? 1 : 0));
        }
        count(RECEIVED);
        return isFirst && entries.getByte(found + SENT) == 1;
    }

    /** {@return the time to live at the sender point of what {@link #onReceived} found} */
    int sentTtl() {
        return entries.getByte(found + TTL) & 0xFF;
    }

    /** {@return when the sender point had it} */
    long sentNs() {
        return entries.getLong(found + SENT_NS);
    }

    private void count(final int field) {
        entries.putByte(found + field, (byte)Math.min(MANY, entries.getByte(found + field) + 1));
    }

    /** Finds or makes the entry of a digest; false if it is left out. */
    private boolean place(final long digest) {
        if (!isIn(digest)) {
            return false;
        }
        if (size > 5 << shift - 3) {
            grow();
            if (!isIn(digest)) {
                return false;
            }
        }
        found = find(entries, shift, digest);
        if (isFree(entries, found)) {
            entries.putLong(found, digest);
            size++;
        }
        return true;
    }

    private boolean isIn(final long digest) {
        return (digest & (1L << halvings) - 1) == 0;
    }

    private static boolean isFree(final OffHeapBuffer table, final int offset) {
        return (table.getByte(offset + SENT) | table.getByte(offset + RECEIVED)) == 0;
    }

    private static int find(final OffHeapBuffer table, final int tableShift, final long digest) {
        final int mask = (1 << tableShift) - 1;
        int slot = firstSlot(tableShift, digest);
        while (!isFree(table, slot * ENTRY_BYTES) && table.getLong(slot * ENTRY_BYTES) != digest) {
            slot = slot + 1 & mask;
        }
        return slot * ENTRY_BYTES;
    }

    private static int firstSlot(final int tableShift, final long digest) {
        return (int)(digest * SPREAD >>> Long.SIZE - tableShift);
    }

    private void grow() {
        final int newShift = Math.min(largestShift, shift + 1);
        halvings += newShift == shift ? 1 : 0;
        final OffHeapBuffer newEntries = OffHeapBuffer.allocateZeroed(ENTRY_BYTES << newShift);
        size = 0;
        for (int offset = 0; offset < ENTRY_BYTES << shift; offset += ENTRY_BYTES) {
            final long digest = entries.getLong(offset);
            if (!isFree(entries, offset) && isIn(digest)) {
                newEntries.putBytes(find(newEntries, newShift, digest), entries, offset, ENTRY_BYTES);
                size++;
            }
        }
        entries.free();
        entries = newEntries;
        shift = newShift;
    }

    /**
     * All packets have come: sums up, and forgets the digests.
     *
     * @param isSelected whether all packets are said to pass both points; if not, flows that only one of them saw may go
     *                   elsewhere, and say nothing of where the captures begin and end.
     */
    void conclude(final boolean isSelected) {
        final BitSet ofBoth = new BitSet();
        long firstSentNs = Long.MAX_VALUE;
        long lastSentNs = Long.MIN_VALUE;
        long firstReceivedNs = Long.MAX_VALUE;
        long lastReceivedNs = Long.MIN_VALUE;
        long longPackets = 0;
        long longAlone = 0;
        for (int offset = 0; offset < ENTRY_BYTES << shift; offset += ENTRY_BYTES) {
            final int sent = entries.getByte(offset + SENT);
            final int received = entries.getByte(offset + RECEIVED);
            final boolean isLong = entries.getByte(offset + LONG) != 0;
            longPackets += isLong ? 1 : 0;
            longAlone += isLong && (sent == 0 || received == 0) ? 1 : 0;
            lost += sent == 1 && received == 0 ? 1 : 0;
            unexpected += sent == 0 && received == 1 ? 1 : 0;
            if (sent == 1 && received == 1) {
                matched++;
                ofBoth.set(entries.getInt(offset + FLOW));
                final long sentNs = entries.getLong(offset + SENT_NS);
                final long receivedNs = entries.getLong(offset + RECEIVED_NS);
                longestNs = Math.max(longestNs, Math.abs(receivedNs - sentNs));
                firstSentNs = Math.min(firstSentNs, sentNs);
                lastSentNs = Math.max(lastSentNs, sentNs);
                firstReceivedNs = Math.min(firstReceivedNs, receivedNs);
                lastReceivedNs = Math.max(lastReceivedNs, receivedNs);
            }
        }
        isWhole = matched > 0;
        for (int offset = 0; isWhole && offset < ENTRY_BYTES << shift; offset += ENTRY_BYTES) {
            final boolean isSent = entries.getByte(offset + SENT) > 0;
            final boolean isReceived = entries.getByte(offset + RECEIVED) > 0;
            isWhole = isSent == isReceived || !isSelected && !ofBoth.get(entries.getInt(offset + FLOW)) ||
                (isSent ? isWithin(entries.getLong(offset + SENT_NS), firstSentNs, lastSentNs) :
                    isWithin(entries.getLong(offset + RECEIVED_NS), firstReceivedNs, lastReceivedNs));
        }
        areJoined = longAlone > 0 && longAlone * LONG_SHARE > longPackets;
        entries.free();
        entries = null;
    }

    private static boolean isWithin(final long timeNs, final long firstNs, final long lastNs) {
        return timeNs >= firstNs && timeNs <= lastNs;
    }

    /** {@return digests that came once at both points, those left out reckoned in} */
    long matched() {
        return matched << halvings;
    }

    /** {@return digests that came once, at the sender point} */
    long lost() {
        return lost << halvings;
    }

    /** {@return digests that came once, at the receiver point} */
    long unexpected() {
        return unexpected << halvings;
    }

    /** {@return the longest time between two points of a packet, whichever came first, ns} */
    long longestNs() {
        return longestNs;
    }

    /** {@return whether no packet that did not match came before the first or after the last that did} */
    boolean isWhole() {
        return isWhole;
    }

    /** {@return whether there are packets longer than Ethernet carries at one point that the other point has not} */
    boolean areJoined() {
        return areJoined;
    }
}
