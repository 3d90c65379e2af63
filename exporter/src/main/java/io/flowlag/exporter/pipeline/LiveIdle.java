package io.flowlag.exporter.pipeline;

import org.agrona.concurrent.BackoffIdleStrategy;
import org.agrona.concurrent.IdleStrategy;

/**
 * How a thread of live stages waits. One that captures waits for the kernel to pass on a block of packets. The others sleep until
 * the thread before them wakes them: metering once a block, when capture has read it; exporting when a part of its ring is full.
 * None waits longer than its stages allow, so each looks at the time that often. Used by its thread alone; allocates at
 * construction.
 */
public final class LiveIdle implements IdleStrategy {
    private final Stage[] stages;
    private final int mostMs;
    private final boolean isPaced;
    private final BackoffIdleStrategy pauses = new BackoffIdleStrategy();

    /**
     * For a thread.
     *
     * @param stages  that it works, in packet order.
     * @param mostMs  the longest wait, 1 or more.
     * @param isPaced whether it only pauses, by a millisecond at most: its stages send references in time.
     */
    public LiveIdle(final Stage[] stages, final int mostMs, final boolean isPaced) {
        this.stages = stages.clone();
        this.mostMs = mostMs;
        this.isPaced = isPaced;
    }

    @Override
    public void idle(final int workCount) {
        stages[stages.length - 1].wakeNext(workCount == 0);
        if (workCount > 0) {
            reset();
        } else {
            idle();
        }
    }

    @Override
    public void idle() {
        if (isPaced) {
            pauses.idle();
            return;
        }
        int timeoutMs = mostMs;
        for (final Stage stage : stages) {
            timeoutMs = Math.min(timeoutMs, stage.idleMs());
        }
        stages[0].await(timeoutMs);
    }

    @Override
    public void reset() {
        pauses.reset();
    }
}
