package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The most recent packets, so that a later estimate finds its packet by ticket: a ring in the order of arrival, in which the
 * newest packet overwrites the oldest.
 * <pre>
 *   0  ticket        8
 *   8  flowHash      8
 *  16  digest        8
 *  24  interval      8   that the packet is assigned to, or held in
 *  32  record        4   or none
 *  36  weight        4
 *  40  heldIndex     4   among the interval's held packets; -1 once assigned
 *  44  (unused)      4
 * </pre>
 * One thread. Allocates at construction.
 */
final class PendingEstimates {
    /** The packet is assigned to an interval. */
    static final int BOOKED = -1;

    private static final int TICKET_OFFSET = 0;
    private static final int FLOW_HASH_OFFSET = TICKET_OFFSET + 8;
    private static final int DIGEST_OFFSET = FLOW_HASH_OFFSET + 8;
    private static final int INTERVAL_OFFSET = DIGEST_OFFSET + 8;
    private static final int RECORD_OFFSET = INTERVAL_OFFSET + 8;
    private static final int WEIGHT_OFFSET = RECORD_OFFSET + 4;
    private static final int HELD_INDEX_OFFSET = WEIGHT_OFFSET + 4;
    private static final int LENGTH_BYTES = HELD_INDEX_OFFSET + 8;

    private final UnsafeBuffer entries;
    private final int mask;
    private long nextTicket;

    PendingEstimates(final int capacity) {
        final int length = BitUtil.findNextPositivePowerOfTwo(capacity);
        mask = length - 1;
        entries = new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(Math.multiplyExact(length, LENGTH_BYTES), CACHE_LINE_LENGTH));
        for (int i = 0; i < length; i++) {
            entries.putLong(i * LENGTH_BYTES + TICKET_OFFSET, ReceivedPackets.NO_TICKET);
        }
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)BitUtil.findNextPositivePowerOfTwo(capacity) * LENGTH_BYTES;
    }

    /** Adds a packet. Returns its ticket. */
    long add(
        final long flowHash, final long digest, final long interval, final int record, final int weight, final int heldIndex) {
        final long ticket = nextTicket++;
        final int at = at(ticket);
        entries.putLong(at + TICKET_OFFSET, ticket);
        write(at, flowHash, digest, interval, record, weight, heldIndex);
        return ticket;
    }

    /** {@return whether the packet is still here} */
    boolean holds(final long ticket) {
        return ticket != ReceivedPackets.NO_TICKET && entries.getLong(at(ticket) + TICKET_OFFSET) == ticket;
    }

    /** Assigns a held packet to an interval. */
    void book(
        final long ticket, final long interval, final long flowHash, final long digest, final int record, final int weight) {
        write(at(ticket), flowHash, digest, interval, record, weight, BOOKED);
    }

    /** Moves a held packet to another buffer. */
    void hold(final long ticket, final long interval, final int heldIndex) {
        entries.putLong(at(ticket) + INTERVAL_OFFSET, interval);
        entries.putInt(at(ticket) + HELD_INDEX_OFFSET, heldIndex);
    }

    private void write(
        final int at, final long flowHash, final long digest, final long interval, final int record, final int weight,
        final int heldIndex) {
        entries.putLong(at + FLOW_HASH_OFFSET, flowHash);
        entries.putLong(at + DIGEST_OFFSET, digest);
        entries.putLong(at + INTERVAL_OFFSET, interval);
        entries.putInt(at + RECORD_OFFSET, record);
        entries.putInt(at + WEIGHT_OFFSET, weight);
        entries.putInt(at + HELD_INDEX_OFFSET, heldIndex);
    }

    long flowHash(final long ticket) {
        return entries.getLong(at(ticket) + FLOW_HASH_OFFSET);
    }

    long digest(final long ticket) {
        return entries.getLong(at(ticket) + DIGEST_OFFSET);
    }

    long interval(final long ticket) {
        return entries.getLong(at(ticket) + INTERVAL_OFFSET);
    }

    int record(final long ticket) {
        return entries.getInt(at(ticket) + RECORD_OFFSET);
    }

    int weight(final long ticket) {
        return entries.getInt(at(ticket) + WEIGHT_OFFSET);
    }

    int heldIndex(final long ticket) {
        return entries.getInt(at(ticket) + HELD_INDEX_OFFSET);
    }

    private int at(final long ticket) {
        return ((int)ticket & mask) * LENGTH_BYTES;
    }
}
