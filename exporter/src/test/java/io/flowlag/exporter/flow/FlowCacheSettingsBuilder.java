package io.flowlag.exporter.flow;

import io.flowlag.exporter.flow.FlowCacheSettings.Timeouts;

/** Builds settings of a flow cache value by value, from the product's defaults. For the thread that fills it. */
public final class FlowCacheSettingsBuilder {
    private int maxFlows = 128 * 1024;
    private int stateLengthBytes;
    private int additions;
    private long boundaryNs;
    private long activeTimeoutNs = Timeouts.DEFAULTS.activeTimeoutNs();
    private long idleTimeoutNs = Timeouts.DEFAULTS.idleTimeoutNs();
    private long tcpEndTimeoutNs = Timeouts.DEFAULTS.tcpEndTimeoutNs();
    private long cutNs;
    private boolean dscpInKey;
    private boolean vlanInKey;
    private boolean interfaceInKey;
    private long hashSeed = FlowKey.randomSeed();
    private FlowCacheSettings.Snapshots snapshots = FlowCacheSettings.Snapshots.NONE;
    private int shardIndex;
    private int shardCount = 1;

    /** The settings. */
    public FlowCacheSettings build() {
        return new FlowCacheSettings(
            maxFlows, stateLengthBytes, additions, new Timeouts(activeTimeoutNs, idleTimeoutNs, tcpEndTimeoutNs, cutNs),
            boundaryNs, new FlowCacheSettings.Key(dscpInKey, vlanInKey, interfaceInKey, hashSeed), snapshots, shardIndex,
            shardCount);
    }

    /** Copies of living flows. */
    public FlowCacheSettingsBuilder snapshots(final SnapshotSink sink, final long intervalNs) {
        snapshots = new FlowCacheSettings.Snapshots(sink, intervalNs);
        return this;
    }

    /** What the cache keeps besides. */
    public FlowCacheSettingsBuilder additions(final boolean hasTcp, final boolean hasMac) {
        additions = FlowAdditions.of(hasTcp, hasMac);
        return this;
    }

    /** One of several caches. */
    public FlowCacheSettingsBuilder shard(final int index, final int count) {
        shardIndex = index;
        shardCount = count;
        return this;
    }

    /** Most flows. */
    public FlowCacheSettingsBuilder maxFlows(final int newMaxFlows) {
        maxFlows = newMaxFlows;
        return this;
    }

    /** Octets of other stages per flow. */
    public FlowCacheSettingsBuilder stateLengthBytes(final int newStateLengthBytes) {
        stateLengthBytes = newStateLengthBytes;
        return this;
    }

    /** Where records are split. */
    public FlowCacheSettingsBuilder boundaryNs(final long newBoundaryNs) {
        boundaryNs = newBoundaryNs;
        return this;
    }

    /** Longest that a record lasts. */
    public FlowCacheSettingsBuilder activeTimeoutNs(final long newActiveTimeoutNs) {
        activeTimeoutNs = newActiveTimeoutNs;
        return this;
    }

    /** Longest silence of a flow. */
    public FlowCacheSettingsBuilder idleTimeoutNs(final long newIdleTimeoutNs) {
        idleTimeoutNs = newIdleTimeoutNs;
        return this;
    }

    /** Wait after FIN or RST. */
    public FlowCacheSettingsBuilder tcpEndTimeoutNs(final long newTcpEndTimeoutNs) {
        tcpEndTimeoutNs = newTcpEndTimeoutNs;
        return this;
    }

    /** At what multiples records end. */
    public FlowCacheSettingsBuilder cutNs(final long newCutNs) {
        cutNs = newCutNs;
        return this;
    }

    /** Whether the DSCP belongs to the key. */
    public FlowCacheSettingsBuilder dscpInKey(final boolean newDscpInKey) {
        dscpInKey = newDscpInKey;
        return this;
    }

    /** Whether the VLAN belongs to the key. */
    public FlowCacheSettingsBuilder vlanInKey(final boolean newVlanInKey) {
        vlanInKey = newVlanInKey;
        return this;
    }

    /** Whether the interface belongs to the key. */
    public FlowCacheSettingsBuilder interfaceInKey(final boolean newInterfaceInKey) {
        interfaceInKey = newInterfaceInKey;
        return this;
    }

    /** Seed of the hash. */
    public FlowCacheSettingsBuilder hashSeed(final long newHashSeed) {
        hashSeed = newHashSeed;
        return this;
    }
}
