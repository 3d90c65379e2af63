package io.flowlag.exporter.delay;

import io.flowlag.rli.reference.ErrorEstimate;

/**
 * How far the clocks of the two points may be apart. In one process that is what the process was told; a receiver adds what its
 * senders' references say of their clocks to the error of its own. The metering thread writes, any thread reads. Allocates at
 * construction.
 */
final class ClockDifference implements ClockError {
    private static final int NOTHING_SAID = 0;
    private static final long UNKNOWN_NS = -1;

    private final ClockError own;
    private final int[] estimates;
    private volatile long sendersNs;

    /**
     * Nothing was heard of senders.
     *
     * @param wiring with the own clock, and the role that says whether it is the only one.
     */
    ClockDifference(final DelayWiring wiring) {
        own = wiring.clockError();
        final boolean isOneProcess = !wiring.role().isReceiver() || wiring.role().isSender();
        estimates = isOneProcess ? null : new int[wiring.sessions().size()];
        sendersNs = isOneProcess ? 0 : UNKNOWN_NS;
    }

    /**
     * A reference says how good its sender's clock is.
     *
     * @param streamIndex   of the reference.
     * @param errorEstimate that it carries.
     */
    void onReference(final int streamIndex, final int errorEstimate) {
        if (estimates != null && estimates[streamIndex] != errorEstimate) {
            estimates[streamIndex] = errorEstimate;
            sendersNs = worst();
        }
    }

    private long worst() {
        long worstNs = UNKNOWN_NS;
        for (final int estimate : estimates) {
            if (estimate != NOTHING_SAID) {
                if (!ErrorEstimate.isSynchronized(estimate)) {
                    return UNKNOWN_NS;
                }
                worstNs = Math.max(worstNs, ErrorEstimate.errorNs(estimate));
            }
        }
        return worstNs;
    }

    @Override
    public long errorNs() {
        final long ownNs = own.errorNs();
        final long othersNs = sendersNs;
        return ownNs < 0 || othersNs < 0 ? UNKNOWN_NS : ownNs + othersNs;
    }

    @Override
    public boolean isSynchronized() {
        return own.isSynchronized();
    }
}
