package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.delay.interval.records.ReceivedPackets;
import io.flowlag.exporter.delay.interval.records.SketchedPacket;
import org.agrona.BitUtil;

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

    private final OffHeapBuffer entries;
    private final int mask;
    private long nextTicket;

    PendingEstimates(final int capacity) {
        final int length = BitUtil.findNextPositivePowerOfTwo(capacity);
        mask = length - 1;
        entries = OffHeapBuffer.allocate(Math.multiplyExact(length, LENGTH_BYTES));
        for (int i = 0; i < length; i++) {
            entries.putLong(i * LENGTH_BYTES + TICKET_OFFSET, ReceivedPackets.NO_TICKET);
        }
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return (long)BitUtil.findNextPositivePowerOfTwo(capacity) * LENGTH_BYTES;
    }

    /** Adds a packet. Returns its ticket. */
    long add(final SketchedPacket packet, final long interval, final int heldIndex) {
        final long ticket = nextTicket++;
        entries.putLong(at(ticket) + TICKET_OFFSET, ticket);
        write(ticket, packet, interval, heldIndex);
        return ticket;
    }

    /** {@return whether the packet is still here} */
    boolean holds(final long ticket) {
        return ticket != ReceivedPackets.NO_TICKET && entries.getLong(at(ticket) + TICKET_OFFSET) == ticket;
    }

    /** Assigns a held packet to an interval. */
    void book(final long ticket, final SketchedPacket packet, final long interval) {
        write(ticket, packet, interval, BOOKED);
    }

    /** Moves a held packet to another buffer. */
    void hold(final long ticket, final long interval, final int heldIndex) {
        entries.putLong(at(ticket) + INTERVAL_OFFSET, interval);
        entries.putInt(at(ticket) + HELD_INDEX_OFFSET, heldIndex);
    }

    private void write(final long ticket, final SketchedPacket packet, final long interval, final int heldIndex) {
        final int at = at(ticket);
        entries.putLong(at + FLOW_HASH_OFFSET, packet.flowHash());
        entries.putLong(at + DIGEST_OFFSET, packet.digest());
        entries.putLong(at + INTERVAL_OFFSET, interval);
        entries.putInt(at + RECORD_OFFSET, packet.record());
        entries.putInt(at + WEIGHT_OFFSET, packet.weight());
        entries.putInt(at + HELD_INDEX_OFFSET, heldIndex);
    }

    /** Reads an assigned packet into a flyweight, without time, length and class, and returns it. */
    SketchedPacket read(final long ticket, final SketchedPacket packet) {
        final int at = at(ticket);
        return packet.set(
            0, entries.getLong(at + FLOW_HASH_OFFSET), entries.getLong(at + DIGEST_OFFSET), 0, 0,
            entries.getInt(at + WEIGHT_OFFSET)).record(entries.getInt(at + RECORD_OFFSET));
    }

    long interval(final long ticket) {
        return entries.getLong(at(ticket) + INTERVAL_OFFSET);
    }

    int heldIndex(final long ticket) {
        return entries.getInt(at(ticket) + HELD_INDEX_OFFSET);
    }

    private int at(final long ticket) {
        return ((int)ticket & mask) * LENGTH_BYTES;
    }
}
