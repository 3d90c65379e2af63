package io.flowlag.rli.sender;

/**
 * One reference for every n regular packets or every interval of time, whichever is first: {@code combined}.
 *
 * @param packets    n, 1 or more.
 * @param intervalNs τ, more than 0.
 */
public record CombinedPolicy(long packets, long intervalNs) implements InjectionPolicy {
    /** Checks the ranges. */
    public CombinedPolicy {
        if (packets < 1 || intervalNs < 1) {
            throw new IllegalArgumentException("packets=" + packets + " or intervalNs=" + intervalNs + " is below 1");
        }
    }

    @Override
    public long packetGap(final double utilization) {
        return packets;
    }

    @Override
    public long timeGapNs() {
        return intervalNs;
    }
}
