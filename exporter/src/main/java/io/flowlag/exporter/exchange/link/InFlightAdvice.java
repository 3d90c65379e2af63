package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ExporterConfig;

import java.util.Locale;

/**
 * Warns once if the digests of in-flight packets, which a sender sends for each interval's end, take more than a tenth of the
 * exchange's bandwidth. They cover the longest delay, which is a guess unless it is set. One thread.
 */
final class InFlightAdvice {
    private static final double SHARE = 0.1;
    private static final double BITS_NS = 8e9;
    private static final double BITS_PER_MBIT = 1e6;
    private static final double NS_PER_MS = 1e6;

    private final long bandwidthBps;
    private final long maximumDelayNs;
    private boolean isTold;

    InFlightAdvice(final ExporterConfig config) {
        bandwidthBps = config.exchange().bandwidthBps();
        maximumDelayNs = config.segment().maximumDelayNs();
    }

    /** Checks the digests of a received interval. Returns the warning; null for none. */
    String look(final int digests, final long intervalNs) {
        final double bps = digests * (double)Long.BYTES * BITS_NS / intervalNs;
        if (isTold || bps <= SHARE * bandwidthBps) {
            return null;
        }
        isTold = true;
        return String.format(Locale.ROOT, "digests of packets in flight take %.1f Mbit/s of exchange.bandwidth %.1f Mbit/s: " +
            "lower segment.max-delay (%s ms) to the longest that packets are under way, or raise exchange.bandwidth",
            bps / BITS_PER_MBIT, bandwidthBps / BITS_PER_MBIT, milliseconds());
    }

    private String milliseconds() {
        return maximumDelayNs % (long)NS_PER_MS == 0 ? Long.toString(maximumDelayNs / (long)NS_PER_MS) :
            String.format(Locale.ROOT, "%.3f", maximumDelayNs / NS_PER_MS);
    }
}
