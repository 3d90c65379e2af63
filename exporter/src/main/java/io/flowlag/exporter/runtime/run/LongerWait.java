package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;

/**
 * Doubles {@code segment.max-delay} between two processes when more than one packet in 1000 is later, within the limits of {@code
 * segment.interval} and the waits of the exchange. One thread.
 */
final class LongerWait {
    private static final long LATE_PER_PACKET = 1_000;

    private final long configuredNs;
    private long reachedNs;
    private long lateBefore;
    private long receivedBefore;
    private boolean isRefused;

    /** No packets yet, and the configured longest delay. */
    LongerWait(final long configuredNs) {
        this.configuredNs = configuredNs;
        reachedNs = configuredNs;
    }

    /**
     * Checks the packets since the last call.
     *
     * @param late     late packets since the start.
     * @param received packets at this point, since the start.
     * @return the configuration with a longer wait; null if the wait is long enough, or cannot be longer.
     */
    ExporterConfig look(final ExporterConfig config, final long late, final long received) {
        final boolean isShort = (late - lateBefore) * LATE_PER_PACKET > received - receivedBefore;
        lateBefore = late;
        receivedBefore = received;
        final long intervalNs = config.segment().intervalNs();
        final long leftNs = ExchangeReceiver.MOST_WAIT_INTERVALS * intervalNs - config.exchange().deadlineNs() -
            (config.reconcile().enabled() ? config.reconcile().waitNs() : 0);
        final long longerNs = Math.min(2 * config.segment().maximumDelayNs(), Math.min(intervalNs, leftNs));
        return isShort && !isRefused && longerNs > config.segment().maximumDelayNs() ? with(config, longerNs) : null;
    }

    /** The configuration from {@link #look} was applied. */
    void reached(final ExporterConfig config) {
        reachedNs = config.segment().maximumDelayNs();
    }

    /** It was not applied, for lack of memory. */
    void refused() {
        isRefused = true;
    }

    /**
     * A reload keeps the longer wait, unless the configured one has changed. Returns the configuration with the wait that
     * applies.
     */
    ExporterConfig keep(final ExporterConfig newer) {
        return newer.segment().maximumDelayNs() == configuredNs && reachedNs <= newer.segment().intervalNs() ?
            with(newer, reachedNs) : newer;
    }

    private static ExporterConfig with(final ExporterConfig config, final long maximumDelayNs) {
        return maximumDelayNs == config.segment().maximumDelayNs() ? config : config.with(config.segment().withTimes(
            maximumDelayNs, config.segment().intervalNs(), config.segment().exactPackets()));
    }
}
