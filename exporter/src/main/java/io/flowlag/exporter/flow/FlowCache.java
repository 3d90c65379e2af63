package io.flowlag.exporter.flow;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

/**
 * The flow cache of a Metering Process: takes packets and passes finished unidirectional flows to a {@link FlowRecordSink}.
 * <p>
 * Where both directions of a conversation are to be a biflow (RFC 5103), each has its entry, and they end together: by idle
 * timeout or TCP's end when both would, else with the first; the entry of the first packet then precedes the other's.
 * <p>
 * A flow ends by the idle or active timeout (RFC 5470 section 5.1.1), some time after TCP FIN or RST, when the cache is full,
 * or by force. Timeouts are exact in packet time: a packet after a timeout begins a new record however late the timer wheel is.
 * The wheel ends flows without further packets, at most {@link #WORST_LATENESS_NS} late.
 * <p>
 * When the cache is full, a clock hand examines a few slots and ends the flow that was silent longest among them. A flood of
 * new flows therefore replaces its own flows before established ones.
 * <p>
 * One thread owns a cache. The cache does not handle delay: a stage that measures it keeps its state in the octets reserved by
 * {@link FlowCacheSettings#stateLengthBytes}, under a slot number that is valid while the {@link #generation} stays the same.
 * Allocates at construction, off-heap.
 */
public final class FlowCache {
    /** The largest cache. */
    public static final int MAX_FLOWS = FlowTable.MAX_FLOWS;
    /** The largest lateness of a silent flow's timeout, in addition to the time between two calls of {@link #expire}. */
    public static final long WORST_LATENESS_NS = TimerWheel.TICK_NS;

    private static final int TCP_FIN = 0x01;
    private static final int TCP_SYN = 0x02;
    private static final int TCP_RST = 0x04;
    private static final int EVICTION_CANDIDATES = 8;
    /** How many packets {@link #touch} takes at a time. */
    public static final int TOUCH_LIMIT = 64;

    private final FlowTable table;
    private final OffHeapBuffer entries;
    private final FlowKey key;
    private final TimerWheel wheel;
    private final TimerWheel.DeadlineHandler deadlineHandler = this::onDeadline;
    private final FlowRecordSink sink;
    private final Counters counters;
    private final int stateLengthBytes;
    private final int additions;
    private final boolean hasTcp;
    private final boolean hasMac;
    private final boolean hasBiflows;
    private final ReverseFlows reverse;
    private final TcpTracker tcp;
    private final CacheSweep sweep;
    private final long[] hashes = new long[TOUCH_LIMIT];
    private final int[] likelySlots = new int[TOUCH_LIMIT];
    private long boundaryNs;
    private long touched;

    private long activeTimeoutNs;
    private long idleTimeoutNs;
    private long tcpEndTimeoutNs;
    private long cutNs;
    /** The cut after the time that was asked for last. */
    private long nextCutNs;
    private final int flowIdStep;
    private long nextFlowId;
    private int hand;
    private int flushCursor;
    private int likelyFirst;
    private int movedCount;

    /** Tells flows apart. */
    @FunctionalInterface
    public interface EntryTest {
        /** Whether it holds for the flow of an entry. */
        boolean test(DirectBuffer entries, int offset);
    }

    /** An empty cache; it is the writer of the flow counters. */
    public FlowCache(final FlowCacheSettings settings, final FlowRecordSink sink, final Counters counters) {
        table = new FlowTable(settings.maxFlows(), settings.entryLengthBytes());
        entries = table.entries();
        key = new FlowKey(settings.key());
        wheel = new TimerWheel(table);
        this.sink = sink;
        this.counters = counters;
        stateLengthBytes = settings.stateLengthBytes();
        hasBiflows = (settings.additions() & FlowAdditions.REVERSE) != 0;
        reverse = new ReverseFlows(table, settings.key());
        additions = settings.additions() & ~FlowAdditions.REVERSE;
        hasTcp = (additions & FlowAdditions.TCP) != 0;
        hasMac = (additions & FlowAdditions.MAC) != 0;
        tcp = new TcpTracker(table, settings);
        boundaryNs = settings.boundaryNs();
        flowIdStep = settings.shardCount();
        nextFlowId = settings.shardIndex() + 1L;
        sweep = new CacheSweep(table, settings.snapshots());
        timeouts(settings.timeouts());
    }

