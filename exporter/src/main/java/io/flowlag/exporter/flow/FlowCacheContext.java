package io.flowlag.exporter.flow;

import java.util.concurrent.TimeUnit;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The parameters of a {@link FlowCache}; the defaults are the product's. Fluent until the cache is created, which checks ranges
 * and copies what it needs. Used by the thread that fills it.
 */
public final class FlowCacheContext {
    private int maxFlows = 128 * 1024;
    private int stateLengthBytes;
    private long boundaryNs;
    private long activeTimeoutNs = TimeUnit.SECONDS.toNanos(60);
    private long idleTimeoutNs = TimeUnit.SECONDS.toNanos(15);
    private long tcpEndTimeoutNs = TimeUnit.SECONDS.toNanos(1);
    private boolean dscpInKey;
    private boolean vlanInKey;
    private boolean interfaceInKey;
    private long hashSeed = FlowKey.randomSeed();
    private SnapshotSink snapshotSink;
    private long snapshotIntervalNs;
    private int shardIndex;
    private int shardCount = 1;

    /** Defaults. */
    public FlowCacheContext() {
    }

    /** {@return how many flows there are at most} */
    public int maxFlows() {
        return maxFlows;
    }

    /**
     * Sets how many flows there are at most.
     *
     * @param maxFlows 1 to {@link FlowCache#MAX_FLOWS}.
     */
    public FlowCacheContext maxFlows(final int maxFlows) {
        this.maxFlows = maxFlows;
        return this;
    }

    /** {@return octets that other stages keep per flow} */
    public int stateLengthBytes() {
        return stateLengthBytes;
    }

    /**
     * Sets how many octets other stages keep per flow.
     *
     * @param stateLengthBytes 0 or a multiple of the cache line.
     */
    public FlowCacheContext stateLengthBytes(final int stateLengthBytes) {
        this.stateLengthBytes = stateLengthBytes;
        return this;
    }

    /** {@return where records of living flows are split, ns; 0 for anywhere} */
    public long boundaryNs() {
        return boundaryNs;
    }

    /**
     * Sets where records of living flows are split: at the first multiple of this time that is not before the active timeout.
     *
     * @param boundaryNs 0 for the active timeout itself.
     */
    public FlowCacheContext boundaryNs(final long boundaryNs) {
        this.boundaryNs = boundaryNs;
        return this;
    }

    /** {@return the longest that a record lasts, ns} */
    public long activeTimeoutNs() {
        return activeTimeoutNs;
    }

    /**
     * Sets the longest that a record lasts.
     *
     * @param activeTimeoutNs more than 0.
     */
    public FlowCacheContext activeTimeoutNs(final long activeTimeoutNs) {
        this.activeTimeoutNs = activeTimeoutNs;
        return this;
    }

    /** {@return how long a flow may be silent, ns} */
    public long idleTimeoutNs() {
        return idleTimeoutNs;
    }

    /**
     * Sets how long a flow may be silent.
     *
     * @param idleTimeoutNs 0 makes a record of every packet.
     */
    public FlowCacheContext idleTimeoutNs(final long idleTimeoutNs) {
        this.idleTimeoutNs = idleTimeoutNs;
        return this;
    }

    /** {@return how long a TCP flow waits for stragglers after FIN or RST, ns} */
    public long tcpEndTimeoutNs() {
        return tcpEndTimeoutNs;
    }

    /**
     * Sets how long a TCP flow waits for stragglers after FIN or RST.
     *
     * @param tcpEndTimeoutNs 0 ends it with that packet.
     */
    public FlowCacheContext tcpEndTimeoutNs(final long tcpEndTimeoutNs) {
        this.tcpEndTimeoutNs = tcpEndTimeoutNs;
        return this;
    }

    /** {@return whether the DSCP belongs to the flow key} */
    public boolean dscpInKey() {
        return dscpInKey;
    }

    /**
     * Sets whether the DSCP belongs to the flow key.
     *
     * @param dscpInKey true if so.
     */
    public FlowCacheContext dscpInKey(final boolean dscpInKey) {
        this.dscpInKey = dscpInKey;
        return this;
    }

    /** {@return whether the outermost VLAN belongs to the flow key} */
    public boolean vlanInKey() {
        return vlanInKey;
    }

