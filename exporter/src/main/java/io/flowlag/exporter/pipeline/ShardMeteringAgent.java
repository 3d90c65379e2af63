package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.capture.CaptureClock;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.DelayStage;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.stream.IntStream;

/**
 * The metering stage of one of several shards of live packets, where delay is measured: a reference that comes here goes to all
 * shards, and comes back with theirs. Where packets are sketched, the shards meet before an interval begins or is compared;
 * packets from after that wait here. Threads and allocation as in {@link MeteringAgent}.
 */
public final class ShardMeteringAgent extends DelayMeteringAgent {
    /** So soon after a failed meeting is the next. */
    private static final long NEXT_NS = 10_000_000L;

    /** Whether packets come in the order of their timestamps. */
    private boolean isInOrder;
    private final SharedReferences references;
    private final SharedReferences.ReferenceHandler referenceHandler;
    private List<ShardMeteringAgent> shards = List.of(this);
    private int shard;
    private ShardMeeting meeting = new ShardMeeting(List.of(() -> true), false);
    /** Packets from after the limit: those that capture takes in a duty cycle. */
    private OffHeapBuffer waiting = OffHeapBuffer.allocate(PacketDescriptor.LENGTH_BYTES);
    private int waitingFrom;
    private int waitingEnd;
    private long toldNs = DelayStage.NOTHING_CAPTURED_NS;
    private boolean isCapturedWaiting;
    private long waitingCapturedNs;
    private boolean isSetBack;

    /**
     * A metering stage; parameters as of {@link DelayMeteringAgent}, whose packets come by direct call. {@link #join} follows.
     *
     * @param areAllCaptured   whether the captures of all shards have ended: until then, references may come.
     * @param hasSenderRecords whether packets of the sender point are metered too.
     * @param references       of this shard, owned by this stage from now on.
     */
    public ShardMeteringAgent(
        final FlowCache cache,
        final BooleanSupplier areAllCaptured,
        final CaptureClock clock,
        final DelayStage delayStage,
        final DelayWiring wiring,
        final boolean hasSenderRecords,
        final SharedReferences references,
        final Counters counters) {
        super(cache, StageRing.unused(), areAllCaptured, clock, delayStage, wiring, hasSenderRecords, counters);
        this.references = references;
        referenceHandler = delayStage::onReference;
    }

    /**
     * Joins the stages of shards, whose delay stages are joined; before the first packet.
     *
     * @param sourceCount of each.
     */
    public static void join(final List<ShardMeteringAgent> shards, final int sourceCount) {
        final boolean isMeeting = shards.get(0).delayStage.isMeeting();
        final ShardMeeting meeting = new ShardMeeting(
            shards.stream().<BooleanSupplier>map((each) -> each::isEnded).toList(), isMeeting);
        IntStream.range(0, shards.size()).forEach((i) -> {
            final ShardMeteringAgent each = shards.get(i);
            each.shards = List.copyOf(shards);
            each.shard = i;
            each.isInOrder = sourceCount == 1;
            each.meeting = meeting;
            each.waiting = isMeeting ? OffHeapBuffer.allocate((int)waitingBytes(sourceCount)) : each.waiting;
        });
    }

    /** The memory of packets that wait at a shard's limit, by formula. Returns octets off the heap. */
    public static long waitingBytes(final int sourceCount) {
        return (long)CaptureAgent.mostInCycle(sourceCount) * PacketDescriptor.LENGTH_BYTES;
    }

    @Override
    protected void onReference(final DirectBuffer buffer, final int offset) {
        references.add(buffer, offset);
    }

    /** What was captured before waits for the meeting, and so does this. */
    @Override
    public void onCaptured(final long throughNs) {
        isCapturedWaiting = isWaiting();
        waitingCapturedNs = throughNs;
        if (!isCapturedWaiting) {
            isSetBack |= throughNs < toldNs;
            toldNs = throughNs;
            references.onCaptured(throughNs);
            super.onCaptured(throughNs);
        }
    }

    private boolean isWaiting() {
        return waitingFrom < waitingEnd;
    }

