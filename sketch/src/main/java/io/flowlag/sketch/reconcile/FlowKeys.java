package io.flowlag.sketch.reconcile;

/**
 * One point's answer to the other's request for the keys of flows that only it has, so that lost packets of a flow without
 * arrivals have a key: a record of 56 octets for each flow. It has the image format of a synopsis and is verified like one;
 * {@link SynopsisImage} reads it. Addresses are the numbers of big-endian octets.
 *
 * <p>One thread at a time. It owns its memory. Allocates at construction, and a geometry for each answer.
 */
public final class FlowKeys extends Synopsis {
    private static final int PORT_MASK = 0xffff;
    private static final int OCTET_MASK = 0xff;
    private static final int DESTINATION_PORT_SHIFT = shift(SynopsisDescriptor.KEY_DESTINATION_PORT_OFFSET);
    private static final int PROTOCOL_SHIFT = shift(SynopsisDescriptor.KEY_PROTOCOL_OFFSET);
    private static final int VERSION_SHIFT = shift(SynopsisDescriptor.KEY_IP_VERSION_OFFSET);
    private static final int CLASS_SHIFT = shift(SynopsisDescriptor.KEY_CLASS_INDEX_OFFSET);

    private int count;

    private static int shift(final int offset) {
        return Byte.SIZE * (offset - SynopsisDescriptor.KEY_SOURCE_PORT_OFFSET);
    }

    /**
     * Takes the memory of answers.
     *
     * @param capacity most flows of an answer, at least 1.
     * @param seed     that both measurement points share.
     */
    public FlowKeys(final int capacity, final long seed) {
        super(SynopsisFamily.FLOW_KEYS, new SynopsisGeometry(SynopsisFamily.FLOW_KEYS, 1, capacity), seed);
    }

    /** {@return most flows of an answer} */
    public int capacity() {
        return (capacityBytes() - SynopsisDescriptor.PREAMBLE_LENGTH) / SynopsisFamily.FLOW_KEYS.cellLength();
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
     * Adds a flow.
     *
     * @param packets         of the flow in the interval.
     * @param sourceHigh      first 8 octets of the address; 0 for IPv4.
     * @param sourceLow       last 8 octets; for IPv4 the address.
     * @param sourcePort      0 for fragments.
     * @param destinationPort 0 for fragments.
     * @param protocol        number of the transport protocol.
     * @param ipVersion       4 or 6.
     * @param classIndex      of its first packet.
     */
    public void add(
        final long flowHash, final long packets, final long sourceHigh, final long sourceLow, final long destinationHigh,
        final long destinationLow, final int sourcePort, final int destinationPort, final int protocol, final int ipVersion,
        final int classIndex) {
        final int at = cellOffset(count++);
        putLong(at + SynopsisDescriptor.KEY_FLOW_HASH_OFFSET, flowHash);
        putLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET, sourceHigh);
        putLong(at + SynopsisDescriptor.KEY_SOURCE_OFFSET + Long.BYTES, sourceLow);
        putLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET, destinationHigh);
        putLong(at + SynopsisDescriptor.KEY_DESTINATION_OFFSET + Long.BYTES, destinationLow);
        putLong(at + SynopsisDescriptor.KEY_SOURCE_PORT_OFFSET,
            sourcePort & PORT_MASK | (long)(destinationPort & PORT_MASK) << DESTINATION_PORT_SHIFT |
            (long)(protocol & OCTET_MASK) << PROTOCOL_SHIFT | (long)(ipVersion & OCTET_MASK) << VERSION_SHIFT |
            (long)(classIndex & PORT_MASK) << CLASS_SHIFT);
        putLong(at + SynopsisDescriptor.KEY_PACKETS_OFFSET, packets);
        countPackets(packets);
    }
}
