package io.flowlag.exporter.export;

import io.flowlag.exporter.flow.FlowRecordSink;
import io.flowlag.exporter.pipeline.FlowRecordRing;
import io.flowlag.exporter.pipeline.Stage;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.EpochClock;
import org.agrona.concurrent.IdleStrategy;
import org.agrona.concurrent.MessageHandler;

import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;

/**
 * The exporting stage: passes finished flows to every destination separately, so that none can stall another. Live, a destination
 * that cannot take a record drops and counts it. In file replay the stage offers it again. A destination that takes nothing for
 * {@link #PATIENCE_MS} is treated as live from then on. Writer of the counter of records taken. Allocates at construction and on
 * reload.
 */
public final class ExportingAgent implements Stage, FlowRecordSink {
    /** How long file replay waits for a stalled destination. */
    public static final long PATIENCE_MS = 10_000;

    private static final int RECORD_LIMIT = 256;
    /** So many duty cycles in a row without work take 2 s: no message is open, unless it may stay so for longer. */
    private static final int QUIET_CYCLES = 2_000 / LONG_IDLE_MS;

    private final StageRing[] rings;
    private final MessageHandler ringReader = FlowRecordRing.reader(this);
    private final BooleanSupplier isUpstreamEnded;
    private final long closeTimeoutMs;
    private final EpochClock clock;
    private final Counters counters;
    private final IdleStrategy idleStrategy = new BackoffIdleStrategy();
    private final AtomicReference<List<Destination>> newDestinations = new AtomicReference<>();
    private final List<Destination> leaving = new ArrayList<>();
    private final Queue<Destination> left = new ConcurrentLinkedQueue<>();

    private volatile Destination[] destinations;
    private long leaveDeadlineMs;
    private long closeDeadlineMs;
    private boolean isClosing;
    private int quietCycles;
    private volatile boolean isEnded;

    /**
     * An exporting stage.
     *
     * @param destinations    owned by this stage from now on.
     * @param rings           source of records; none if they arrive by {@link #onFlowRecord} on this thread.
     * @param isUpstreamEnded whether every metering stage has ended.
     * @param closeTimeoutMs  longest time for destinations to take the remaining records at the end.
     * @param clock           UNIX epoch, ms.
     */
    public ExportingAgent(
        final List<Destination> destinations,
        final List<StageRing> rings,
        final BooleanSupplier isUpstreamEnded,
        final long closeTimeoutMs,
        final EpochClock clock,
        final Counters counters) {
        this.destinations = destinations.toArray(new Destination[0]);
        this.rings = rings.toArray(new StageRing[0]);
        this.isUpstreamEnded = isUpstreamEnded;
        this.closeTimeoutMs = closeTimeoutMs;
        this.clock = clock;
        this.counters = counters;
    }

    @Override
    public String roleName() {
        return "exporting";
    }

    @Override
    public int doWork() {
        if (isEnded) {
            return 0;
        }
        final boolean wasUpstreamEnded = isUpstreamEnded.getAsBoolean();
        final long nowMs = clock.time();
        takeNewDestinations(nowMs);
        int workCount = 0;
        for (final StageRing ring : rings) {
            workCount += ring.read(ringReader, RECORD_LIMIT);
        }
        for (final Destination destination : destinations) {
            workCount += destination.doWork(nowMs);
        }
        if (!leaving.isEmpty()) {
            closeLeaving(nowMs);
        }
        if (wasUpstreamEnded && isEveryRingEmpty()) {
            workCount += closeAll(nowMs);
        }
        quietCycles = workCount > 0 ? 0 : Math.min(QUIET_CYCLES, quietCycles + 1);
        return workCount;
    }

    @Override
    public void onFlowRecord(final DirectBuffer buffer, final int offset, final int lengthBytes) {
        counters.increment(CounterId.RECORDS_TAKEN);
        for (final Destination destination : destinations) {
            if (destination.offer(buffer, offset, lengthBytes, clock.time()) == Destination.Outcome.BLOCKED) {
                offerAgain(destination, buffer, offset, lengthBytes);
            }
        }
    }

