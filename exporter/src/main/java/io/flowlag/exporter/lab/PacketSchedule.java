package io.flowlag.exporter.lab;

import java.util.Arrays;

/**
 * In which order the packets of all flows come. Each flow has a log-normal mean inter-arrival time and a uniform start; its
 * packets are exponentially spaced around that; the packets of all flows are then sorted by time, so flows overlap as they do
 * on a link. Only the order is kept: the traffic's timestamps come from its rate. Allocates 8 octets a packet at construction.
 */
final class PacketSchedule {
    private static final double MEDIAN_INTER_ARRIVAL_S = 0.005;
    private static final double LONGEST_FLOW_SHARE = 0.9;

    private final long[] entries;
    private final long flowMask;

    PacketSchedule(final TrafficProfile profile, final TrafficFlows flows, final LabRandom random) {
        final int flowBits = Math.max(1, Integer.SIZE - Integer.numberOfLeadingZeros(flows.flowCount() - 1));
        flowMask = (1L << flowBits) - 1;
        entries = new long[profile.packetCount()];
        fill(profile.durationNs() / 1e9, flows, random, flowBits);
        Arrays.sort(entries);
    }

    private void fill(final double durationS, final TrafficFlows flows, final LabRandom random, final int flowBits) {
        // Entries are time above flow index in 63 bits; twice the duration leaves room for flows that run over its end.
        final double ticksPerSecond = StrictMath.pow(2, Long.SIZE - 1 - flowBits) / (2 * durationS);
        final long lastTick = (1L << (Long.SIZE - 1 - flowBits)) - 1;
        int index = 0;
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            final int gaps = flows.plannedPackets(flow) - 1;
            final double longestGapS = LONGEST_FLOW_SHARE * durationS / Math.max(1, gaps);
            final double meanGapS = Math.min(MEDIAN_INTER_ARRIVAL_S * StrictMath.exp(random.nextGaussian()), longestGapS);
            double timeS = random.nextDouble() * (durationS - gaps * meanGapS);
            for (int packet = 0; packet <= gaps; packet++) {
                entries[index++] = Math.min(lastTick, (long) (timeS * ticksPerSecond)) << flowBits | flow;
                timeS += random.nextExponential() * meanGapS;
            }
        }
    }

    int packetCount() {
        return entries.length;
    }

    int flowOf(final int packet) {
        return (int) (entries[packet] & flowMask);
    }
}
