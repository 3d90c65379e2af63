package io.flowlag.exporter.delay.interval.repair;

import org.agrona.MutableDirectBuffer;

/**
 * The flows of an interval at a point, with their keys. One thread at a time. An address is two big-endian numbers: the first 8
 * octets (0 for IPv4) and the last 8 (the address for IPv4).
 */
public interface FlowKeyTable {
    /** Finds a flow. Returns its row; negative if it is absent. */
    int find(long flowHash);

    /** {@return packets of flows without room} */
    long overflowPackets();

    /** Reads the packet count. Returns at least 1. */
    long packets(int row);

    /** Reads the IP version. Returns 4 or 6; 0 if the key is unknown. */
    int ipVersion(int row);

    /** Copies a 5-tuple, in the layout of {@link io.flowlag.exporter.decode.FlowKeyLayout}. */
    void copyKey(int row, MutableDirectBuffer buffer, int offset);

    /** Reads the source address. Returns its first half. */
    long sourceHigh(int row);

    /** Reads the source address. Returns its last half. */
    long sourceLow(int row);

    /** Reads the destination address. Returns its first half. */
    long destinationHigh(int row);

    /** Reads the destination address. Returns its last half. */
    long destinationLow(int row);

    /** Reads the source port. Returns 0 for fragments. */
    int sourcePort(int row);

    /** Reads the destination port. Returns 0 for fragments. */
    int destinationPort(int row);

    /** Reads the transport protocol. */
    int protocol(int row);

    /** Reads the traffic class of the flow's first packet. */
    int classIndex(int row);
}
