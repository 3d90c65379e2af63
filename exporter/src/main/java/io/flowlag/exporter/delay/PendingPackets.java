package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowCache;
import org.agrona.DirectBuffer;

/**
 * Packets of the receiver point that were metered and wait to be measured together, in short loops. None of their flows has
 * ended. One thread. Allocates at construction.
 */
final class PendingPackets {
    /** How many fit. */
    static final int LIMIT = FlowCache.TOUCH_LIMIT;
    /** Octets of offsets, slots and tickets. */
    static final int MEMORY_BYTES = LIMIT * (2 * Integer.BYTES + Long.BYTES);

    private final int[] offsets = new int[LIMIT];
    private final int[] slots = new int[LIMIT];
    private final long[] tickets = new long[LIMIT];
    private DirectBuffer descriptors;
    private int count;
    private int flags;
    private long earliestNs = Long.MAX_VALUE;
    private long latestNs = Long.MIN_VALUE;

    /** Adds a packet, whose descriptor must stay valid until all are cleared. */
    void add(final DirectBuffer descriptor, final int offset, final int slot) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        descriptors = descriptor;
        offsets[count] = offset;
        slots[count] = slot;
        count++;
        flags |= PacketDescriptor.flags(descriptor, offset);
        earliestNs = Math.min(earliestNs, timestampNs);
        latestNs = Math.max(latestNs, timestampNs);
    }

    void clear() {
        count = 0;
        flags = 0;
        earliestNs = Long.MAX_VALUE;
        latestNs = Long.MIN_VALUE;
    }

    boolean isFull() {
        return count == LIMIT;
    }

    int count() {
        return count;
    }

    DirectBuffer descriptors() {
        return descriptors;
    }

    int offset(final int index) {
        return offsets[index];
    }

    int slot(final int index) {
        return slots[index];
    }

    /** {@return whether any of the packets is longer than its link's MTU} */
    boolean hasOversize() {
        return (flags & PacketDescriptor.FLAG_OVERSIZE) != 0;
    }

    /** {@return the smallest timestamp; only with packets} */
    long earliestNs() {
        return earliestNs;
    }

    /** {@return the largest timestamp; only with packets} */
    long latestNs() {
        return latestNs;
    }

    /** {@return the ticket for an estimate of the packet's delay, see {@link IntervalStage#ticket}} */
    long ticket(final int index) {
        return tickets[index];
    }

    void ticket(final int index, final long ticket) {
        tickets[index] = ticket;
    }
}
