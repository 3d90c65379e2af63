package io.flowlag.exporter.pipeline;

import org.agrona.concurrent.Agent;

/**
 * An agent that is one stage of the pipeline: it ends when the stage before it has ended and nothing is left to do. The process
 * calls {@code doWork} until {@link #isEnded()}, on the thread of its threading mode.
 */
public interface Stage extends Agent {
    /** {@return whether this stage is finished; safe from any thread} */
    boolean isEnded();

    /**
     * Declares the stage ended although it has not finished: an {@link Error} damaged it, or its thread is in a read that may
     * never return. The later stages then finish without it, and it is not run again. Safe from any thread.
     */
    void abandon();
}
