package io.flowlag.exporter.delay;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.flow.FlowEntry;
import org.agrona.DirectBuffer;
import org.agrona.collections.Long2LongHashMap;

/**
 * The direction of packets between two points that both directions pass: votes of packets that both points saw tell on which
 * side of the segment an address is. A packet goes backward if its source is on the receiver point's side. One thread fills it
 * before another reads. Allocates for each new address.
 */
public final class PacketSides {
    private static final long SPREAD = 0x9E37_79B9_7F4A_7C15L;
    private static final long OTHER_SPREAD = 0xC2B2_AE3D_27D4_EB4FL;

    private static final long SOURCE = 1;
    private static final long DESTINATION = 2;
    private static final long ROLES = SOURCE | DESTINATION;
    private static final int VOTES_SHIFT = 2;

    /** An address's votes for the sender point's side, less those against it, shifted above its two role bits. */
    private final Long2LongHashMap addresses = new Long2LongHashMap(0);

    /** Counts a vote by a packet's direction: whether it passed the sender point first. */
    public void vote(final DirectBuffer descriptor, final int offset, final boolean isForward) {
        final int vote = isForward ? 1 : -1;
        add(source(descriptor, offset), vote, SOURCE);
        add(destination(descriptor, offset), -vote, DESTINATION);
    }

    private void add(final long address, final int vote, final long role) {
        addresses.put(address, addresses.get(address) + ((long)vote << VOTES_SHIFT) | role);
    }

    /** Whether a packet goes from the receiver point to the sender point. Returns false also where its addresses are unknown. */
    public boolean isBackward(final DirectBuffer descriptor, final int offset) {
        return votes(source(descriptor, offset)) < votes(destination(descriptor, offset));
    }

    /**
     * How consistently the votes separate two directions.
     *
     * @param voteCount  votes so far, above 0.
     * @param isAnswered whether only votes of addresses that both send and receive count.
     * @return the share of votes that no other one contradicts, 0 to 1.
     */
    public double agreement(final long voteCount, final boolean isAnswered) {
        long sum = 0;
        for (final Long2LongHashMap.ValueIterator each = addresses.values().iterator(); each.hasNext();) {
            final long value = each.nextValue();
            sum += !isAnswered || (value & ROLES) == ROLES ? Math.abs(value >> VOTES_SHIFT) : 0;
        }
        return sum / (2.0 * voteCount);
    }

    boolean isBackwardEntry(final DirectBuffer entry, final int offset) {
        return isBackward(
            FlowEntry.sourceHigh(entry, offset), FlowEntry.sourceLow(entry, offset), FlowEntry.destinationHigh(entry, offset),
            FlowEntry.destinationLow(entry, offset));
    }

    /**
     * Whether packets between two addresses go from the receiver point to the sender point.
     *
     * @param sourceHigh      as in {@link PacketDescriptor}.
     * @param sourceLow       as in {@link PacketDescriptor}.
     * @param destinationHigh as in {@link PacketDescriptor}.
     * @param destinationLow  as in {@link PacketDescriptor}.
     */
    public boolean isBackward(
        final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow) {
        return votes(key(sourceHigh, sourceLow)) < votes(key(destinationHigh, destinationLow));
    }

    private long votes(final long address) {
        return addresses.get(address) >> VOTES_SHIFT;
    }

    private static long source(final DirectBuffer descriptor, final int offset) {
        return key(PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset));
    }

    private static long destination(final DirectBuffer descriptor, final int offset) {
        return key(PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset));
    }

    private static long key(final long high, final long low) {
        return high * SPREAD ^ low * OTHER_SPREAD;
    }
}
