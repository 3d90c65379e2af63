package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.SynopsisImage;

/**
 * The sender point as the receiver point queries it, in this process or another. One thread makes all calls; they do not block.
 */
public interface SynopsisPeer {
    /** Sends a request, which may change after the call. An earlier one gets no answer. Returns false if it cannot be sent. */
    boolean ask(SynopsisRequest request);

    /** The answer. Returns a verified image, valid until the next request; null if it is not available. */
    SynopsisImage answer();

    /** Whether an answer that is not available may still arrive. */
    boolean isExpected();
}
