package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;

/**
 * Doubles {@code segment.max-delay} between two processes when more than one packet in 1000 comes later, as far as
 * {@code segment.interval} and the waits of the exchange leave room. One thread.
 */
final class LongerWait {
    private static final long LATE_PER_PACKET = 1_000;

    private final long configuredNs;
    private long reachedNs;
    private long lateBefore;
    private long receivedBefore;
    private boolean isRefused;

    /**
     * Nothing seen yet.
     *
     * @param configuredNs the longest delay by the configuration.
     */
    LongerWait(final long configuredNs) {
        this.configuredNs = configuredNs;
        reachedNs = configuredNs;
    }

    /**
     * Looks at what came since the last look.
     *
     * @param late     packets that came late, since the start.
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

    /** The configuration that {@link #look} gave holds. */
    void reached(final ExporterConfig config) {
        reachedNs = config.segment().maximumDelayNs();
    }

    /** It cannot hold, for want of memory. */
    void refused() {
        isRefused = true;
    }

    /**
     * A configuration that is read again does not take the wait back, unless it has another one than before. Returns the same
     * with the wait that was reached.
     */
    ExporterConfig keep(final ExporterConfig newer) {
        return newer.segment().maximumDelayNs() == configuredNs && reachedNs <= newer.segment().intervalNs() ?
            with(newer, reachedNs) : newer;
    }

    private static ExporterConfig with(final ExporterConfig config, final long maximumDelayNs) {
        return maximumDelayNs == config.segment().maximumDelayNs() ? config : config.withSegment(config.segment().withTimes(
            maximumDelayNs, config.segment().intervalNs(), config.segment().exactPackets()));
    }
}
