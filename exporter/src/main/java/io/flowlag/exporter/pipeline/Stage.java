package io.flowlag.exporter.pipeline;

import org.agrona.concurrent.Agent;

/**
 * An agent that is one stage of the pipeline: it ends when the stage before it has ended and nothing is left to do. The
 * process runs {@code doWork} until {@link #isEnded()}, on whichever thread the threading mode gives it.
 */
public interface Stage extends Agent {
    /** {@return whether this stage will do nothing more; safe from any thread} */
    boolean isEnded();
}