    @Override
    protected void meter(final DirectBuffer buffer, final int offset, final int count) {
        final int before = isWaiting() ? 0 : countBefore(buffer, offset, count, meeting.limitNs());
        if (before > 0) {
            meterNow(buffer, offset, before);
        }
        for (int i = before; i < count; i++) {
            if (waitingEnd == waiting.capacity()) {
                counters.increment(CounterId.DROPPED_AT_PACKET_RING);
                continue;
            }
            PacketDescriptor.copy(waiting, waitingEnd, buffer, offset + i * PacketDescriptor.LENGTH_BYTES);
            waitingEnd += PacketDescriptor.LENGTH_BYTES;
        }
    }

    /** {@return the number of packets before the first that is to wait} */
    private static int countBefore(final DirectBuffer buffer, final int offset, final int count, final long limitNs) {
        int before = 0;
        while (before < count &&
            PacketDescriptor.timestampNs(buffer, offset + before * PacketDescriptor.LENGTH_BYTES) < limitNs) {
            before++;
        }
        return before;
    }

    /** Packets of several interfaces are not in the order of their time: then references wait for the progress of capture. */
    private void meterNow(final DirectBuffer buffer, final int offset, final int count) {
        if (isInOrder) {
            final long firstNs = PacketDescriptor.timestampNs(buffer, offset);
            references.handOn(firstNs, Math.max(firstNs, clockTimeNs), referenceHandler);
        }
        super.meter(buffer, offset, count);
    }

    /** Meters what has waited, as far as it may. */
    @Override
    public boolean isHeld() {
        if (shard == 0) {
            meet();
        }
        if (meeting.isHeld(shard)) {
            return true;
        }
        while (isWaiting()) {
            final int count = countBefore(waiting, waitingFrom, Math.min(
                FlowCache.TOUCH_LIMIT, (waitingEnd - waitingFrom) / PacketDescriptor.LENGTH_BYTES), meeting.limitNs());
            if (count == 0) {
                meeting.reach(shard, PacketDescriptor.timestampNs(waiting, waitingFrom));
                return true;
            }
            final int from = waitingFrom;
            waitingFrom += count * PacketDescriptor.LENGTH_BYTES;
            meterNow(waiting, from, count);
        }
        waitingFrom = 0;
        waitingEnd = 0;
        if (isCapturedWaiting) {
            onCaptured(waitingCapturedNs);
        }
        return false;
    }

    /** Works for all shards if all are there. */
    private void meet() {
        final long limitNs = meeting.limitNs();
        final long reachedNs = meeting.reachedNs();
        if (reachedNs < limitNs || !meeting.isHeld(shard)) {
            return;
        }
        if (reachedNs == ShardMeeting.END_NS) {
            delayStage.meetEnd();
            meeting.end();
        } else if (reachedNs == ShardMeeting.SET_BACK_NS) {
            delayStage.meetTimeSetBack();
            shards.forEach((each) -> each.isSetBack = false);
            meeting.restart();
        } else {
            long nextNs = reachedNs + NEXT_NS;
            try {
                for (int i = 0; i < shards.size(); i++) {
                    shards.get(i).references.handOn(
                        reachedNs - 1, reachedNs + SharedReferences.LONGEST_WAIT_NS, shards.get(i).referenceHandler);
                }
                nextNs = delayStage.meet(reachedNs);
            } finally {
                meeting.limit(nextNs);
            }
        }
    }

    @Override
    protected int onTime(final long throughNs) {
        final int workCount = references.handOn(throughNs, clockTimeNs, referenceHandler) +
            super.onTime(references.knownNs(throughNs, clockTimeNs));
        final long reachedNs = isSetBack ? ShardMeeting.SET_BACK_NS : references.isEnded() ? clockTimeNs : throughNs;
        if (reachedNs >= meeting.limitNs()) {
            meeting.reach(shard, reachedNs);
        }
        return workCount;
    }

    @Override
    protected void onEnd() {
        references.handOn(Long.MAX_VALUE, Long.MAX_VALUE - SharedReferences.CLOCK_SET_NS, referenceHandler);
        super.onEnd();
        meeting.reach(shard, ShardMeeting.END_NS);
    }
}
