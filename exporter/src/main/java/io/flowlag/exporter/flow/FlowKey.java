package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.security.SecureRandom;
import java.util.SplittableRandom;

/**
 * The flow key of one packet as six words in the layout of {@link FlowEntry}, with its hash. Masks, set at construction, select
 * the key fields beyond the 5-tuple. The hash has a random key per process, so an attacker cannot aim packets at one bucket.
 * Equality always compares the full key.
 * <p>
 * Used by the thread that owns the cache. Allocates at construction.
 */
final class FlowKey {
    private static final int DSCP_MASK = 0xFC;
    private static final int DESCRIPTOR_PORTS_OFFSET = 40;
    private static final int DESCRIPTOR_VLAN_OFFSET = 52;
    private static final int ENTRY_PORTS_OFFSET = 32;
    private static final int ENTRY_VLAN_OFFSET = 40;

    private final long portsMask;
    private final int vlanMask;
    private final int interfaceMask;
    private final long secret0;
    private final long secret1;
    private final long secret2;
    private final long secret3;
    private final long secret4;
    private final long secret5;

    private long sourceHigh;
    private long sourceLow;
    private long destinationHigh;
    private long destinationLow;
    private long ports;
    private int vlan;
    private int interfaceId;
    private long hash;

    /**
     * A key of the 5-tuple and the selected further fields.
     *
     * @param withDscp      whether the DSCP bits belong to the key.
     * @param withVlan      whether the outermost VLAN id belongs to the key, and whether there is one.
     * @param withInterface whether the interface belongs to the key.
     * @param seed          of the hash; {@link #randomSeed()} outside tests.
     */
    FlowKey(final boolean withDscp, final boolean withVlan, final boolean withInterface, final long seed) {
        final UnsafeBuffer mask = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
        PacketDescriptor.sourcePort(mask, 0, 0xFFFF);
        PacketDescriptor.destinationPort(mask, 0, 0xFFFF);
        PacketDescriptor.protocol(mask, 0, 0xFF);
        PacketDescriptor.ipVersion(mask, 0, 0xFF);
        PacketDescriptor.ipClassOfService(mask, 0, withDscp ? DSCP_MASK : 0);
        PacketDescriptor.vlanId(mask, 0, withVlan ? 0xFFFF : 0);
        PacketDescriptor.flags(mask, 0, withVlan ? PacketDescriptor.FLAG_VLAN : 0);
        portsMask = mask.getLong(DESCRIPTOR_PORTS_OFFSET);
        vlanMask = mask.getInt(DESCRIPTOR_VLAN_OFFSET);
        interfaceMask = withInterface ? -1 : 0;

        final SplittableRandom random = new SplittableRandom(seed);
        secret0 = random.nextLong() | 1;
        secret1 = random.nextLong() | 1;
        secret2 = random.nextLong() | 1;
        secret3 = random.nextLong() | 1;
        secret4 = random.nextLong() | 1;
        secret5 = random.nextLong() | 1;
    }

    /** {@return an unpredictable seed} */
    static long randomSeed() {
        return new SecureRandom().nextLong();
    }

    /** Takes the key of a packet. */
    void wrap(final DirectBuffer descriptor, final int offset) {
        wrap(descriptor, offset, hashOf(descriptor, offset));
    }

    /**
     * Takes the key of a packet whose hash is known.
     *
     * @param hashOfPacket as {@link #hashOf} gave it.
     */
    void wrap(final DirectBuffer descriptor, final int offset, final long hashOfPacket) {
        sourceHigh = PacketDescriptor.sourceHigh(descriptor, offset);
        sourceLow = PacketDescriptor.sourceLow(descriptor, offset);
        destinationHigh = PacketDescriptor.destinationHigh(descriptor, offset);
        destinationLow = PacketDescriptor.destinationLow(descriptor, offset);
        ports = descriptor.getLong(offset + DESCRIPTOR_PORTS_OFFSET) & portsMask;
        vlan = descriptor.getInt(offset + DESCRIPTOR_VLAN_OFFSET) & vlanMask;
        interfaceId = PacketDescriptor.interfaceId(descriptor, offset) & interfaceMask;
        hash = hashOfPacket;
    }

    /** The hash of a packet's key; does not change this key. */
    long hashOf(final DirectBuffer descriptor, final int offset) {
        return hashOfWords(
            PacketDescriptor.sourceHigh(descriptor, offset), PacketDescriptor.sourceLow(descriptor, offset),
            PacketDescriptor.destinationHigh(descriptor, offset), PacketDescriptor.destinationLow(descriptor, offset),
            descriptor.getLong(offset + DESCRIPTOR_PORTS_OFFSET) & portsMask,
            descriptor.getInt(offset + DESCRIPTOR_VLAN_OFFSET) & vlanMask,
            PacketDescriptor.interfaceId(descriptor, offset) & interfaceMask);
    }

    /** Takes the key of a flow. */
    void wrapEntry(final DirectBuffer entries, final int offset) {
        sourceHigh = FlowEntry.sourceHigh(entries, offset);
        sourceLow = FlowEntry.sourceLow(entries, offset);
        destinationHigh = FlowEntry.destinationHigh(entries, offset);
        destinationLow = FlowEntry.destinationLow(entries, offset);
        ports = entries.getLong(offset + ENTRY_PORTS_OFFSET) & portsMask;
        vlan = entries.getInt(offset + ENTRY_VLAN_OFFSET) & vlanMask;
        interfaceId = FlowEntry.interfaceId(entries, offset) & interfaceMask;
        hash = hashOfWords(sourceHigh, sourceLow, destinationHigh, destinationLow, ports, vlan, interfaceId);
    }

    /** {@return the keyed hash of the key} */
    long hash() {
        return hash;
    }

    /** Compares with the key of an entry, all of it. Returns whether the keys are equal. */
    boolean matches(final DirectBuffer entries, final int offset) {
        return FlowEntry.sourceLow(entries, offset) == sourceLow &&
            FlowEntry.destinationLow(entries, offset) == destinationLow &&
            (entries.getLong(offset + ENTRY_PORTS_OFFSET) & portsMask) == ports &&
            FlowEntry.sourceHigh(entries, offset) == sourceHigh &&
            FlowEntry.destinationHigh(entries, offset) == destinationHigh &&
            (entries.getInt(offset + ENTRY_VLAN_OFFSET) & vlanMask) == vlan &&
            (FlowEntry.interfaceId(entries, offset) & interfaceMask) == interfaceId;
    }

    private long hashOfWords(
        final long sourceHigh, final long sourceLow, final long destinationHigh, final long destinationLow,
        final long ports, final int vlan, final int interfaceId) {
        final long addresses = fold(sourceLow ^ secret0, destinationLow ^ secret1) ^
            fold(sourceHigh ^ secret2, destinationHigh ^ secret3);
        final long rest = ports ^ ((long)vlan << 32 | (interfaceId & 0xFFFF_FFFFL)) * secret5;
        return fold(addresses ^ secret5, rest ^ secret4);
    }

    /** Multiplies to 128 bits and folds the halves. */
    private static long fold(final long a, final long b) {
        return Math.multiplyHigh(a, b) ^ a * b;
    }
}
