package io.flowlag.tests.benchmark;

import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.rli.reference.ErrorEstimate;

import java.util.function.ObjLongConsumer;

/** The link of a receiver that gets sketches from its sender and nothing else: no send times, no counters. Stateless. */
public abstract class SketchesAlone implements ReceiverLink {
    private static final long CLOCK_ERROR_NS = 1_000;

    @Override
    public final int takeSendTimes(final int senderIndex, final SendTimeHandler handler) {
        return 0;
    }

    @Override
    public final void counters(final ObjLongConsumer<String> consumer) {
        // Has none.
    }

    @Override
    public final void senderCounters(final int senderIndex, final ObjLongConsumer<String> consumer) {
        // Has none.
    }

    @Override
    public final int errorEstimate(final int senderIndex) {
        return ErrorEstimate.of(CLOCK_ERROR_NS, true);
    }
}
