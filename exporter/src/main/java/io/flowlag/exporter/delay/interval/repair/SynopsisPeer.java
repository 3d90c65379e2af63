package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * The sender point as the receiver point asks it: in this process or another. All calls come from one thread and do not block.
 */
public interface SynopsisPeer {
    /**
     * Asks. An answer to an earlier request does not come any more.
     *
     * @param request what is asked; may change after the call.
     * @return false if it cannot be asked.
     */
    boolean ask(SynopsisRequest request);

    /** What it answered. Returns a verified image, valid until the next request; null if it is not there. */
    SynopsisImage answer();

    /** Whether an answer that is not there may still come. Returns false if it will not come. */
    boolean isExpected();
}
