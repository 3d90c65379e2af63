package io.flowlag.exporter.checkpoint;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.flow.FlowCacheSettings;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.flow.SnapshotSink;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.CloseHelper;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.LongArrayList;
import org.agrona.concurrent.Agent;
import org.agrona.concurrent.MessageHandler;
import org.agrona.concurrent.UnsafeBuffer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Keeps copies of living flows in a file, from which the next start restores them after a crash. An ended flow stays, marked,
 * until its record has left the process. After a crash, at least the flows of the last complete round are restored. Records
 * exported since the last round but one may be exported twice; these are counted. While no collector accepts records, the
 * number of kept ended flows is limited by the cache's capacity.
 * <p>
 * The thread that starts the process opens it. {@link #sink()} belongs to the metering stage, everything else to the agent's
 * own thread. Allocates while it writes, away from the packet threads.
 */
public final class Checkpoint implements Agent {
    private static final Logger LOG = LoggerFactory.getLogger(Checkpoint.class);
    private static final long MIN_PAUSE_NS = 1_000_000_000L;
    private static final int MOST_ROUNDS_BEFORE_LOSS = 2;
    private static final long MAX_PAUSE_NS = 64 * MIN_PAUSE_NS;
    private static final RecordsUnderWay NO_RECORDS = new RecordsUnderWay() {
        @Override
        public void await(final long nowNs) {
            // nothing is under way
        }

        @Override
        public boolean haveLeft(final long nowNs) {
            return true;
        }
    };

    private final CheckpointFile file;
    private final CheckpointRing ring;
    private final SavedFlows savedFlows;
    private final Counters counters;
    private final MessageHandler messageHandler = this::onMessage;
    private final UnsafeBuffer view = new UnsafeBuffer(0, 0);
    private final int maxFlows;
    private volatile boolean isDiscarded;
    private RecordsUnderWay records = NO_RECORDS;
    private LongArrayList endedLately = new LongArrayList();
    private LongArrayList awaited = new LongArrayList();
    /** Those of all shards, which one thread works: a round is complete when it is in each. */
    private List<Checkpoint> shards = List.of(this);
    private long completeRounds;
    private int roundCount;
    private int partialRounds;
    private long roundNs;
    private boolean isBroken;
    private long brokenNs;
    private long pauseNs;

    private Checkpoint(
        final CheckpointFile file, final CheckpointRing ring, final SavedFlows savedFlows, final int maxFlows,
        final Counters counters) {
        this.maxFlows = maxFlows;
        this.file = file;
        this.ring = ring;
        this.savedFlows = savedFlows;
        this.counters = counters;
    }

    /**
     * Opens the file and reads the flows of a former process. A damaged or foreign file is moved aside with a warning.
     *
     * @param stateLengthBytes of other stages in the cache.
     * @throws IOException with a message for the user, if the file cannot be locked or created.
     */
    public static Checkpoint open(
        final Path path, final int maxFlows, final int stateLengthBytes, final Counters counters) throws IOException {
        return open(path, maxFlows, stateLengthBytes, counters, Disk.SYSTEM);
    }

    /**
     * Opens the file of each shard of a process: each has the flows that the same shard of a former process had, because the
     * kernel shares packets out alike until the system is started again.
     *
     * @param path     of the only shard; of several, {@code PATH.shard-count}.
     * @param maxFlows of all shards together.
     * @return a checkpoint for each shard.
     * @throws IOException with a message for the user; also where there is a file of a process with another number of shards.
     */
    public static List<Checkpoint> openShards(
        final Path path, final int shardCount, final int maxFlows, final int stateLengthBytes, final Counters counters)
        throws IOException {
        refuseOthers(path, shardCount);
        if (shardCount == 1) {
            return List.of(open(path, maxFlows, stateLengthBytes, counters));
        }
        final List<Checkpoint> checkpoints = new ArrayList<>();
        try {
            for (int i = 0; i < shardCount; i++) {
                checkpoints.add(open(
                    path.resolveSibling(path.getFileName() + "." + i + "-" + shardCount),
                    (maxFlows + shardCount - 1) / shardCount, stateLengthBytes, counters.share()));
            }
            checkpoints.forEach((each) -> each.shards = checkpoints);
            return checkpoints;
        } catch (final IOException | RuntimeException ex) {
            checkpoints.forEach(Checkpoint::onClose);
            throw ex;
        }
    }

    /** A clean end removes every file: one of another number of shards holds flows that would be lost. */
    private static void refuseOthers(final Path path, final int shardCount) throws IOException {
        final String name = path.getFileName().toString();
        final Path directory = path.toAbsolutePath().getParent();
        if (!Files.isDirectory(directory) || !Files.isReadable(directory)) {
            return; // to open a file there says why not
        }
        try (DirectoryStream<Path> files = Files.newDirectoryStream(directory)) {
            for (final Path each : files) {
                final String other = each.getFileName().toString();
                final boolean isOne = other.equals(name);
                final boolean isOfSeveral = other.startsWith(name + ".") &&
                    other.substring(name.length()).matches("\\.[0-9]+-[0-9]+");
                if (shardCount == 1 ? isOfSeveral : isOne || isOfSeveral && !other.endsWith("-" + shardCount)) {
                    throw new IOException(other + " has flows of a process with " +
                        (isOne ? "one flow cache" : "pipeline.shards " + other.substring(other.lastIndexOf('-') + 1)) +
                        ": start with as many, or remove it");
                }
            }
        }
    }

    /** As {@link #open(Path, int, int, Counters)}, with a given disk. */
    public static Checkpoint open(
        final Path path, final int maxFlows, final int stateLengthBytes, final Counters counters, final Disk disk)
        throws IOException {
        final CheckpointFile file = CheckpointFile.lock(path, maxFlows, disk);
        CheckpointRing ring = null;
        try {
            ring = CheckpointRing.open(path.resolveSibling(path.getFileName() + ".ring"), stateLengthBytes, disk);
            final boolean isCut = ring.isOfOtherBoot();
            final SavedFlows savedFlows = file.open(ring::replayInto);
            ring.begin(maxFlows);
            if (!file.setAside().isEmpty()) {
                LOG.warn("cannot read the checkpoint {}; moved it to {}", path, file.setAside());
            }
            counters.set(CounterId.CHECKPOINT_ENTRIES_REFUSED, file.refusedCount());
            counters.set(CounterId.FLOWS_PERHAPS_DOUBLED, savedFlows.count()); // what was still in memory may have ended any
            if (savedFlows.count() > 0) {
                LOG.warn("unclean shutdown{}: restored {} flows from the checkpoint; any of them may have been exported before",
                    isCut ? ", perhaps of the system" : "", savedFlows.count());
            }
            return new Checkpoint(file, ring, savedFlows, maxFlows, counters);
        } catch (final IOException | RuntimeException ex) {
            CloseHelper.quietClose(ring);
            file.close();
            throw ex;
        }
    }

    /**
     * The memory of a checkpoint, by formula: the ring, the cache's memory of what it gave, the flows found at the start (until
     * they are restored), and the file, whose pages the system may keep in memory. Returns octets.
     */
    public static long memoryBytes(final int maxFlows) {
        return CheckpointRing.memoryBytes(maxFlows) + FlowCacheSettings.snapshotMemoryBytes(maxFlows) +
            SavedFlows.memoryBytes(maxFlows) + CheckpointFile.sizeBytes(maxFlows);
    }

    /** Sets the tracker of records under way; before the agent works. Without it an ended flow stays for one round. */
    public void recordsUnderWay(final RecordsUnderWay recordsUnderWay) {
        records = recordsUnderWay;
    }

    /** {@return what takes copies of flows} */
    public SnapshotSink sink() {
        return ring;
    }

    /** {@return the flows of the former process} */
    public SavedFlows savedFlows() {
        return savedFlows;
    }

    @Override
    public String roleName() {
        return "checkpoint";
    }

    @Override
    public int doWork() {
        if (isBroken) {
            return ring.isDue() ? passOver() : 0;
        }
        try {
            return ring.write() + (ring.isDue() ? write() : 0);
        } catch (final IOException | RuntimeException | InternalError ex) {
            onFailure(ex);
            return 1;
        }
    }

    /** Marks the shutdown as clean, with every flow exported: the file is removed when the agent closes. Any thread. */
    public void discard() {
        isDiscarded = true;
    }

    /** The metering stage has closed before. */
    @Override
    public void onClose() {
        try {
            if (isDiscarded) {
                file.remove();
                ring.remove();
            } else if (!isBroken) {
                ring.write();
            }
        } catch (final IOException ex) {
            LOG.warn("cannot {} the checkpoint: {}", isDiscarded ? "remove" : "write", ex.getMessage());
        } finally {
            file.close();
            ring.close();
        }
    }

    /** The copies reach the disk before the map changes, so that they mend what a power cut tears there. */
    private int write() throws IOException {
        ring.force();
        roundCount = 0;
        final int count = ring.read(messageHandler);
        if (roundCount > 0) {
            endRound();
        } else {
            file.force();
        }
        ring.release();
        return count;
    }

    private void onMessage(final int type, final MutableDirectBuffer buffer, final int index, final int length) {
        if (type == CheckpointRing.ROUND) {
            roundNs = buffer.getLong(index);
            roundCount += partialRounds == 0 ? 1 : 0;
            partialRounds = Math.max(0, partialRounds - 1);
        } else if (!isBroken) {
            switch (type) {
                case CheckpointRing.FLOW -> put(buffer, index, length);
                case CheckpointRing.LAST -> onEnded(put(buffer, index, length));
                default -> onEnded(buffer.getLong(index));
            }
        }
    }

    private long put(final MutableDirectBuffer buffer, final int index, final int length) {
        view.wrap(buffer, index, length);
        final long flowId = FlowEntry.flowId(view, 0);
        file.put(view, 0, flowId);
        counters.increment(CounterId.CHECKPOINT_FLOWS_WRITTEN);
        return flowId;
    }

    private void onEnded(final long flowId) {
        if (awaited.size() + endedLately.size() >= maxFlows) {
            file.remove(flowId);
            counters.increment(CounterId.CHECKPOINT_FLOWS_FORGOTTEN);
        } else if (file.markEnded(flowId)) {
            endedLately.addLong(flowId);
        }
    }

    /** Flows are taken out once the round is on the disk, and only after their records are. */
    private void endRound() throws IOException {
        file.endRound(roundNs);
        if (!awaited.isEmpty() && records.haveLeft(roundNs)) {
            awaited.forEachOrderedLong(file::remove);
            awaited.clear();
            file.force();
        }
        if (awaited.isEmpty() && !endedLately.isEmpty()) {
            final LongArrayList none = awaited;
            awaited = endedLately;
            endedLately = none;
            records.await(roundNs);
        }
        pauseNs = 0;
        completeRounds += roundCount;
        shards.get(0).counters.set(
            CounterId.CHECKPOINT_ROUNDS, shards.stream().mapToLong((each) -> each.completeRounds).min().orElseThrow());
    }

    /** The file is no longer trusted. A new one is begun after a pause, which doubles each time until a round is complete. */
    private void onFailure(final Throwable cause) {
        counters.increment(CounterId.CHECKPOINT_FAILURES);
        awaited.clear();
        endedLately.clear();
        isBroken = true;
        brokenNs = roundNs;
        pauseNs = Math.min(MAX_PAUSE_NS, Math.max(MIN_PAUSE_NS, 2 * pauseNs));
        LOG.error("cannot write the checkpoint, starting a new file in {} s: {}", pauseNs / MIN_PAUSE_NS, cause.toString());
    }

    /** Drops the copies until a new file can be begun; then all flows are given again. */
    private int passOver() {
        ring.pass();
        final int count = ring.read(messageHandler);
        ring.free();
        if (roundNs - brokenNs >= pauseNs || roundNs < brokenNs) {
            try {
                file.beginAgain();
                ring.release();
                isBroken = false;
                partialRounds = MOST_ROUNDS_BEFORE_LOSS; // they began before all flows are given again
                ring.lose();
            } catch (final IOException | RuntimeException | InternalError ex) {
                onFailure(ex);
            }
        }
        return count;
    }
}
