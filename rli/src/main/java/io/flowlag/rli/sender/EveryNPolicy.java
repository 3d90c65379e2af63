package io.flowlag.rli.sender;

/**
 * One reference for every n regular packets: {@code every-n}, the paper's 1-in-n.
 *
 * @param packets n, 1 or more.
 */
public record EveryNPolicy(long packets) implements InjectionPolicy {
    /** Checks the range. */
    public EveryNPolicy {
        if (packets < 1) {
            throw new IllegalArgumentException("packets=" + packets + " is below 1");
        }
    }

    @Override
    public long packetGap(final double utilization) {
        return packets;
    }

    @Override
    public long timeGapNs() {
        return UNLIMITED;
    }
}
