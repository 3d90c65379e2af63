package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;

import java.util.List;
import java.util.function.BooleanSupplier;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * When shards meet. Each meters the packets from before a limit, tells that it has reached it, and does nothing more; when all
 * have, the first works for all and sets the next limit. A shard that has ended is not waited for, and none waits once the first
 * has ended.
 * <p>
 * Whatever a shard did before {@link #reach} happens before the first's work, and that before {@link #isHeld} is false. Each
 * shard writes its own time, the first the limit. Allocates at construction, off the heap.
 */
final class ShardMeeting {
    /** Reached instead of a time: every packet was metered. */
    static final long END_NS = Long.MAX_VALUE;
    /** Reached instead of a time: the clock was set back. */
    static final long SET_BACK_NS = END_NS - 1;
    private static final long NO_LIMIT_NS = Long.MAX_VALUE;
    private static final long START_NS = Long.MIN_VALUE + 1;
    private static final long NOT_YET_NS = Long.MIN_VALUE;

    private final BooleanSupplier[] areEnded;
    /** The limit, then the time of each shard, a cache line each. */
    private final OffHeapBuffer times;

    /** Before the first packet; shards meet, or never. */
    ShardMeeting(final List<BooleanSupplier> areEnded, final boolean isMeeting) {
        this.areEnded = areEnded.toArray(new BooleanSupplier[0]);
        times = OffHeapBuffer.allocate((areEnded.size() + 1) * CACHE_LINE_LENGTH);
        limit(isMeeting ? START_NS : NO_LIMIT_NS);
        forget();
    }

    private void forget() {
        for (int shard = 0; shard < areEnded.length; shard++) {
            reach(shard, NOT_YET_NS);
        }
    }

    /** {@return the time from which on packets wait} */
    long limitNs() {
        return areEnded[0].getAsBoolean() ? NO_LIMIT_NS : times.getLongVolatile(0);
    }

    /** A shard has metered everything from before a time, which is not before the limit, and does nothing more. */
    void reach(final int shard, final long timeNs) {
        times.putLongOrdered((shard + 1) * CACHE_LINE_LENGTH, timeNs);
    }

    /** {@return whether a shard is to do nothing} */
    boolean isHeld(final int shard) {
        final long limitNs = limitNs();
        return limitNs != NO_LIMIT_NS && reachedNs(shard) >= limitNs;
    }

    private long reachedNs(final int shard) {
        return times.getLongVolatile((shard + 1) * CACHE_LINE_LENGTH);
    }

    /** {@return the time that all shards have reached; before the limit if some have not, or shards never meet} */
    long reachedNs() {
        long reachedNs = END_NS;
        for (int shard = 0; shard < areEnded.length; shard++) {
            reachedNs = Math.min(reachedNs, areEnded[shard].getAsBoolean() ? END_NS : reachedNs(shard));
        }
        return reachedNs;
    }

    /** Lets the shards go on up to a time; the first's. */
    void limit(final long limitNs) {
        times.putLongOrdered(0, limitNs);
    }

    /** Lets the shards go on with a new time; the first's. */
    void restart() {
        forget();
        limit(START_NS);
    }

    /** Lets the shards go on, and never meet again; the first's. */
    void end() {
        limit(NO_LIMIT_NS);
    }
}
