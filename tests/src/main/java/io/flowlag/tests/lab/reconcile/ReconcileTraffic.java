package io.flowlag.tests.lab.reconcile;

import java.util.SplittableRandom;

/**
 * Traffic after the RDA paper's section VII-A: as many packets as its trace DC, delays of a Weibull distribution of shape 0.6
 * (scale 2 ms), half of the set difference lost at random, half reordered over the interval's ends, that is seen by the receiver
 * alone. The paper's other trace differs in the number of packets only, as far as synopses can tell.
 */
final class ReconcileTraffic {
    static final int DC_PACKETS = 2_041_744;
    private static final double SHAPE = 0.6;
    private static final double SCALE_NS = 2e6;
    private static final double INTERVAL_NS = 1e9;

    final int packets;
    final long[] identifiers;
    final long[] sentNs;
    final long[] delaysNs;
    final long[] reordered;
    final long[] reorderedNs;
    private final int[] lossOrder;

    ReconcileTraffic(final long seed, final int packets, final int mostDifferences) {
        this.packets = packets;
        final SplittableRandom random = new SplittableRandom(seed);
        identifiers = random.longs(packets).toArray();
        sentNs = new long[packets];
        delaysNs = new long[packets];
        lossOrder = new int[mostDifferences];
        reordered = random.longs(mostDifferences).toArray();
        reorderedNs = new long[mostDifferences];
        for (int i = 0; i < packets; i++) {
            sentNs[i] = (long)(INTERVAL_NS * i / packets);
            delaysNs[i] = Math.round(SCALE_NS * Math.pow(-Math.log(1 - random.nextDouble()), 1 / SHAPE));
        }
        final boolean[] chosen = new boolean[packets];
        for (int i = 0; i < mostDifferences; i++) {
            int packet = random.nextInt(packets);
            while (chosen[packet]) {
                packet = random.nextInt(packets);
            }
            chosen[packet] = true;
            lossOrder[i] = packet;
            reorderedNs[i] = i % 2 == 0 ? random.nextInt(1_000_000) : (long)INTERVAL_NS + random.nextInt(1_000_000);
        }
    }

    /** Which packets are lost if so many are. */
    boolean[] lost(final int losses) {
        final boolean[] lost = new boolean[packets];
        for (int i = 0; i < losses; i++) {
            lost[lossOrder[i]] = true;
        }
        return lost;
    }

    long[] lostIdentifiers(final int losses) {
        final long[] result = new long[losses];
        for (int i = 0; i < losses; i++) {
            result[i] = identifiers[lossOrder[i]];
        }
        return result;
    }

    /** Mean and standard deviation of the delays of packets that both points have. */
    double[] truth(final boolean[] lost) {
        double sum = 0;
        int count = 0;
        for (int i = 0; i < packets; i++) {
            sum += lost[i] ? 0 : delaysNs[i];
            count += lost[i] ? 0 : 1;
        }
        final double mean = sum / count;
        double squares = 0;
        for (int i = 0; i < packets; i++) {
            squares += lost[i] ? 0 : (delaysNs[i] - mean) * (delaysNs[i] - mean);
        }
        return new double[]{mean, Math.sqrt(squares / count)};
    }
}