    /**
     * Prefetches what the next packets need from the table, so that cache misses overlap. Changes no flow; call {@link
     * #updateTouched} for each of them afterwards, in their order.
     *
     * @param descriptors hold the decoded packets one after the other, see {@link PacketDescriptor}.
     * @param offset      of the first.
     * @param count       how many there are, at most {@link #TOUCH_LIMIT}.
     */
    public void touch(final DirectBuffer descriptors, final int offset, final int count) {
        long octets = 0;
        likelyFirst = 0;
        for (int i = 0; i < count; i++) {
            hashes[i] = key.hashOf(descriptors, offset + i * PacketDescriptor.LENGTH_BYTES);
        }
        // A loop that only reads: its cache misses overlap.
        for (int i = 0; i < count; i++) {
            octets += table.touchBucket(hashes[i]);
        }
        for (int i = 0; i < count; i++) {
            likelySlots[i] = table.findLikely(hashes[i]);
        }
        for (int i = 0; i < count; i++) {
            octets += table.touchEntry(Math.max(0, likelySlots[i]));
        }
        if (hasTcp) {
            octets += tcp.touch(likelySlots, count);
        }
        touched = octets;
    }

    /**
     * The slot that probably holds a packet's flow, before the packets of the last {@link #touch} are counted. A stage may use
     * it only for prefetching: the flow may be another one, or end before the packet is counted.
     *
     * @param index of the packet among those of the last touch.
     * @return a slot that held a flow, or -1 if the flow is new.
     */
    public int likelySlot(final int index) {
        return likelySlots[likelyFirst + index];
    }

    /** Lets {@link #likelySlot} count from one of the packets of the last touch on, until the next touch. */
    public void likelyFrom(final int first) {
        likelyFirst = first;
    }

    /**
     * Counts one of the packets of the last {@link #touch} in its flow, as {@link #update}.
     *
     * @param index of the packet among those of the last touch.
     * @return the slot of the packet's flow.
     */
    public int updateTouched(final DirectBuffer descriptor, final int offset, final int index) {
        key.wrap(descriptor, offset, hashes[index]);
        final int likely = likelySlots[index];
        // Flows have ended and begun since, so the slot may belong to another flow.
        final int slot = likely != FlowTable.NO_SLOT && table.holds(likely, key) ? likely : table.find(key);
        return update(descriptor, offset, slot);
    }

    /**
     * Counts one packet in its flow, ending and beginning flows as needed.
     *
     * @param descriptor holds the decoded packet, see {@link PacketDescriptor}.
     * @return the slot of the packet's flow.
     */
    public int update(final DirectBuffer descriptor, final int offset) {
        key.wrap(descriptor, offset);
        return update(descriptor, offset, table.find(key));
    }

    private int update(final DirectBuffer descriptor, final int offset, final int found) {
        final long timestampNs = PacketDescriptor.timestampNs(descriptor, offset);
        final int tcpControlBits = PacketDescriptor.tcpControlBits(descriptor, offset);
        int slot = found;
        if (slot != FlowTable.NO_SLOT) {
            final EndReason reason = reasonToEndBefore(table.offset(slot), timestampNs, tcpControlBits);
            if (reason != null) {
                wheel.cancel(slot);
                end(slot, reason);
                slot = FlowTable.NO_SLOT;
            }
        }
        if (slot == FlowTable.NO_SLOT) {
            slot = create(descriptor, offset, timestampNs);
        }

        FlowEntry.count(entries, table.offset(slot), descriptor, offset);
        if (hasTcp && (PacketDescriptor.flags(descriptor, offset) & PacketDescriptor.FLAG_TCP) != 0) {
            tcp.onPacket(slot, descriptor, offset);
        }
        if ((tcpControlBits & (TCP_FIN | TCP_RST)) != 0) {
            onTcpEnd(slot);
        }
        return slot;
    }

    /**
     * Ends flows whose timeout has passed.
     *
     * @param nowNs packet time (files) or clock time (live), UNIX epoch.
     * @param limit how many flows to look at in this call at most.
     * @return how many were looked at; fewer than the limit if nothing is left to do now.
     */
    public int expire(final long nowNs, final int limit) {
        wheel.start(nowNs);
        return wheel.isDue(nowNs) ? wheel.poll(nowNs, deadlineHandler, limit) : 0;
    }

