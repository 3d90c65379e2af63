package io.flowlag.sketch.support;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Packets of many flows in columns, with what happened to them on the way: the input and the truth of accuracy tests. */
public final class Packets {
    public final int count;
    public final int flowCount;
    public final long[] flowHash;
    public final int[] flow;
    public final long[] digest;
    public final long[] sentNs;
    public final long[] delayNs;
    public final boolean[] lost;
    public final int[] bytes;

    private Packets(final int[] flowSizes, final SplittableRandom random) {
        flowCount = flowSizes.length;
        count = Arrays.stream(flowSizes).sum();
        flowHash = new long[flowCount];
        flow = new int[count];
        digest = new long[count];
        sentNs = new long[count];
        delayNs = new long[count];
        lost = new boolean[count];
        bytes = new int[count];
        int packet = 0;
        for (int index = 0; index < flowCount; index++) {
            flowHash[index] = random.nextLong();
            for (int i = 0; i < flowSizes[index]; i++) {
                flow[packet] = index;
                digest[packet] = random.nextLong();
                bytes[packet] = 40 + random.nextInt(1460);
                packet++;
            }
        }
        for (int i = count - 1; i > 0; i--) {
            final int other = random.nextInt(i + 1);
            final int moved = flow[i];
            flow[i] = flow[other];
            flow[other] = moved;
        }
    }

    /** Flows of the given sizes, shuffled over one second, no delay and no loss yet. */
    public static Packets of(final int[] flowSizes, final long seed) {
        final Packets packets = new Packets(flowSizes, new SplittableRandom(seed));
        for (int i = 0; i < packets.count; i++) {
            packets.sentNs[i] = (long)(1e9 * i / packets.count);
        }
        return packets;
    }

    /** Flow sizes of a bounded Pareto distribution. */
    public static int[] paretoSizes(final int flows, final double shape, final int largest, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final int[] sizes = new int[flows];
        final double tailAtLargest = Math.pow(largest, -shape);
        for (int flow = 0; flow < flows; flow++) {
            final double tail = 1 - random.nextDouble() * (1 - tailAtLargest);
            sizes[flow] = (int)Math.min(largest, Math.pow(tail, -1 / shape));
        }
        return sizes;
    }

    /** Independent delays of a Weibull distribution, each flow's scale drawn within a factor. */
    public Packets weibullDelays(final double shape, final double scaleNs, final double flowFactor, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final double[] scalesNs = new double[flowCount];
        for (int index = 0; index < flowCount; index++) {
            scalesNs[index] = scaleNs * Math.pow(flowFactor, 2 * random.nextDouble() - 1);
        }
        for (int i = 0; i < count; i++) {
            final double quantile = -Math.log(1 - random.nextDouble());
            delayNs[i] = Math.round(scalesNs[flow[i]] * Math.pow(quantile, 1 / shape));
        }
        return this;
    }

    public Packets uniformLoss(final double rate, final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < count; i++) {
            lost[i] = random.nextDouble() < rate;
        }
        return this;
    }

    public long receivedNs(final int packet) {
        return sentNs[packet] + delayNs[packet];
    }

    /** Mean delay of each flow's received packets; NaN where none was received. */
    public double[] trueMeansNs() {
        final double[] sums = new double[flowCount];
        final long[] counts = receivedPackets();
        for (int i = 0; i < count; i++) {
            sums[flow[i]] += lost[i] ? 0 : delayNs[i];
        }
        for (int index = 0; index < flowCount; index++) {
            sums[index] /= counts[index];
        }
        return sums;
    }

    public double overallMeanNs() {
        double sum = 0;
        long received = 0;
        for (int i = 0; i < count; i++) {
            sum += lost[i] ? 0 : delayNs[i];
            received += lost[i] ? 0 : 1;
        }
        return sum / received;
    }

    public double overallStandardDeviationNs() {
        final double meanNs = overallMeanNs();
        double squares = 0;
        long received = 0;
        for (int i = 0; i < count; i++) {
            squares += lost[i] ? 0 : (delayNs[i] - meanNs) * (delayNs[i] - meanNs);
            received += lost[i] ? 0 : 1;
        }
        return Math.sqrt(squares / received);
    }

    public long[] sentPackets() {
        final long[] counts = new long[flowCount];
        for (int i = 0; i < count; i++) {
            counts[flow[i]]++;
        }
        return counts;
    }

    public long[] receivedPackets() {
        final long[] counts = new long[flowCount];
        for (int i = 0; i < count; i++) {
            counts[flow[i]] += lost[i] ? 0 : 1;
        }
        return counts;
    }

    /** The middle of the first {@code length} values. */
    public static double median(final double[] values, final int length) {
        final double[] sorted = Arrays.copyOf(values, length);
        Arrays.sort(sorted);
        return sorted[length / 2];
    }
}
