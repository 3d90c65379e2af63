package io.flowlag.exporter.pipeline;

import org.agrona.concurrent.Agent;

/**
 * An agent that is one stage of the pipeline: it ends when the stage before it has ended and nothing is left to do. The process
 * calls {@code doWork} until {@link #isEnded()}, on the thread of its threading mode.
 */
public interface Stage extends Agent {
    /** A wait so short that what waits for the time hardly notices, ms. */
    int SHORT_IDLE_MS = 1;
    /** The longest wait of a stage that looks at the time, ms. */
    int LONG_IDLE_MS = 100;
    /** The longest wait of a stage that another one wakes, ms. */
    int REST_MS = 250;
    /** The same for capture where delay is measured: the end of an interval and messages of the other point wait so long. */
    int DELAY_IDLE_MS = 10;

    /** {@return whether this stage is finished; safe from any thread} */
    boolean isEnded();

    /**
     * Declares the stage ended although it has not finished: an {@link Error} damaged it, or its thread is in a read that may
     * never return. The later stages then finish without it, and it is not run again. Safe from any thread.
     */
    void abandon();

    /** {@return how long it may wait, ms, when {@code doWork} found nothing to do and nothing new comes; its thread only} */
    int idleMs();

    /** Waits for something to do, at most so many ms; its thread only. */
    void await(int timeoutMs);

    /** Wakes the next stage if it sleeps and has something to do now; its thread only, which may be about to pause. */
    void wakeNext(boolean isPausing);
}