    /** The number of a time's tick. When {@link #expire} has nothing left to do, it has nothing to do before the next tick. */
    public static long tick(final long timeNs) {
        return timeNs >> TimerWheel.TICK_SHIFT;
    }

    /** Ends flows by force, in so many slots at most. Returns whether flows may be left. */
    public boolean flush(final int limit) {
        final int stop = Math.min(flushCursor + limit, table.usedSlots());
        touched = table.touchBuckets(flushCursor, stop);
        for (; flushCursor < stop; flushCursor++) {
            if (table.isLive(flushCursor)) {
                wheel.cancel(flushCursor);
                end(flushCursor, EndReason.FORCED_END);
            }
        }
        if (flushCursor == table.usedSlots()) {
            flushCursor = 0;
            return false;
        }
        return true;
    }

    /** Changes the timeouts, also for flows already in the cache. */
    public void timeouts(final FlowCacheSettings.Timeouts timeouts) {
        activeTimeoutNs = timeouts.cutNs() > 0 ? 0 : timeouts.activeTimeoutNs();
        idleTimeoutNs = timeouts.idleTimeoutNs();
        tcpEndTimeoutNs = timeouts.tcpEndTimeoutNs();
        cutNs = timeouts.cutNs();
        nextCutNs = 0;
        for (int slot = 0; slot < table.usedSlots() && table.size() > 0; slot++) {
            if (table.isLive(slot)) {
                wheel.cancel(slot);
                wheel.schedule(slot, deadlineNs(table.offset(slot)));
            }
        }
    }

    /**
     * Ends flows by force: each before its next packet, and those without at the next tick of {@link #expire}. Looks at every
     * slot.
     *
     * @param isMoved whether a flow, by the entries and its offset, is to end.
     */
    public void endMoved(final EntryTest isMoved) {
        for (int slot = 0; slot < table.usedSlots() && table.size() > 0; slot++) {
            final int entryOffset = table.offset(slot);
            if (table.isLive(slot) && isMoved.test(entries, entryOffset)) {
                FlowEntry.flags(entries, entryOffset, FlowEntry.flags(entries, entryOffset) | FlowEntry.FLAG_MOVED);
                movedCount++;
                wheel.cancel(slot);
                wheel.schedule(slot, deadlineNs(entryOffset));
            }
        }
    }

    /** {@return whether flows of {@link #endMoved} have not ended} */
    public boolean hasMoved() {
        return movedCount > 0;
    }

    /**
     * Restores a flow of a former process, as a {@link SnapshotSink} received it. The flow lives on, or is ended by force if it
     * had ended before, or would have in the meantime. Restore ended flows first.
     *
     * @param stateLengthBytes leading octets of other stages' state that are restored; the rest is as for a new flow.
     * @param nowNs            clock time, UNIX epoch.
     * @return whether the flow lives on.
     */
    public boolean takeUp(final DirectBuffer saved, final int offset, final int stateLengthBytes, final long nowNs) {
        nextFlowId = Math.max(nextFlowId, FlowEntry.flowId(saved, offset) + flowIdStep);
        wheel.start(nowNs);
        key.wrap(saved, offset);
        final int former = table.find(key);
        if (former != FlowTable.NO_SLOT) {
            wheel.cancel(former);
            end(former, EndReason.FORCED_END);
        }
        final int slot = insert();
        final int entryOffset = table.offset(slot);
        FlowEntry.copySeen(entries, entryOffset, saved, offset);
        FlowEntry.additions(entries, entryOffset, additions);
        if (hasTcp) {
            tcp.beginUnknown(slot);
        }
        if (hasMac) {
            FlowAdditions.putMac(entries, entryOffset, table.entryLengthBytes(), null, 0);
        }
        if (this.stateLengthBytes > 0) {
            final int stateOffset = entryOffset + FlowEntry.BASE_LENGTH_BYTES;
            entries.setMemory(stateOffset, this.stateLengthBytes, (byte)0);
            entries.putBytes(
                stateOffset, saved, offset + FlowEntry.BASE_LENGTH_BYTES, Math.min(stateLengthBytes, this.stateLengthBytes));
        }
        sweep.onTakenUp(slot);
        counters.increment(CounterId.FLOWS_TAKEN_UP);
        if (FlowEntry.endReason(saved, offset) != 0 || isOver(entryOffset, nowNs)) {
            end(slot, EndReason.FORCED_END);
            return false;
        }
        wheel.schedule(slot, deadlineNs(entryOffset));
        return true;
    }