    /**
     * Sets whether the outermost VLAN belongs to the flow key.
     *
     * @param vlanInKey true if so.
     */
    public FlowCacheContext vlanInKey(final boolean vlanInKey) {
        this.vlanInKey = vlanInKey;
        return this;
    }

    /** {@return whether the interface belongs to the flow key} */
    public boolean interfaceInKey() {
        return interfaceInKey;
    }

    /**
     * Sets whether the interface belongs to the flow key.
     *
     * @param interfaceInKey true if so.
     */
    public FlowCacheContext interfaceInKey(final boolean interfaceInKey) {
        this.interfaceInKey = interfaceInKey;
        return this;
    }

    /** {@return the seed of the key hash} */
    public long hashSeed() {
        return hashSeed;
    }

    /**
     * Sets the seed of the key hash; random unless set.
     *
     * @param hashSeed any.
     */
    public FlowCacheContext hashSeed(final long hashSeed) {
        this.hashSeed = hashSeed;
        return this;
    }

    /** {@return the consumer of copies of living flows; null for none} */
    public SnapshotSink snapshotSink() {
        return snapshotSink;
    }

    /** {@return how often living flows are copied, ns} */
    public long snapshotIntervalNs() {
        return snapshotIntervalNs;
    }

    /**
     * Sets the consumer of copies of living flows.
     *
     * @param sink       null for none.
     * @param intervalNs more than 0 where there is one.
     */
    public FlowCacheContext snapshots(final SnapshotSink sink, final long intervalNs) {
        snapshotSink = sink;
        snapshotIntervalNs = intervalNs;
        return this;
    }

    /** {@return the index of this cache among those of the process, from 0} */
    public int shardIndex() {
        return shardIndex;
    }

    /** {@return how many caches the process has} */
    public int shardCount() {
        return shardCount;
    }

    /**
     * Sets the index among several caches, so that no two flows of the process have the same id.
     *
     * @param index 0 to {@code count - 1}.
     * @param count of the caches, 1 or more.
     */
    public FlowCacheContext shard(final int index, final int count) {
        shardIndex = index;
        shardCount = count;
        return this;
    }

    /** The largest number of flows. It is smaller for longer entries. */
    public int mostFlows() {
        return FlowTable.maxFlows(entryLengthBytes());
    }

    /** {@return the octets of one entry} */
    public int entryLengthBytes() {
        return FlowEntry.BASE_LENGTH_BYTES + stateLengthBytes;
    }

    /** {@return the memory that a cache of this context takes, octets} */
    public long memoryBytes() {
        return FlowTable.memoryBytes(maxFlows, entryLengthBytes()) +
            (snapshotSink == null ? 0 : snapshotMemoryBytes(maxFlows));
    }

    /**
     * The memory of copies of living flows, without the entries, by formula.
     *
     * @param maxFlows how many flows there are at most.
     * @return octets on and off the heap.
     */
    public static long snapshotMemoryBytes(final int maxFlows) {
        return CacheSweep.memoryBytes(maxFlows);
    }

    void conclude() {
        require(maxFlows >= 1 && maxFlows <= FlowTable.MAX_FLOWS, "maxFlows", maxFlows);
        require(stateLengthBytes >= 0 && stateLengthBytes % CACHE_LINE_LENGTH == 0, "stateLengthBytes", stateLengthBytes);
        checkTimeouts(activeTimeoutNs, idleTimeoutNs, tcpEndTimeoutNs);
        require(snapshotSink == null || snapshotIntervalNs > 0, "snapshotIntervalNs", snapshotIntervalNs);
        require(shardCount >= 1, "shardCount", shardCount);
        require(shardIndex >= 0 && shardIndex < shardCount, "shardIndex", shardIndex);
    }

    static void checkTimeouts(final long activeTimeoutNs, final long idleTimeoutNs, final long tcpEndTimeoutNs) {
        require(activeTimeoutNs > 0, "activeTimeoutNs", activeTimeoutNs);
        require(idleTimeoutNs >= 0, "idleTimeoutNs", idleTimeoutNs);
        require(tcpEndTimeoutNs >= 0, "tcpEndTimeoutNs", tcpEndTimeoutNs);
    }

    private static void require(final boolean holds, final String name, final long value) {
        if (!holds) {
            throw new IllegalArgumentException(name + "=" + value + " is out of range");
        }
    }
}
