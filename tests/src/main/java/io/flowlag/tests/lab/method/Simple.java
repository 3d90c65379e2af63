package io.flowlag.tests.lab.method;

import io.flowlag.exporter.lab.LabRandom;

import java.util.Arrays;

/**
 * Methods without a data structure: exact sums, timestamps of every packet, trajectory sampling, active probes, and one mean for
 * all.
 */
public final class Simple {
    private static final int FLOW_RECORD_BYTES = 32;
    private static final int PACKET_RECORD_BYTES = 16;
    private static final int PROBE_BYTES = 86;
    private static final double UNIT = 0x1.0p-53;

    private Simple() {
    }

    /** {@return whether a packet is in a sample that both points draw alike} */
    static boolean isSampled(final long digest, final double share) {
        return (LabRandom.mix(digest) >>> 11) * UNIT < share;
    }

    /** {@return sums of times and counts of every flow at both points: exact without loss, absent with loss} */
    public static DelayMethod exactSums() {
        return new Named("exact flow sums") {
            @Override
            public Cost estimate(final PathTrace trace, final double[] meansNs) {
                final long flows = trace.flows();
                final long[] sumsNs = new long[trace.flows()];
                final int[] missing = new int[trace.flows()];
                for (int packet = 0; packet < trace.packets(); packet++) {
                    sumsNs[trace.flowOf(packet)] -= trace.sentNsOf(packet);
                    missing[trace.flowOf(packet)]++;
                    if (!trace.isLost(packet)) {
                        sumsNs[trace.flowOf(packet)] += trace.arrivalNsOf(packet);
                        missing[trace.flowOf(packet)]--;
                    }
                }
                for (int flow = 0; flow < trace.flows(); flow++) {
                    meansNs[flow] = missing[flow] == 0 ? (double) sumsNs[flow] / trace.received(flow) : Double.NaN;
                }
                return new Cost(2 * FLOW_RECORD_BYTES * flows, FLOW_RECORD_BYTES * flows);
            }
        };
    }

    /** {@return the sender ships digest and timestamp of every packet: exact, loss or not} */
    public static DelayMethod hashAndTimestamp() {
        return sampling("hash and timestamp", 1);
    }

    /**
     * Trajectory sampling (Duffield and Grossglauser): both points select the packets whose digest falls into a share, and
     * compare their times.
     *
     * @param share of packets, 0 to 1.
     */
    public static DelayMethod trajectorySampling(final double share) {
        return sampling("trajectory sampling, " + 100 * share + " %", share);
    }

    private static DelayMethod sampling(final String name, final double share) {
        return new Named(name) {
            @Override
            public Cost estimate(final PathTrace trace, final double[] meansNs) {
                final FlowDelaySums sums = new FlowDelaySums(trace.flows());
                long sampled = 0;
                for (int packet = 0; packet < trace.packets(); packet++) {
                    if (isSampled(trace.digestOf(packet), share)) {
                        sampled++;
                        if (!trace.isLost(packet)) {
                            sums.add(trace.flowOf(packet), trace.delayNsOf(packet));
                        }
                    }
                }
                sums.means(meansNs, Double.NaN);
                return new Cost(2 * PACKET_RECORD_BYTES * sampled + (long) FLOW_RECORD_BYTES * sums.flowsWithSamples(),
                    PACKET_RECORD_BYTES * sampled);
            }
        };
    }

    /** {@return the mean of all packets for every flow: sums of times and counts, as if nothing were lost} */
    public static DelayMethod globalMean() {
        return new Named("global mean") {
            @Override
            public Cost estimate(final PathTrace trace, final double[] meansNs) {
                Arrays.fill(meansNs, trace.trueMeanNs());
                return new Cost(2 * PACKET_RECORD_BYTES, PACKET_RECORD_BYTES);
            }
        };
    }

    /**
     * Probes at the times of a Poisson process; a probe finds the delay of the packet that arrives next, and disturbs nothing.
     * Their mean is every flow's estimate.
     */
    public static DelayMethod poissonProbes(final double probesPerSecond, final long seed) {
        return new Named("Poisson probes, " + probesPerSecond + "/s") {
            @Override
            public Cost estimate(final PathTrace trace, final double[] meansNs) {
                final LabRandom random = new LabRandom(seed);
                double dueNs = trace.sentNsOf(0) + random.nextExponential() * 1e9 / probesPerSecond;
                double sumNs = 0;
                int heard = 0;
                long probes = 0;
                for (int packet = 0; packet < trace.packets(); packet++) {
                    while (trace.sentNsOf(packet) >= dueNs) {
                        probes++;
                        heard += trace.isLost(packet) ? 0 : 1;
                        sumNs += trace.isLost(packet) ? 0 : trace.delayNsOf(packet);
                        dueNs += random.nextExponential() * 1e9 / probesPerSecond;
                    }
                }
                Arrays.fill(meansNs, heard == 0 ? Double.NaN : sumNs / heard);
                return new Cost(2 * PACKET_RECORD_BYTES, PROBE_BYTES * probes);
            }
        };
    }

    /** A method's name. */
    abstract static class Named implements DelayMethod {
        private final String name;

        Named(final String name) {
            this.name = name;
        }

        @Override
        public final String name() {
            return name;
        }
    }
}