    /** Continues to give changed flows to the {@link SnapshotSink}, by the clock, UNIX epoch. Returns how much was done. */
    public int snapshot(final long nowNs) {
        return sweep.doWork(nowNs);
    }

    /** {@return how many slots there are, numbered from 0} */
    public int capacity() {
        return table.capacity();
    }

    /** {@return how many slots ever held a flow: those with a lower number} */
    public int usedSlots() {
        return table.usedSlots();
    }

    /** The slot of an entry that lies in the cache; -1 if it is a copy. */
    public int slotOf(final DirectBuffer buffer, final int entryOffset) {
        final long distance = buffer.addressOffset() + entryOffset - entries.addressOffset();
        return buffer.byteArray() == null && distance >= 0 && distance / table.entryLengthBytes() < table.capacity() ?
            (int)(distance / table.entryLengthBytes()) : -1;
    }

    /** Whether a slot holds a flow. */
    public boolean isLive(final int slot) {
        return table.isLive(slot);
    }

    public int size() {
        return table.size();
    }

    /** {@return a number that changes when a slot is given to a new flow: to compare before its state is written} */
    public int generation(final int slot) {
        return FlowEntry.generation(entries, table.offset(slot));
    }

    /**
     * Whether a slot still holds the same flow. Otherwise writes to its state would be lost, or go to another flow.
     *
     * @param slot       as {@link #update} returned it.
     * @param generation of the slot at that time.
     * @return true if the flow lives.
     */
    public boolean isCurrent(final int slot, final int generation) {
        return FlowEntry.generation(entries, table.offset(slot)) == generation && table.isLive(slot);
    }

    /** {@return the memory of all entries, for stages that keep state per flow} */
    public OffHeapBuffer entries() {
        return entries;
    }

    /** {@return octets of an entry, other stages' state included} */
    public int entryLengthBytes() {
        return table.entryLengthBytes();
    }

    /** The location of other stages' state. Returns the offset in {@link #entries()}. */
    public int stateOffset(final int slot) {
        return table.offset(slot) + FlowEntry.BASE_LENGTH_BYTES;
    }

    private EndReason reasonToEndBefore(final int entryOffset, final long timestampNs, final int tcpControlBits) {
        if ((tcpControlBits & TCP_SYN) != 0 && isTcpEnded(entryOffset)) {
            return EndReason.END_OF_FLOW;
        }
        return reasonToEnd(entryOffset, timestampNs);
    }

    private EndReason reasonToEnd(final int entryOffset, final long nowNs) {
        if (isMoved(entryOffset)) {
            return EndReason.FORCED_END;
        }
        final long silenceNs = nowNs - FlowEntry.endNs(entries, entryOffset);
        final boolean isEnded = silenceNs >= tcpEndTimeoutNs && isTcpEnded(entryOffset);
        if ((isEnded || silenceNs >= idleTimeoutNs) && sink.isComplete(entries, entryOffset) &&
            (!hasBiflows || isReverseSilent(entryOffset, nowNs))) {
            return isEnded ? EndReason.END_OF_FLOW : EndReason.IDLE_TIMEOUT;
        }
        // The deadline is not before the timeout, and only the deadline needs a division.
        return nowNs >= FlowEntry.startNs(entries, entryOffset) + activeTimeoutNs && nowNs >= activeDeadlineNs(entryOffset) ?
            EndReason.ACTIVE_TIMEOUT : null;
    }

    /** Whether the other direction, if there is one, would end too: after a reset both do. */
    private boolean isReverseSilent(final int entryOffset, final long nowNs) {
        final int other = reverse.find(entries, entryOffset);
        if (other == FlowTable.NO_SLOT || table.offset(other) == entryOffset) {
            return true;
        }
        final int otherOffset = table.offset(other);
        final long silenceNs = nowNs - FlowEntry.endNs(entries, otherOffset);
        final boolean isEnded =
            isTcpEnded(otherOffset) || (FlowEntry.tcpControlBits(entries, entryOffset) & TCP_RST) != 0;
        return silenceNs >= (isEnded ? Math.min(tcpEndTimeoutNs, idleTimeoutNs) : idleTimeoutNs) &&
            sink.isComplete(entries, otherOffset);
    }

