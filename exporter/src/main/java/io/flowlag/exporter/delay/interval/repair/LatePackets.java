package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.ListedTimes;
import io.flowlag.sketch.reconcile.PacketCache;
import org.agrona.collections.Long2ObjectHashMap;
import org.agrona.collections.LongHashSet;

/**
 * Packets that only the sender point has in an interval and the receiver point has in the next one. Either they arrived later
 * than packets are held for, or other packets with equal digests were sent and arrived there. The next interval decides: a late
 * packet is unexpected in it. Until then the packet is awaited and does not count as lost.
 *
 * <p>One thread. Allocates where packets are lost or late.
 */
public final class LatePackets {
    /** Most packets of an interval that are remembered. */
    private static final int MOST_PACKETS = 1 << 14;

    private Long2ObjectHashMap<Awaited> awaited = new Long2ObjectHashMap<>();
    private Long2ObjectHashMap<Awaited> awaitedBefore = new Long2ObjectHashMap<>();
    private LongHashSet reported = new LongHashSet();
    private LongHashSet reportedBefore = new LongHashSet();
    private final LongHashSet awaitedFlows = new LongHashSet();
    private final LongHashSet undecidedFlows = new LongHashSet();
    private PacketCache next;
    private long number = Long.MIN_VALUE;
    private long latePackets;
    private boolean isAny;

    /** The awaited packets of a digest. */
    private record Awaited(long flowHash, int classIndex, long packets) {
    }

    /** Receives awaited packets that did not arrive. */
    interface LossHandler {
        void onLost(long flowHash, int classIndex, long packets);
    }

    /** Begins an interval. The next one's packets, as far as they arrived, are null if there are none. */
    void begin(final long newNumber, final PacketCache newNext) {
        final Long2ObjectHashMap<Awaited> emptied = awaitedBefore;
        awaitedBefore = awaited;
        awaited = emptied;
        awaited.clear();
        final LongHashSet cleared = reportedBefore;
        reportedBefore = reported;
        reported = cleared;
        reported.clear();
        if (newNumber != number + 1) {
            awaitedBefore.clear();
            reportedBefore.clear();
        }
        number = newNumber;
        next = newNext;
        latePackets = 0;
        isAny = false;
        awaitedFlows.clear();
        undecidedFlows.clear();
    }

    /** Adds packets that only the sender point has, at least 1. Returns how many of them are awaited. */
    long onLost(final long digest, final long flowHash, final int classIndex, final long packets) {
        final int entry = next == null || awaited.size() >= MOST_PACKETS ? ListedTimes.NOT_FOUND : next.find(digest);
        final long found = entry == ListedTimes.NOT_FOUND || next.collided(entry) || next.flowHash(entry) != flowHash ? 0 :
            Math.min(packets, next.copies(entry));
        isAny |= found > 0;
        if (found > 0) {
            awaited.put(digest, new Awaited(flowHash, classIndex, found));
            awaitedFlows.add(flowHash);
        }
        if (found < packets && reported.size() < MOST_PACKETS) {
            reported.add(digest);
        }
        return found;
    }

    /**
     * Adds packets that only the receiver point has, at least 1. Returns how many of them were awaited and arrived late. If
     * such packets were already reported as lost, the loss of their flow becomes unknown.
     */
    long onUnexpected(final long digest, final long flowHash, final long packets) {
        final Awaited late = awaitedBefore.remove(digest);
        final long found = late == null ? 0 : Math.min(packets, late.packets());
        if (late != null && late.packets() > found) {
            awaitedBefore.put(digest, new Awaited(flowHash, late.classIndex(), late.packets() - found));
        }
        if (found < packets && reportedBefore.contains(digest)) {
            undecidedFlows.add(flowHash);
        }
        isAny |= found > 0;
        latePackets += found;
        return found;
    }

    /**
     * Ends the list of packets that only one point has.
     *
     * @param isComplete whether the list is complete. If so, packets still awaited were lost; if not, their loss is unknown.
     */
    void settle(final boolean isComplete, final LossHandler handler) {
        isAny |= !awaitedBefore.isEmpty();
        for (final Awaited each : awaitedBefore.values()) {
            if (isComplete) {
                handler.onLost(each.flowHash(), each.classIndex(), each.packets());
            } else {
                undecidedFlows.add(each.flowHash());
            }
        }
        awaitedBefore.clear();
    }

    /** {@return whether late packets change the loss of the interval} */
    boolean isAny() {
        return isAny;
    }

    /** {@return whether packets of a digest are awaited} */
    public boolean isAwaited(final long digest) {
        return awaited.containsKey(digest);
    }

    /** {@return whether packets of a flow are awaited} */
    public boolean isFlowAwaited(final long flowHash) {
        return awaitedFlows.contains(flowHash);
    }

    /** {@return whether it is unknown if missing packets of a flow in the previous interval were lost or late} */
    public boolean isUndecided(final long flowHash) {
        return undecidedFlows.contains(flowHash);
    }

    /** {@return packets of the previous interval that arrived late} */
    public long latePackets() {
        return latePackets;
    }
}
