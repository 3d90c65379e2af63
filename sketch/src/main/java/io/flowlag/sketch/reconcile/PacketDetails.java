package io.flowlag.sketch.reconcile;

/** A source of packets with their flows, for removing packets from cells and from sums of flows; entries are of {@link #find}. */
public interface PacketDetails extends ListedTimes {
    /** The flow of a packet; of copies of different flows the first's. */
    long flowHash(int entry);

    /** Octets of all copies. */
    long bytes(int entry);

    /** Weight of the packet's flow, 1 or more. */
    int weight(int entry);

    /** The traffic class of a packet, 0 to {@link PacketCache#MAX_CLASS_INDEX}; of copies the first's. */
    int classIndex(int entry);

    /** Whether copies of one identifier belong to different flows, so that no flow can be named. */
    boolean collided(int entry);
}