    private boolean isMoved(final int entryOffset) {
        return movedCount > 0 && (FlowEntry.flags(entries, entryOffset) & FlowEntry.FLAG_MOVED) != 0;
    }

    private long deadlineNs(final int entryOffset) {
        if (isMoved(entryOffset)) {
            return Long.MIN_VALUE;
        }
        final long silenceNs = isTcpEnded(entryOffset) ? Math.min(tcpEndTimeoutNs, idleTimeoutNs) : idleTimeoutNs;
        return Math.min(
            FlowEntry.endNs(entries, entryOffset) + silenceNs, activeDeadlineNs(entryOffset));
    }

    /** Changes the time between boundaries at which the active timeout ends flows; 0 for the active timeout itself. */
    public void boundaryNs(final long newBoundaryNs) {
        boundaryNs = newBoundaryNs;
    }

    /** The active timeout, or the first boundary at or after it; or the first cut after the last packet. */
    private long activeDeadlineNs(final int entryOffset) {
        if (cutNs > 0) {
            return cutAfter(FlowEntry.endNs(entries, entryOffset));
        }
        final long timeoutNs = FlowEntry.startNs(entries, entryOffset) + activeTimeoutNs;
        return boundaryNs == 0 ? timeoutNs : timeoutNs + Math.floorMod(-timeoutNs, boundaryNs);
    }

    /** Divides only when the time is not between the same cuts as that of the last call. */
    private long cutAfter(final long timeNs) {
        if (timeNs >= nextCutNs || timeNs < nextCutNs - cutNs) {
            nextCutNs = timeNs - Math.floorMod(timeNs, cutNs) + cutNs;
        }
        return nextCutNs;
    }

    private boolean isTcpEnded(final int entryOffset) {
        return (FlowEntry.flags(entries, entryOffset) & FlowEntry.FLAG_TCP_ENDED) != 0;
    }

    private void onDeadline(final int slot, final long nowNs) {
        final int entryOffset = table.offset(slot);
        EndReason reason = reasonToEnd(entryOffset, nowNs);
        if (reason == null && isInFarFuture(entryOffset, nowNs)) {
            reason = EndReason.IDLE_TIMEOUT;
        }
        if (reason != null) {
            end(slot, reason);
        } else {
            wheel.schedule(slot, Math.max(deadlineNs(entryOffset), reverseDeadlineNs(entryOffset)));
        }
    }

    /** When a flow that is over but for its other direction is to be looked at again. */
    private long reverseDeadlineNs(final int entryOffset) {
        final int other = hasBiflows ? reverse.find(entries, entryOffset) : FlowTable.NO_SLOT;
        return other == FlowTable.NO_SLOT ? Long.MIN_VALUE :
            Math.min(activeDeadlineNs(entryOffset), deadlineNs(table.offset(other)));
    }

    private boolean isOver(final int entryOffset, final long nowNs) {
        return reasonToEnd(entryOffset, nowNs) != null || isInFarFuture(entryOffset, nowNs);
    }

    /** The clock was set back: the flow's last packet may lie far in the future. */
    private boolean isInFarFuture(final int entryOffset, final long nowNs) {
        return FlowEntry.endNs(entries, entryOffset) - nowNs > idleTimeoutNs;
    }

    private void onTcpEnd(final int slot) {
        final int entryOffset = table.offset(slot);
        if (tcpEndTimeoutNs == 0 && stateLengthBytes == 0 && !hasBiflows) {
            wheel.cancel(slot);
            end(slot, EndReason.END_OF_FLOW);
        } else if (!isTcpEnded(entryOffset)) {
            // Where other stages keep state the wheel ends the flow, even if it is due now: they have not seen this packet yet,
            // nor has the other direction ended.
            FlowEntry.flags(entries, entryOffset, FlowEntry.flags(entries, entryOffset) | FlowEntry.FLAG_TCP_ENDED);
            wheel.cancel(slot);
            wheel.schedule(slot, deadlineNs(entryOffset));
        }
    }

