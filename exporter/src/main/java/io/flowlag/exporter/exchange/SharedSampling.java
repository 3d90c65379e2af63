package io.flowlag.exporter.exchange;

import io.flowlag.sketch.hash.KeyedMix;

/**
 * Which packets are passive references and which flows are witnesses: both ends choose alike, by the seed of the settings, and
 * nobody without it can. Immutable, any thread; allocates at construction.
 */
public final class SharedSampling {
    private static final int PASSIVE_SEED = -3;
    private static final int WITNESS_SEED = -4;

    private final long passiveSeed;
    private final long witnessSeed;
    private final long passiveBelow;
    private final long witnessBelow;

    /**
     * The samples of settings.
     *
     * @param settings that hold.
     */
    public SharedSampling(final ExchangeSettings settings) {
        final long seed = settings.secrets().sketchSeed();
        passiveSeed = KeyedMix.derivedSeed(seed, PASSIVE_SEED);
        witnessSeed = KeyedMix.derivedSeed(seed, WITNESS_SEED);
        passiveBelow = below(settings.injection().passivePpm());
        witnessBelow = below(settings.witnessPpm());
    }

    /**
     * Whether a regular packet is a reference, if the policy is passive.
     *
     * @param packetDigest of the packet.
     * @return true for passivePpm of a million.
     */
    public boolean isPassiveReference(final long packetDigest) {
        return KeyedMix.mix(packetDigest, passiveSeed) >>> Integer.SIZE < passiveBelow;
    }

    /**
     * Whether a flow is a witness.
     *
     * @param flowHash the segment flow hash.
     * @return true for witnessPpm of a million.
     */
    public boolean isWitness(final long flowHash) {
        return KeyedMix.mix(flowHash, witnessSeed) >>> Integer.SIZE < witnessBelow;
    }

    private static long below(final int ppm) {
        return ((long)ppm << Integer.SIZE) / ExchangeSettings.PPM;
    }
}
