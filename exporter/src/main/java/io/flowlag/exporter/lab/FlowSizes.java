package io.flowlag.exporter.lab;

import java.util.Arrays;

/**
 * Draws packets per flow so that they sum to the profile's packets exactly. One-packet flows and flows of two to five packets
 * come in fixed shares; the rest is bounded Pareto on [L, H], with L found by bisection. What rounding leaves is spread over
 * the flows of ten packets and more. Allocates per call.
 */
final class FlowSizes {
    private static final int LARGE_FLOW_PACKETS = 10;
    private static final int BISECTIONS = 80;

    private final TrafficProfile profile;
    private final LabRandom random;
    private final double[] quantiles;
    private final int firstFewIndex;
    private final int firstParetoIndex;

    private FlowSizes(final TrafficProfile profile, final LabRandom random) {
        this.profile = profile;
        this.random = random;
        final int flowCount = profile.flowCount();
        firstFewIndex = (int) (profile.singlePacketFlowShare() * flowCount);
        firstParetoIndex = Math.min(flowCount, firstFewIndex + (int) (profile.fewPacketFlowShare() * flowCount));
        quantiles = new double[flowCount];
        for (int i = 0; i < flowCount; i++) {
            quantiles[i] = random.nextDouble();
        }
    }

    /** Draws the packets of each flow, in an order that tells nothing of them. */
    static int[] draw(final TrafficProfile profile, final LabRandom random) {
        final FlowSizes sizes = new FlowSizes(profile, random);
        final int[] packets = sizes.sizesFor(sizes.fittedLowerEnd());
        sizes.settle(packets);
        sizes.shuffle(packets);
        return packets;
    }

    private double fittedLowerEnd() {
        double low = 1;
        double high = Math.max(1, profile.largestFlowPackets() / 2.0);
        for (int i = 0; i < BISECTIONS; i++) {
            final double middle = (low + high) / 2;
            if (sum(sizesFor(middle)) > profile.packetCount()) {
                high = middle;
            } else {
                low = middle;
            }
        }
        return low;
    }

    private int[] sizesFor(final double lowerEnd) {
        final int[] packets = new int[quantiles.length];
        Arrays.fill(packets, 0, firstFewIndex, 1);
        for (int i = firstFewIndex; i < firstParetoIndex; i++) {
            packets[i] = 2 + (int) (quantiles[i] * 4);
        }
        final double shape = profile.paretoShape();
        final double bounded = 1 - StrictMath.pow(lowerEnd / profile.largestFlowPackets(), shape);
        for (int i = firstParetoIndex; i < packets.length; i++) {
            packets[i] = (int) (lowerEnd / StrictMath.pow(1 - quantiles[i] * bounded, 1 / shape));
        }
        return packets;
    }

    private static long sum(final int[] packets) {
        long total = 0;
        for (final int count : packets) {
            total += count;
        }
        return total;
    }

    private void settle(final int[] packets) {
        final int[] candidates = largeFlows(packets);
        long missing = profile.packetCount() - sum(packets);
        for (; missing > 0; missing--) {
            packets[candidates[random.nextInt(candidates.length)]]++;
        }
        for (int i = 0; missing < 0; i = (i + 1) % candidates.length) {
            if (packets[candidates[i]] > 1) {
                packets[candidates[i]]--;
                missing++;
            }
        }
    }

    /** Flows that one packet more or less does not change much; if those are too few to give any up, all flows. */
    private int[] largeFlows(final int[] packets) {
        final int[] large = new int[packets.length];
        int count = 0;
        long spare = 0;
        for (int i = 0; i < packets.length; i++) {
            if (packets[i] >= LARGE_FLOW_PACKETS) {
                large[count++] = i;
                spare += packets[i] - 1;
            }
        }
        if (count > 0 && spare >= sum(packets) - profile.packetCount()) {
            return Arrays.copyOf(large, count);
        }
        Arrays.setAll(large, i -> i);
        return large;
    }

    private void shuffle(final int[] packets) {
        for (int i = packets.length - 1; i > 0; i--) {
            final int other = random.nextInt(i + 1);
            final int packetsThere = packets[other];
            packets[other] = packets[i];
            packets[i] = packetsThere;
        }
    }
}