    /** Takes a slot for the key; if none is free, another flow's. */
    private int insert() {
        final int slot = table.insert(key);
        if (slot != FlowTable.NO_SLOT) {
            return slot;
        }
        evict();
        return table.insert(key);
    }

    private int create(final DirectBuffer descriptor, final int offset, final long timestampNs) {
        wheel.start(timestampNs);
        if (hasBiflows) {
            endOver(reverse.find(descriptor, offset), timestampNs);
        }
        final int slot = insert();
        final int entryOffset = table.offset(slot);
        FlowEntry.begin(entries, entryOffset, descriptor, offset);
        FlowEntry.flowId(entries, entryOffset, takeFlowId());
        FlowEntry.additions(entries, entryOffset, additions);
        if (stateLengthBytes > 0) {
            entries.setMemory(entryOffset + FlowEntry.BASE_LENGTH_BYTES, stateLengthBytes, (byte)0);
        }
        if (hasTcp) {
            tcp.begin(slot);
        }
        if (hasMac) {
            FlowAdditions.putMac(entries, entryOffset, table.entryLengthBytes(), descriptor, offset);
        }

        wheel.schedule(slot, deadlineNs(entryOffset));
        counters.increment(CounterId.FLOWS_CREATED);
        return slot;
    }

    /** Ends a flow, which may be none, if it is over. */
    private void endOver(final int slot, final long nowNs) {
        final EndReason reason = slot == FlowTable.NO_SLOT ? null : reasonToEnd(table.offset(slot), nowNs);
        if (reason != null) {
            wheel.cancel(slot);
            end(slot, reason);
        }
    }

    private void evict() {
        int victim = FlowTable.NO_SLOT;
        long oldestNs = Long.MAX_VALUE;
        for (int i = 0; i < EVICTION_CANDIDATES; i++) {
            hand = hand + 1 == table.capacity() ? 0 : hand + 1;
            final long endNs = FlowEntry.endNs(entries, table.offset(hand));
            if (endNs < oldestNs || victim == FlowTable.NO_SLOT) {
                oldestNs = endNs;
                victim = hand;
            }
        }
        wheel.cancel(victim);
        end(victim, EndReason.LACK_OF_RESOURCES);
    }

    /** Counts a record of a flow that has no packets here, as if it had been in the cache. */
    public long countForeignRecord(final EndReason reason) {
        counters.increment(reason.counterId());
        counters.increment(CounterId.RECORDS_MADE);
        return takeFlowId();
    }

    private long takeFlowId() {
        final long flowId = nextFlowId;
        nextFlowId += flowIdStep;
        return flowId;
    }

    private void end(final int slot, final EndReason reason) {
        counters.increment(CounterId.RECORDS_MADE);
        final int entryOffset = table.offset(slot);
        final int other = hasBiflows ? reverse.find(entries, entryOffset) : FlowTable.NO_SLOT;
        if (other == FlowTable.NO_SLOT || other == slot) {
            hand(slot, reason);
            return;
        }
        counters.increment(CounterId.RECORDS_BIFLOW);
        final int otherOffset = table.offset(other);
        FlowEntry.additions(entries, entryOffset, additions | FlowAdditions.REVERSE);
        FlowEntry.additions(entries, otherOffset, additions | FlowAdditions.REVERSE);
        wheel.cancel(other);
        final boolean isFirst = FlowEntry.isBefore(entries, entryOffset, otherOffset);
        hand(isFirst ? slot : other, reason);
        hand(isFirst ? other : slot, reason);
    }

    /** Hands on the record of a flow, and frees its slot. */
    private void hand(final int slot, final EndReason reason) {
        final int entryOffset = table.offset(slot);
        movedCount -= isMoved(entryOffset) ? 1 : 0;
        FlowEntry.endReason(entries, entryOffset, reason.code());
        counters.increment(reason.counterId());
        // Before the record: the checkpoint must know of anything that may leave the process.
        sweep.onEnd(slot);
        try {
            sink.onFlowRecord(entries, entryOffset, table.entryLengthBytes());
        } finally {
            if (hasTcp) {
                tcp.end(slot);
            }
            table.remove(slot);
        }
    }
}
