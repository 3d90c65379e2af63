package io.flowlag.exporter.delay.interval;

import java.util.Locale;

/**
 * Measures how much traffic has more than the default weight. Weighted flows add noise to the cells of other flows, so weights
 * help only a small share of the packets (LDS paper, section 4.1). One thread; allocates only when it warns.
 */
public final class WeightedShare {
    /** Share of packets above which {@link #warning} warns; in the paper's experiment a tenth of the flows had more weight. */
    public static final double LIMIT = 0.2;

    private long packets;
    private long weightedPackets;
    private long weightSum;

    /** Resets for a new interval. */
    public void reset() {
        packets = 0;
        weightedPackets = 0;
        weightSum = 0;
    }

    /** Counts a packet. */
    public void count(final int weight) {
        packets++;
        weightedPackets += weight > FlowWeights.DEFAULT_WEIGHT ? 1 : 0;
        weightSum += weight;
    }

    /** {@return packets counted} */
    public long packets() {
        return packets;
    }

    /** {@return the share of packets with more than the default weight; 0 if there was none} */
    public double share() {
        return packets == 0 ? 0 : weightedPackets / (double)packets;
    }

    /** {@return mean weight of a packet; 1 if there was none} */
    public double averageWeight() {
        return packets == 0 ? 1 : weightSum / (double)packets;
    }

    /**
     * The paper's warning, if it applies. Returns one line, or null if at most {@link #LIMIT} of the packets have more than the
     * default weight.
     */
    public String warning() {
        return share() <= LIMIT ? null : String.format(Locale.ROOT,
            "%.0f %% of the packets are weighted up, and an average packet counts %.3g times: the estimates of all other flows " +
            "suffer; weight fewer flows, or make the sketch larger", 100 * share(), averageWeight());
    }
}
