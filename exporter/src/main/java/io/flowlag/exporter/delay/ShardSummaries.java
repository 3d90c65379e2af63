package io.flowlag.exporter.delay;

import java.util.Arrays;
import java.util.Map;
import java.util.Queue;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Summaries of several shards, each of which ends its intervals by itself: an interval is published when all shards have ended
 * it, or when one is {@link #MOST_WAITING} intervals ahead. Packets add up; all shards have the same references, so those of the
 * first count. The bound of a mean is that of the shards' means, weighted alike, because errors of references are common to all.
 * <p>
 * Each shard adds on its own thread. A thread that adds or reads merges what has come, one thread at a time; none waits for
 * another. Allocates with each interval of a shard, unless another's memory is free again.
 */
final class ShardSummaries extends PublishedSummaries {
    /** Intervals that wait for a shard which hangs. */
    private static final int MOST_WAITING = 4;

    private final int streamCount;
    private final Queue<Added> added = new ConcurrentLinkedQueue<>();
    private final Queue<StreamDelays[]> free = new ConcurrentLinkedQueue<>();
    private final AtomicBoolean isMerging = new AtomicBoolean();
    /** By their beginning; used by the merging thread, as are the next two. */
    private final TreeMap<Long, Added> waiting = new TreeMap<>();
    /** The beginning of the last interval that each shard has ended. */
    private final long[] endedNs;
    private long firstNs = Long.MAX_VALUE;

    private record Added(int shard, EndedPeriod period) {
    }

    /** Nothing yet; the other parameters as of {@link PublishedSummaries}. */
    ShardSummaries(final int shardCount, final int streamCount, final long maximumDelayNs) {
        super(streamCount, false, true, maximumDelayNs);
        this.streamCount = streamCount;
        endedNs = new long[shardCount];
        Arrays.fill(endedNs, Long.MIN_VALUE);
    }

    /** {@return octets of the intervals of shards that are not published yet, by formula} */
    static long waitingBytes(final int shardCount, final int streamCount) {
        return (long)(shardCount + MOST_WAITING + 1) * streamCount * 2 * StreamDelays.histogramBytes();
    }

    /** An interval of a shard has ended; its delays are free again afterwards. */
    void add(final int shard, final EndedPeriod ended) {
        final StreamDelays[] recycled = free.poll();
        final StreamDelays[] copies = recycled == null ? newDelays() : recycled;
        for (int i = 0; i < copies.length; i++) {
            copies[i].copy(ended.delays()[i]);
        }
        added.add(new Added(shard, new EndedPeriod(
            ended.firstNs(), ended.startNs(), ended.endNs(), ended.isLast(), ended.classes(), copies)));
        merge();
    }

    private StreamDelays[] newDelays() {
        final StreamDelays[] delays = new StreamDelays[streamCount];
        Arrays.setAll(delays, (i) -> new StreamDelays(false, true));
        return delays;
    }

    @Override
    void refresh() {
        merge();
    }

    /** What another thread adds while this one merges waits for the next call. */
    private void merge() {
        if (isMerging.compareAndSet(false, true)) {
            try {
                for (Added next = added.poll(); next != null; next = added.poll()) {
                    take(next);
                }
            } finally {
                isMerging.set(false);
            }
        }
    }

    private void take(final Added next) {
        final EndedPeriod period = next.period();
        firstNs = Math.min(firstNs, period.firstNs());
        if (period.startNs() < endedNs[next.shard()]) {
            // The clock was set back.
            publishBefore(Long.MAX_VALUE);
            Arrays.fill(endedNs, Long.MIN_VALUE);
        }
        endedNs[next.shard()] = period.isLast() ? Long.MAX_VALUE : period.startNs();
        waiting.merge(period.startNs(), next, this::merged);
        final long allEndedNs = Arrays.stream(endedNs).min().orElseThrow();
        publishBefore(allEndedNs == Long.MAX_VALUE ? Long.MAX_VALUE : allEndedNs + 1);
        while (waiting.size() > MOST_WAITING) {
            publishFirst();
        }
    }

    private Added merged(final Added one, final Added other) {
        final Added lower = one.shard() < other.shard() ? one : other;
        final EndedPeriod into = lower.period();
        final EndedPeriod from = (lower == one ? other : one).period();
        for (int i = 0; i < streamCount; i++) {
            into.delays()[i].addShard(from.delays()[i]);
        }
        free.add(from.delays());
        return new Added(lower.shard(), new EndedPeriod(
            into.firstNs(), into.startNs(), Math.max(into.endNs(), from.endNs()), into.isLast(), into.classes(), into.delays()));
    }

    private void publishBefore(final long startNs) {
        while (!waiting.isEmpty() && waiting.firstKey() < startNs) {
            publishFirst();
        }
    }

    private void publishFirst() {
        final Map.Entry<Long, Added> first = waiting.pollFirstEntry();
        final EndedPeriod period = first.getValue().period();
        add(new EndedPeriod(
            firstNs, period.startNs(), period.endNs(), period.isLast(), period.classes(), period.delays()));
        free.add(period.delays());
    }
}
