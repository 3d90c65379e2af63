package io.flowlag.tests.lab.sketch;

import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * The LDS paper's traffic as a trace that all methods can read: flows overlap, 27 000 packets/s as in the paper, packets in the
 * order of their arrival, and references of their own delays at a constant rate, which disturb nothing.
 */
final class LdsTrace {
    private static final double PACKET_NS = 1e9 / 27_000;
    private static final double QUEUE_LOAD = 0.9;
    private static final int PACKET_BITS = 24;
    private static final int PACKET_BYTES = 500;
    private static final int REFERENCE_BYTES = 86;
    private static final double SHORTEST_TRANSMISSION_SHARE = 0.2;

    private final PaperTraffic traffic;
    private final int[] order;
    private final double[] factors;
    private final SplittableRandom random;
    private final long[] digests;
    private final long[] sentNs;
    private final long[] delaysNs;
    private final boolean[] lost;
    private final int referenceCount;
    private final long[] referenceDelaysNs;
    private final double referenceNs;

    private LdsTrace(final PaperTraffic traffic, final long seed, final double referencesPerSecond, final double lossRate) {
        this.traffic = traffic;
        order = traffic.arrivals();
        random = new SplittableRandom(seed + 11);
        final SplittableRandom scales = new SplittableRandom(seed + 13);
        factors = new double[traffic.flows()];
        Arrays.setAll(factors, flow -> traffic.factor(scales));
        sentNs = new long[order.length];
        delaysNs = new long[order.length];
        digests = random.longs(order.length).toArray();
        lost = new boolean[order.length];
        referenceNs = 1e9 / referencesPerSecond;
        referenceCount = (int) (order.length * PACKET_NS / referenceNs);
        referenceDelaysNs = new long[referenceCount];
        final SplittableRandom losses = new SplittableRandom(seed + 17);
        for (int packet = 0; packet < lost.length; packet++) {
            lost[packet] = losses.nextDouble() < lossRate;
        }
        if (traffic.delays() == DelayModel.FIFO_QUEUE) {
            passQueue();
        } else {
            draw(scales);
        }
    }

    /** A trace; packets and references hardly change with the loss rate. */
    static PathTrace of(
        final int flows, final DelayModel delays, final long seed, final double referencesPerSecond, final double lossRate) {
        return new LdsTrace(new PaperTraffic(flows, delays, seed), seed, referencesPerSecond, lossRate).trace();
    }

    private void draw(final SplittableRandom scales) {
        for (int packet = 0; packet < order.length; packet++) {
            sentNs[packet] = Math.round(packet * PACKET_NS);
            delaysNs[packet] = traffic.delayNs(factors[order[packet]], random);
        }
        for (int reference = 0; reference < referenceCount; reference++) {
            referenceDelaysNs[reference] = traffic.delayNs(traffic.factor(scales), random);
        }
    }

    /** Poisson arrivals at a FIFO at 90 % load; a reference's delay is the work that it finds, and the shortest transmission. */
    private void passQueue() {
        final double serviceNs = QUEUE_LOAD * PACKET_NS;
        double clockNs = 0;
        double freeNs = 0;
        int reference = 0;
        for (int packet = 0; packet < order.length; packet++) {
            clockNs -= PACKET_NS * Math.log(1 - random.nextDouble());
            for (; reference < referenceCount && reference * referenceNs <= clockNs; reference++) {
                referenceDelaysNs[reference] = Math.round(
                    Math.max(0, freeNs - reference * referenceNs) + SHORTEST_TRANSMISSION_SHARE * serviceNs);
            }
            freeNs = Math.max(freeNs, clockNs) - serviceNs * Math.log(1 - random.nextDouble());
            sentNs[packet] = Math.round(clockNs);
            delaysNs[packet] = Math.round(freeNs - clockNs);
        }
        for (; reference < referenceCount; reference++) {
            referenceDelaysNs[reference] = Math.round(SHORTEST_TRANSMISSION_SHARE * serviceNs);
        }
    }

    private PathTrace trace() {
        final long[] arrivals = new long[order.length + referenceCount];
        if (arrivals.length >= 1 << PACKET_BITS) {
            throw new IllegalArgumentException("packets=" + arrivals.length + ": too many for one trace");
        }
        for (int packet = 0; packet < order.length; packet++) {
            arrivals[packet] = sentNs[packet] + delaysNs[packet] << PACKET_BITS | packet;
        }
        for (int reference = 0; reference < referenceCount; reference++) {
            arrivals[order.length + reference] =
                Math.round(reference * referenceNs) + referenceDelaysNs[reference] << PACKET_BITS | order.length + reference;
        }
        Arrays.sort(arrivals);
        final PathTrace trace = new PathTrace(traffic.flowHashes);
        for (final long key : arrivals) {
            final int index = (int) (key & (1 << PACKET_BITS) - 1);
            if (index < order.length) {
                trace.add(order[index], digests[index], sentNs[index], delaysNs[index], PACKET_BYTES, lost[index]);
            } else {
                trace.addReference(index - order.length, Math.round((index - order.length) * referenceNs), key >>> PACKET_BITS,
                    REFERENCE_BYTES);
            }
        }
        return trace;
    }
}
