package io.flowlag.tests.lab.method;

import io.flowlag.exporter.lab.LabRandom;

import java.util.Arrays;

/**
 * Counters that flows share, as COLATE's abstract describes its state: one hash and one update a packet, and other flows are
 * noise that statistics remove. COLATE's text could not be had; this is the estimate of T. Li, S. Chen and Y. Ling ("Per-Flow
 * Traffic Measurement through Randomized Counter Sharing") for sums of times instead of packets: a flow has some counters of
 * all, each packet adds its time to one of them, and their mean noise is that of all counters. A flow's packets are given.
 */
public final class SharedCounters extends Simple.Named {
    private static final int BYTES = Long.BYTES;

    private final double bitsPerPacket;
    private final int ofFlow;

    /**
     * The method.
     *
     * @param bitsPerPacket at each point.
     * @param ofFlow        counters of a flow.
     */
    public SharedCounters(final double bitsPerPacket, final int ofFlow) {
        super("shared counters, " + ofFlow + " a flow, " + bitsPerPacket + " bit a packet");
        this.bitsPerPacket = bitsPerPacket;
        this.ofFlow = ofFlow;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final int size = Math.max(1, (int) (bitsPerPacket * trace.packets() / Long.SIZE));
        final long[] sender = new long[size];
        final long[] receiver = new long[size];
        for (int packet = 0; packet < trace.packets(); packet++) {
            final long which = Long.remainderUnsigned(LabRandom.mix(trace.digestOf(packet)), ofFlow);
            final int counter = counter(trace.flowHash(trace.flowOf(packet)), which, size);
            sender[counter] += trace.sentNsOf(packet);
            if (!trace.isLost(packet)) {
                receiver[counter] += trace.arrivalNsOf(packet);
            }
        }
        Arrays.setAll(receiver, i -> receiver[i] - sender[i]);
        final double noiseNs = Arrays.stream(receiver).asDoubleStream().sum() / size;
        for (int flow = 0; flow < meansNs.length; flow++) {
            double sumNs = 0;
            for (int i = 0; i < ofFlow; i++) {
                sumNs += receiver[counter(trace.flowHash(flow), i, size)] - noiseNs;
            }
            meansNs[flow] = trace.received(flow) == 0 ? Double.NaN : sumNs / trace.received(flow);
        }
        return new Cost(2L * BYTES * size, (long) BYTES * size);
    }

    private static int counter(final long flowHash, final long which, final int size) {
        return (int) Long.remainderUnsigned(LabRandom.mix(flowHash + LabRandom.mix(which)), size);
    }
}