    /** Not long while a destination waits for its collector, or closes; until the next record when nothing happens for long. */
    @Override
    public int idleMs() {
        boolean isWaiting = !leaving.isEmpty() || isClosing;
        for (final Destination destination : destinations) {
            isWaiting |= destination.isWaiting();
        }
        return isWaiting && !isEnded ? SHORT_IDLE_MS : quietCycles < QUIET_CYCLES ? LONG_IDLE_MS : REST_MS;
    }

    @Override
    public void await(final int timeoutMs) {
        StageRing.await(rings, timeoutMs, timeoutMs > LONG_IDLE_MS);
    }

    @Override
    public void wakeNext(final boolean isPausing) {
        // is the last
    }

    @Override
    public void abandon() {
        isEnded = true;
        for (final StageRing ring : rings) {
            ring.readerGone();
        }
    }

    @Override
    public void onClose() {
        abandon();
        final long nowMs = clock.time();
        takeNewDestinations(nowMs);
        for (final Destination destination : leaving) {
            destination.close(nowMs, nowMs);
        }
        left.addAll(leaving);
        leaving.clear();
        for (final Destination destination : destinations) {
            destination.close(nowMs, nowMs);
        }
    }

    @Override
    public boolean isEnded() {
        return isEnded;
    }

    /**
     * Replaces the destinations in the next duty cycle; safe from any thread. Those in both lists go on; the others are closed in
     * order.
     *
     * @param next all destinations from then on.
     */
    public void destinations(final List<Destination> next) {
        newDestinations.set(List.copyOf(next));
    }

    /** {@return the current destinations; safe from any thread} */
    public List<Destination> destinations() {
        return List.of(destinations);
    }

    /** {@return a removed destination that has closed, each once; null if there is none; safe from any thread} */
    public Destination takeLeft() {
        return left.poll();
    }

    private boolean isEveryRingEmpty() {
        for (final StageRing ring : rings) {
            if (!ring.isEmpty()) {
                return false;
            }
        }
        return true;
    }

    private void offerAgain(final Destination destination, final DirectBuffer buffer, final int offset, final int lengthBytes) {
        idleStrategy.reset();
        final long deadlineMs = clock.time() + PATIENCE_MS;
        Destination.Outcome outcome = Destination.Outcome.BLOCKED;
        while (outcome == Destination.Outcome.BLOCKED) {
            final long nowMs = clock.time();
            int workCount = 0;
            for (final Destination each : destinations) {
                workCount += each.doWork(nowMs);
            }
            if (nowMs >= deadlineMs) {
                destination.stopWaiting();
            }
            idleStrategy.idle(workCount);
            outcome = destination.offer(buffer, offset, lengthBytes, nowMs);
        }
    }

    private void takeNewDestinations(final long nowMs) {
        final List<Destination> next = newDestinations.getPlain() == null ? null : newDestinations.getAndSet(null);
        if (next == null) {
            return;
        }
        for (final Destination destination : destinations) {
            if (!next.contains(destination)) {
                leaving.add(destination);
            }
        }
        leaveDeadlineMs = nowMs + closeTimeoutMs;
        destinations = next.toArray(new Destination[0]);
    }

    private void closeLeaving(final long nowMs) {
        leaving.removeIf((destination) -> destination.close(nowMs, leaveDeadlineMs) && left.add(destination));
    }

    private int closeAll(final long nowMs) {
        if (!isClosing) {
            isClosing = true;
            closeDeadlineMs = nowMs + closeTimeoutMs;
        }
        leaveDeadlineMs = Math.min(leaveDeadlineMs, closeDeadlineMs);
        boolean isAllClosed = leaving.isEmpty();
        for (final Destination destination : destinations) {
            isAllClosed &= destination.close(nowMs, closeDeadlineMs);
        }
        if (isAllClosed) {
            isEnded = true;
            return 1;
        }
        return 0;
    }
}
