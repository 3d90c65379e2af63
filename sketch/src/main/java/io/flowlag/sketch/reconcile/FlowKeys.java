package io.flowlag.sketch.reconcile;

import org.agrona.DirectBuffer;

import static io.flowlag.sketch.image.ImageHeader.BYTE_ORDER;

/**
 * One point's answer to the other's request for the keys of flows that only it has, so that lost packets of a flow without
 * arrivals have a key: a record of 56 octets for each flow. It has the image format of a synopsis and is verified like one;
 * {@link SynopsisImage} reads it. Addresses are the numbers of big-endian octets.
 *
 * <p>One thread at a time. It owns its memory. Allocates at construction, and a geometry for each answer.
 */
public final class FlowKeys extends Synopsis {
    private static final int ADDRESSES_BYTES = SynopsisDescriptor.KEY_SOURCE_PORT_OFFSET - SynopsisDescriptor.KEY_SOURCE_OFFSET;
    private static final int PROTOCOL_OFFSET = SynopsisDescriptor.KEY_PROTOCOL_OFFSET - SynopsisDescriptor.KEY_SOURCE_OFFSET;

    private int count;

    /**
     * Takes the memory of answers.
     *
     * @param capacity most flows of an answer, at least 1.
     * @param seed     that both measurement points share.
     */
    public FlowKeys(final int capacity, final long seed) {
        super(SynopsisFamily.FLOW_KEYS, new SynopsisGeometry(SynopsisFamily.FLOW_KEYS, 1, capacity), seed);
    }

    /**
     * Begins an answer; {@link #add} is to be called once for each of its flows.
     *
     * @param flows     of the answer, 1 to {@link #capacity}.
     * @param threshold the flows of this rank and above are not in it.
     */
    public void start(final int flows, final long intervalNumber, final long intervalNs, final long threshold) {
        form(new SynopsisGeometry(SynopsisFamily.FLOW_KEYS, 1, flows));
        flowThreshold(threshold);
        begin(intervalNumber, intervalNs);
        count = 0;
    }

    /**
     * Adds a flow. Its key has 38 octets in the byte order of the machine: source address in two words, destination address
     * likewise, source port, destination port, protocol, IP version. An IPv4 address is the low half of the second word, the rest
     * is 0; ports are 0 for fragments.
     *
     * @param packets    of the flow in the interval.
     * @param classIndex of its first packet.
     */
    public void add(
        final long flowHash, final long packets, final int classIndex, final DirectBuffer key, final int keyOffset) {
        final int at = cellOffset(count++);
        putLong(at + SynopsisDescriptor.KEY_FLOW_HASH_OFFSET, flowHash);
        for (int i = 0; i < ADDRESSES_BYTES; i += Long.BYTES) {
            putLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET + i, key.getLong(keyOffset + i));
        }
        for (int i = ADDRESSES_BYTES; i < PROTOCOL_OFFSET; i += Short.BYTES) {
            octets().putShort(at + SynopsisDescriptor.KEY_SOURCE_OFFSET + i, key.getShort(keyOffset + i), BYTE_ORDER);
        }
        octets().putBytes(at + SynopsisDescriptor.KEY_PROTOCOL_OFFSET, key, keyOffset + PROTOCOL_OFFSET, 2);
        octets().putShort(at + SynopsisDescriptor.KEY_CLASS_INDEX_OFFSET, (short)classIndex, BYTE_ORDER);
        putLong(at + SynopsisDescriptor.KEY_PACKETS_OFFSET, packets);
        countPackets(packets);
    }
}
