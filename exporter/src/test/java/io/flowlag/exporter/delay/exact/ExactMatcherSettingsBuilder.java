package io.flowlag.exporter.delay.exact;

/** Builds settings of a matcher value by value. For the thread that fills it. */
public final class ExactMatcherSettingsBuilder {
    private int maxPackets = 1_000_000;
    private int startPackets = ExactMatcherSettings.MAX_PACKETS;
    private long maximumDelayNs = 200_000_000;
    private long maximumLeadNs = ExactMatcherSettings.MAXIMUM_DELAY;
    private long graceNs;
    private long growingUpToNs;

    /** The settings. */
    public ExactMatcherSettings build() {
        return new ExactMatcherSettings(
            maxPackets, startPackets, maximumDelayNs, maximumLeadNs, graceNs, growingUpToNs, Integer.MAX_VALUE);
    }

    /** Most packets. */
    public ExactMatcherSettingsBuilder maxPackets(final int newMaxPackets) {
        maxPackets = newMaxPackets;
        return this;
    }

    /** Room at first. */
    public ExactMatcherSettingsBuilder startPackets(final int newStartPackets) {
        startPackets = newStartPackets;
        return this;
    }

    /** When a packet is lost. */
    public ExactMatcherSettingsBuilder maximumDelayNs(final long newMaximumDelayNs) {
        maximumDelayNs = newMaximumDelayNs;
        return this;
    }

    /** Earliest arrival. */
    public ExactMatcherSettingsBuilder maximumLeadNs(final long newMaximumLeadNs) {
        maximumLeadNs = newMaximumLeadNs;
        return this;
    }

    /** Lateness of packets. */
    public ExactMatcherSettingsBuilder graceNs(final long newGraceNs) {
        graceNs = newGraceNs;
        return this;
    }

    /** Longest maximum delay. */
    public ExactMatcherSettingsBuilder growingUpToNs(final long newGrowingUpToNs) {
        growingUpToNs = newGrowingUpToNs;
        return this;
    }
}
