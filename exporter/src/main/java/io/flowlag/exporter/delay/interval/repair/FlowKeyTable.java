package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.exporter.decode.FlowKeyLayout;
import org.agrona.MutableDirectBuffer;

/** The flows of an interval at a point, with their keys. One thread at a time. */
public interface FlowKeyTable {
    /** Finds a flow. Returns its row; negative if it is absent. */
    int find(long flowHash);

    /** {@return packets of flows without room} */
    long overflowPackets();

    /** Reads the packet count. Returns at least 1. */
    long packets(int row);

    /** Reads the IP version. Returns 4 or 6; 0 if the key is unknown. */
    int ipVersion(int row);

    /** Copies the 5-tuple of a row, in {@link FlowKeyLayout}. Ports are 0 for fragments. */
    void copyKey(int row, MutableDirectBuffer buffer, int offset);

    /** Reads the traffic class of the flow's first packet. */
    int classIndex(int row);
}
