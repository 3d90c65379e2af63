package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.hash.KeyedMix;

/**
 * Which packets are passive references and which flows are witnesses: both points choose alike, by the seed that they share
 * and by keyed hashes, and nobody without the key can. Immutable, any thread; allocates at construction.
 * <p>
 * Large flows are few and matter, and bounds are checked size by size, so a flow is as likely a witness as it has packets.
 * Only the sender decides: the receiver keeps the sums of all that could be witnesses, up to {@link #MAX_WITNESS_PPM} of the
 * flows.
 */
public final class SharedSampling {
    /** Parts of a whole. */
    public static final int PPM = 1_000_000;
    /** The largest share of flows that may be witnesses, however large they are. */
    public static final int MAX_WITNESS_PPM = 200_000;
    /** From so many packets on, a flow is a witness in proportion to them, where nothing else is said. */
    public static final int WITNESS_PACKETS = 12;
    /** Where flows are few, so many of them are witnesses, if that is not beyond the largest share. */
    public static final int ENOUGH_WITNESSES = 400;

    private static final int PASSIVE_SEED = -3;
    private static final int WITNESS_SEED = -4;

    private final long passiveSeed;
    private final long witnessSeed;
    private final long passiveBelow;
    private final int witnessPpm;
    private final int witnessPackets;
    private final int mostWitnessPpm;

    /**
     * The samples of both points.
     *
     * @param seed       that both share.
     * @param passivePpm share of regular packets that are references, in a million.
     * @param witnessPpm share of small flows that are witnesses, in a million.
     */
    public SharedSampling(final long seed, final int passivePpm, final int witnessPpm) {
        this(seed, passivePpm, witnessPpm, WITNESS_PACKETS);
    }

    /**
     * The samples of both points.
     *
     * @param seed           that both share.
     * @param passivePpm     share of regular packets that are references, in a million.
     * @param witnessPpm     share of small flows that are witnesses, in a million.
     * @param witnessPackets from so many on, a flow is a witness in proportion to them.
     */
    public SharedSampling(final long seed, final int passivePpm, final int witnessPpm, final int witnessPackets) {
        this.witnessPackets = witnessPackets;
        passiveSeed = KeyedMix.derivedSeed(seed, PASSIVE_SEED);
        witnessSeed = KeyedMix.derivedSeed(seed, WITNESS_SEED);
        passiveBelow = below(passivePpm);
        this.witnessPpm = witnessPpm;
        mostWitnessPpm = witnessPpm == 0 ? 0 : Math.max(witnessPpm, MAX_WITNESS_PPM);
    }

    /** Whether a regular packet is a reference, if the policy is passive. Returns true for passivePpm of a million. */
    public boolean isPassiveReference(final long packetDigest) {
        return passiveRank(packetDigest) < passiveBelow;
    }

    /** Where a packet stands among all: those of the lowest ranks are references. Returns 0 to 2^32 - 1. */
    public long passiveRank(final long packetDigest) {
        return KeyedMix.mix(packetDigest, passiveSeed) >>> Integer.SIZE;
    }

    /** {@return the rank from which on packets are no references} */
    public long passiveBelow() {
        return passiveBelow;
    }

    /**
     * Whether a flow could be a witness if it were large: its sums are kept. Returns true for the larger of witnessPpm and {@link
     * #MAX_WITNESS_PPM}; never without witnesses.
     */
    public boolean isKept(final long flowHash) {
        return hash(flowHash) < below(mostWitnessPpm);
    }

    /**
     * The share of small flows that are witnesses, which is larger where there are few flows.
     *
     * @param keptFlows of an interval, see {@link #isKept}, at the sender.
     * @return parts of a million.
     */
    public int sharePpm(final int keptFlows) {
        final double flows = (double)keptFlows * PPM / Math.max(1, mostWitnessPpm);
        return (int)Math.min(mostWitnessPpm, Math.max(witnessPpm, (double)ENOUGH_WITNESSES * PPM / Math.max(1, flows)));
    }

    /**
     * Whether a flow is a witness.
     *
     * @param packets of the flow in the interval, at the sender.
     * @return true for sharePpm of a million small flows, and for more of the larger ones.
     */
    public boolean isWitness(final long flowHash, final long packets, final int sharePpm) {
        final double largerPpm = (double)sharePpm * packets / witnessPackets;
        return hash(flowHash) < below((int)Math.min(mostWitnessPpm, Math.max(sharePpm, largerPpm)));
    }

    /** {@return the largest share of flows whose sums are kept, in a million} */
    public int keptPpm() {
        return mostWitnessPpm;
    }

    private long hash(final long flowHash) {
        return KeyedMix.mix(flowHash, witnessSeed) >>> Integer.SIZE;
    }

    private static long below(final int ppm) {
        return ((long)ppm << Integer.SIZE) / PPM;
    }
}
