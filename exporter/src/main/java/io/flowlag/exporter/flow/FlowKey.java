package io.flowlag.exporter.flow;

import io.flowlag.common.hash.Secrets;
import io.flowlag.exporter.decode.FlowKeyLayout;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.SplittableRandom;

/**
 * The flow key of one packet as six words in the layout of {@link FlowEntry}, with its hash. Masks, set at construction, select
 * the key fields beyond the 5-tuple. The hash has a random key per process, so an attacker cannot aim packets at one bucket:
 * words are added to the key, all bits of which are random, and multiplied as signed numbers (NHS, in Black et al., "UMAC: Fast
 * and Secure Message Authentication", CRYPTO 1999). Equality always compares the full key.
 * <p>
 * Used by the thread that owns the cache. Allocates at construction.
 */
final class FlowKey {
    private static final int DSCP_MASK = 0xFC;

    private final long portsMask;
    private final int vlanMask;
    private final int interfaceMask;
    private final long secret0;
    private final long secret1;
    private final long secret2;
    private final long secret3;
    private final long secret4;
    private final long secret5;
    private final long factor;

    private long sourceHigh;
    private long sourceLow;
    private long destinationHigh;
    private long destinationLow;
    private long ports;
    private int vlan;
    private int interfaceId;
    private long hash;

    /** A key of the 5-tuple and the selected further fields. */
    FlowKey(final FlowCacheSettings.Key settings) {
        final UnsafeBuffer mask = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
        FlowKeyLayout.sourcePort(mask, 0, 0xFFFF);
        FlowKeyLayout.destinationPort(mask, 0, 0xFFFF);
        FlowKeyLayout.protocol(mask, 0, 0xFF);
        FlowKeyLayout.ipVersion(mask, 0, 0xFF);
        FlowKeyLayout.ipClassOfService(mask, 0, settings.hasDscp() ? DSCP_MASK : 0);
        FlowKeyLayout.vlanId(mask, 0, settings.hasVlan() ? 0xFFFF : 0);
        // A packet that leaves where it arrived is of another flow than before.
        FlowKeyLayout.flags(mask, 0, (settings.hasVlan() ? FlowKeyLayout.FLAG_VLAN : 0) |
            (settings.hasInterface() ? FlowKeyLayout.FLAG_LEAVING : 0));
        portsMask = mask.getLong(FlowKeyLayout.PORTS_OFFSET);
        vlanMask = mask.getInt(FlowKeyLayout.VLAN_ID_OFFSET);
        interfaceMask = settings.hasInterface() ? -1 : 0;

        final SplittableRandom random = new SplittableRandom(settings.hashSeed());
        secret0 = random.nextLong();
        secret1 = random.nextLong();
        secret2 = random.nextLong();
        secret3 = random.nextLong();
        secret4 = random.nextLong();
        secret5 = random.nextLong();
        factor = random.nextLong() | 1;
    }

    /** {@return an unpredictable seed} */
    static long randomSeed() {
        return Secrets.next();
    }

    /** Takes the key of a packet or of a flow. */
    void wrap(final DirectBuffer buffer, final int offset) {
        wrap(buffer, offset, hashOf(buffer, offset));
    }

    /** Takes the key of a packet whose hash is known from {@link #hashOf}. */
    void wrap(final DirectBuffer buffer, final int offset, final long hashOfPacket) {
        sourceHigh = FlowKeyLayout.sourceHigh(buffer, offset);
        sourceLow = FlowKeyLayout.sourceLow(buffer, offset);
        destinationHigh = FlowKeyLayout.destinationHigh(buffer, offset);
        destinationLow = FlowKeyLayout.destinationLow(buffer, offset);
        ports = buffer.getLong(offset + FlowKeyLayout.PORTS_OFFSET) & portsMask;
        vlan = buffer.getInt(offset + FlowKeyLayout.VLAN_ID_OFFSET) & vlanMask;
        interfaceId = FlowKeyLayout.interfaceId(buffer, offset) & interfaceMask;
        hash = hashOfPacket;
    }

    /** The hash of the key of a packet or of a flow; does not change this key. */
    long hashOf(final DirectBuffer buffer, final int offset) {
        final long addresses = fold(
            FlowKeyLayout.sourceLow(buffer, offset) + secret0, FlowKeyLayout.destinationLow(buffer, offset) + secret1) ^
            fold(FlowKeyLayout.sourceHigh(buffer, offset) + secret2, FlowKeyLayout.destinationHigh(buffer, offset) + secret3);
        final long vlanOfKey = buffer.getInt(offset + FlowKeyLayout.VLAN_ID_OFFSET) & vlanMask;
        final long interfaceOfKey = FlowKeyLayout.interfaceId(buffer, offset) & interfaceMask & 0xFFFF_FFFFL;
        final long rest = (buffer.getLong(offset + FlowKeyLayout.PORTS_OFFSET) & portsMask) +
            (vlanOfKey << 32 | interfaceOfKey) * factor;
        return fold(addresses + secret4, rest + secret5);
    }

    long hash() {
        return hash;
    }

    /** Compares with the key of an entry, all of it. Returns whether the keys are equal. */
    boolean matches(final DirectBuffer entries, final int offset) {
        return FlowKeyLayout.sourceLow(entries, offset) == sourceLow &&
            FlowKeyLayout.destinationLow(entries, offset) == destinationLow &&
            (entries.getLong(offset + FlowKeyLayout.PORTS_OFFSET) & portsMask) == ports &&
            FlowKeyLayout.sourceHigh(entries, offset) == sourceHigh &&
            FlowKeyLayout.destinationHigh(entries, offset) == destinationHigh &&
            (entries.getInt(offset + FlowKeyLayout.VLAN_ID_OFFSET) & vlanMask) == vlan &&
            (FlowKeyLayout.interfaceId(entries, offset) & interfaceMask) == interfaceId;
    }

    /** Multiplies to 128 bits and folds the halves. */
    static long fold(final long a, final long b) {
        return Math.multiplyHigh(a, b) ^ a * b;
    }
}
