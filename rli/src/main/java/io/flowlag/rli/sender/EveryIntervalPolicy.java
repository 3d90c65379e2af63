package io.flowlag.rli.sender;

/**
 * One reference for every interval of time: {@code every-interval}, the paper's 1-in-τ.
 *
 * @param intervalNs τ, more than 0.
 */
public record EveryIntervalPolicy(long intervalNs) implements InjectionPolicy {
    /** Checks the range. */
    public EveryIntervalPolicy {
        if (intervalNs < 1) {
            throw new IllegalArgumentException("intervalNs=" + intervalNs + " is below 1");
        }
    }

    @Override
    public long packetGap(final double utilization) {
        return UNLIMITED;
    }

    @Override
    public long timeGapNs() {
        return intervalNs;
    }
}
