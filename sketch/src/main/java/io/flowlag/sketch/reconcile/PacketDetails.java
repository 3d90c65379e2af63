package io.flowlag.sketch.reconcile;

/** A source of packets with their flows, for removing packets from cells and from sums of flows. */
public interface PacketDetails extends ListedTimes {
    /**
     * The flow of a packet; of copies of different flows the first's.
     *
     * @param entry of {@link #find}.
     */
    long flowHash(int entry);

    /**
     * Octets of all copies.
     *
     * @param entry of {@link #find}.
     * @return octets.
     */
    long bytes(int entry);

    /**
     * Weight of the packet's flow.
     *
     * @param entry of {@link #find}.
     * @return 1 or more.
     */
    int weight(int entry);

    /**
     * The traffic class of a packet; of copies the first's.
     *
     * @param entry of {@link #find}.
     * @return index, 0 to {@link PacketCache#MAX_CLASS_INDEX}.
     */
    int classIndex(int entry);

    /**
     * Whether copies of one identifier belong to different flows, so that no flow can be named.
     *
     * @param entry of {@link #find}.
     */
    boolean collided(int entry);
}
