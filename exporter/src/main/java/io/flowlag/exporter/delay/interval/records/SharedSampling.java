package io.flowlag.exporter.delay.interval.records;

import io.flowlag.common.hash.KeyedMix;

/**
 * Selects the packets that are passive references and the flows that are witnesses. Both points choose alike by a shared seed and
 * keyed hashes, which cannot be predicted without the key. Immutable, any thread; allocates at construction.
 * <p>
 * Large flows are few and matter, and bounds are checked by size, so a flow's probability to be a witness grows with its packets.
 * Only the sender decides: the receiver keeps the sums of all flows that could be witnesses, up to {@link #MAX_WITNESS_PPM} of
 * the flows.
 */
public final class SharedSampling {
    /** Parts per million. */
    public static final int PPM = 1_000_000;
    /** Largest share of flows that may be witnesses, regardless of their size. */
    public static final int MAX_WITNESS_PPM = 200_000;
    /** Default flow size from which on the witness probability grows in proportion. */
    public static final int WITNESS_PACKETS = 12;
    /** Number of witnesses to reach where flows are few, within the largest share. */
    public static final int ENOUGH_WITNESSES = 400;

    private static final int PASSIVE_SEED = -3;
    private static final int WITNESS_SEED = -4;

    private final long passiveSeed;
    private final long witnessSeed;
    private final long passiveBelow;
    private final int witnessPpm;
    private final int witnessPackets;
    private final int mostWitnessPpm;
    private final long keptBelow;

    /** The samples of both points, where a flow is a witness in proportion from {@link #WITNESS_PACKETS} on. */
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
        keptBelow = below(mostWitnessPpm);
    }

    /** Whether a regular packet is a reference, if the policy is passive. Returns true for passivePpm of a million. */
    public boolean isPassiveReference(final long packetDigest) {
        return passiveRank(packetDigest) < passiveBelow;
    }

    /** The rank of a packet; packets of the lowest ranks are references. Returns 0 to 2^32 - 1. */
    public long passiveRank(final long packetDigest) {
        return KeyedMix.mix(packetDigest, passiveSeed) >>> Integer.SIZE;
    }

    /** {@return the rank below which packets are references} */
    public long passiveBelow() {
        return passiveBelow;
    }

    /**
     * Whether the sums of a flow are kept, because it would be a witness if it were large. Returns true for the larger of
     * witnessPpm and {@link #MAX_WITNESS_PPM}; never without witnesses.
     */
    public boolean isKept(final long flowHash) {
        return hash(flowHash) < keptBelow;
    }

    /**
     * {@return the share of small flows that are witnesses, in a million; it grows where the sender has few {@link #isKept
     * kept} flows}
     */
    public int sharePpm(final int keptFlows) {
        final double flows = (double)keptFlows * PPM / Math.max(1, mostWitnessPpm);
        return (int)Math.min(mostWitnessPpm, Math.max(witnessPpm, (double)ENOUGH_WITNESSES * PPM / Math.max(1, flows)));
    }

    /**
     * Whether a flow of some packets at the sender is a witness: sharePpm of a million small flows, and more of the larger
     * ones.
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
