package io.flowlag.exporter.delay.interval;

import java.util.Locale;

/**
 * How much traffic is weighted up. What other flows bring into a flow's cells grows with it, so weights help a small share of
 * the packets only (LDS paper, section 4.1). One thread; allocates only when it warns.
 */
public final class WeightedShare {
    /** Share of packets above which {@link #warning} speaks; in the paper's experiment a tenth of the flows had more weight. */
    public static final double LIMIT = 0.2;

    private long packets;
    private long weightedPackets;
    private long weightSum;

    /** Forgets everything, for a new interval. */
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

    /** {@return how many packets of weight 1 an average packet stands for; 1 if there was none} */
    public double averageWeight() {
        return packets == 0 ? 1 : weightSum / (double)packets;
    }

    /**
     * The paper's warning, if it is due. Returns one line, or null if not more than {@link #LIMIT} of the packets are weighted
     * up.
     */
    public String warning() {
        return share() <= LIMIT ? null : String.format(Locale.ROOT,
            "%.0f %% of the packets are weighted up, and an average packet counts %.3g times: the estimates of all other flows " +
            "suffer; weight fewer flows, or make the sketch larger", 100 * share(), averageWeight());
    }
}
