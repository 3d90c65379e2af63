package io.flowlag.exporter.flow;

import io.flowlag.exporter.config.ExporterConfig;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Settings of a {@link FlowCache}. Immutable; any thread.
 *
 * @param maxFlows         most flows at once, 1 to {@link FlowCache#MAX_FLOWS}.
 * @param stateLengthBytes octets that other stages keep per flow: 0 or a multiple of the cache line.
 * @param additions        what the cache keeps besides, see {@link FlowAdditions}.
 * @param boundaryNs       records of living flows are split at the first multiple of this time that is not before the active
 *                         timeout; 0 for the active timeout itself.
 * @param key              fields of the flow key beyond the 5-tuple, and its hash.
 * @param snapshots        copies of living flows.
 * @param shardIndex       index of this cache among those of the process, from 0, so that no two flows have the same id.
 * @param shardCount       caches of the process, 1 or more.
 */
public record FlowCacheSettings(
    int maxFlows, int stateLengthBytes, int additions, Timeouts timeouts, long boundaryNs, Key key, Snapshots snapshots,
    int shardIndex, int shardCount) {
    /**
     * When flows end.
     *
     * @param activeTimeoutNs longest that a record lasts, above 0.
     * @param idleTimeoutNs   how long a flow may be silent; 0 makes a record of every packet.
     * @param tcpEndTimeoutNs how long a TCP flow waits for stragglers after FIN or RST; 0 ends it with that packet.
     * @param cutNs           records of living flows end at each multiple of this time since the epoch, whatever the active
     *                        timeout; 0 for the active timeout.
     */
    public record Timeouts(long activeTimeoutNs, long idleTimeoutNs, long tcpEndTimeoutNs, long cutNs) {
        /** The product's defaults. */
        public static final Timeouts DEFAULTS = new Timeouts(60_000_000_000L, 15_000_000_000L, 1_000_000_000L, 0);

        /** Those of a configuration. */
        public static Timeouts of(final ExporterConfig.Metering config) {
            return new Timeouts(config.activeTimeoutNs(), config.idleTimeoutNs(), config.tcpEndTimeoutNs(), config.cutNs());
        }

        /** Checks ranges. */
        public Timeouts {
            require(activeTimeoutNs > 0, "activeTimeoutNs", activeTimeoutNs);
            require(idleTimeoutNs >= 0, "idleTimeoutNs", idleTimeoutNs);
            require(tcpEndTimeoutNs >= 0, "tcpEndTimeoutNs", tcpEndTimeoutNs);
            require(cutNs >= 0, "cutNs", cutNs);
        }
    }

    /**
     * The flow key.
     *
     * @param hasDscp      whether the DSCP belongs to it.
     * @param hasVlan      whether the outermost VLAN belongs to it.
     * @param hasInterface whether the interface belongs to it.
     * @param hashSeed     of its hash; random outside tests.
     */
    public record Key(boolean hasDscp, boolean hasVlan, boolean hasInterface, long hashSeed) {
        /** A key of these fields with a random seed. */
        public static Key of(final boolean hasDscp, final boolean hasVlan, final boolean hasInterface) {
            return new Key(hasDscp, hasVlan, hasInterface, FlowKey.randomSeed());
        }
    }

    /** Copies of living flows, each again after the interval, which is above 0. */
    public record Snapshots(SnapshotSink sink, long intervalNs) {
        /** No copies. */
        public static final Snapshots NONE = new Snapshots(SnapshotSink.NONE, Long.MAX_VALUE);

        /** Checks the range. */
        public Snapshots {
            require(intervalNs > 0, "snapshotIntervalNs", intervalNs);
        }
    }

    /** Checks ranges; an {@link IllegalArgumentException} has the name and the value at fault, as in all parts. */
    public FlowCacheSettings {
        require(maxFlows >= 1 && maxFlows <= FlowTable.MAX_FLOWS, "maxFlows", maxFlows);
        require(stateLengthBytes >= 0 && stateLengthBytes % CACHE_LINE_LENGTH == 0, "stateLengthBytes", stateLengthBytes);
        require(shardCount >= 1, "shardCount", shardCount);
        require(shardIndex >= 0 && shardIndex < shardCount, "shardIndex", shardIndex);
    }

    /** A single cache of the 5-tuple with the default timeouts that keeps nothing for other stages and makes no copies. */
    public static FlowCacheSettings of(final int maxFlows) {
        return new FlowCacheSettings(
            maxFlows, 0, FlowAdditions.NONE, Timeouts.DEFAULTS, 0, Key.of(false, false, false), Snapshots.NONE, 0, 1);
    }

    /** The largest number of flows. It is smaller for longer entries. */
    public int mostFlows() {
        return FlowTable.maxFlows(entryLengthBytes());
    }

    public int entryLengthBytes() {
        return FlowEntry.BASE_LENGTH_BYTES + stateLengthBytes + FlowAdditions.lengthBytes(additions);
    }

    /** {@return the memory that a cache of these settings takes, without that of copies, octets} */
    public long memoryBytes() {
        return FlowTable.memoryBytes(maxFlows, entryLengthBytes());
    }

    /** The memory of copies of living flows, without the entries, by formula. Returns octets on and off the heap. */
    public static long snapshotMemoryBytes(final int maxFlows) {
        return CacheSweep.memoryBytes(maxFlows);
    }

    private static void require(final boolean holds, final String name, final long value) {
        if (!holds) {
            throw new IllegalArgumentException(name + "=" + value + " is out of range");
        }
    }
}
