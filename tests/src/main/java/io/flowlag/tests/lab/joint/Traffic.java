package io.flowlag.tests.lab.joint;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.method.PathTrace;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * An interval's packets, in order of arrival at the receiver. Flows have bounded Pareto sizes, and their packets come in bursts.
 * One queue follows Lindley's recursion; references precede every n-th packet by RLI's adaptive policy. Each packet's delay
 * estimate is the linear interpolation between its two references, with the difference of the transmission times of packet and
 * reference (RLI's {@code capacity}).
 */
final class Traffic {
    private static final double SIZE_SHAPE = 1.2;
    private static final int LARGEST_FLOW = 50_000;
    private static final double NS_PER_BYTE = 8;
    private static final int REFERENCE_BYTES = 110;
    private static final double WEIBULL_SHAPE = 0.6;
    private static final double WEIBULL_SCALE_NS = 20_000;
    private static final double BURST_SHAPE = 1.1;
    private static final double LEAST_GAP_NS = 4_000;
    private static final double GAP_RANGE = 16;
    private static final long SEED = 0x7472_6166_6669_63L;
    private static final long INTERVAL_SEED = 0x696e_7465_7276_616cL;
    private static final long LOSS_SEED = 0x6c6f_7373L;
    private static final int FLOW_BITS = 18;
    /** Of frames in sketches; nothing here reads it. */
    private static final int FRAME_BYTES = 100;

    /** What both points see; without references. */
    final PathTrace trace;
    /** RLI's estimate of each packet. */
    final long[] estimateNs;
    private final int flows;
    private final int packets;
    /** Of each packet. */
    private final int[] flow;
    private final long[] sentNs;
    private final long[] delayNs;
    /** Of each flow, the factor of its delays where they are no queue's. */
    private final double[] levels;
    private final int[] lengthBytes;
    private final SplittableRandom random;
    private final double durationNs;

    Traffic(final Scenario scenario, final int flows, final long seed) {
        this(scenario, flows, new SplittableRandom(KeyedMix.mix(seed, SEED)), null);
    }

    /** The packets of one of many intervals that have the same flows, whose packets vary by half. */
    Traffic(final Scenario scenario, final int flows, final long seed, final int interval) {
        this(scenario, flows, new SplittableRandom(KeyedMix.mix(seed, SEED)),
            new SplittableRandom(KeyedMix.mix(interval, KeyedMix.mix(seed, INTERVAL_SEED))));
    }

    /** Flows, and packets of their own if they are of one interval of many. */
    private Traffic(
        final Scenario scenario, final int flows, final SplittableRandom ofFlows, final SplittableRandom ofInterval) {
        this.flows = flows;
        random = ofInterval == null ? ofFlows : ofInterval;
        trace = new PathTrace(ofFlows.longs(flows).toArray());
        final int[] sizes = sizes(ofFlows);
        for (int i = 0; ofInterval != null && i < flows; i++) {
            sizes[i] = (int)Math.round(sizes[i] * (0.5 + random.nextDouble()));
        }
        final int count = Arrays.stream(sizes).sum();
        durationNs = count * meanBytes() * NS_PER_BYTE / scenario.load();
        flow = new int[count];
        final long[] digest = random.longs(count).toArray();
        sentNs = new long[count];
        delayNs = new long[count];
        lengthBytes = new int[count];
        estimateNs = new long[count];
        packets = count;
        final boolean[] elsewhere = new boolean[flows];
        for (int i = 0; i < flows; i++) {
            elsewhere[i] = ofFlows.nextDouble() < scenario.uncorrelatedShare();
        }
        levels = new double[flows];
        Arrays.setAll(levels, i -> scenario.levelSpread() == 0 ? 1 : Math.exp(scenario.levelSpread() * ofFlows.nextGaussian()));
        passQueue(arrivals(sizes), scenario, elsewhere);
        for (int packet = 0; packet < count; packet++) {
            trace.add(flow[packet], digest[packet], sentNs[packet], delayNs[packet], FRAME_BYTES,
                random.nextDouble() < scenario.lossShare());
        }
    }

    /** The same packets with other losses: independent, or in bursts of packets that follow one another. */
    PathTrace losing(final double lossShare, final int burst, final long seed) {
        final long[] hashes = new long[flows];
        Arrays.setAll(hashes, trace::flowHash);
        final PathTrace losing = new PathTrace(hashes);
        final SplittableRandom losses = new SplittableRandom(KeyedMix.mix(seed, LOSS_SEED));
        int left = 0;
        for (int packet = 0; packet < packets; packet++) {
            left = Math.max(left - 1, losses.nextDouble() < lossShare / burst ? burst : 0);
            losing.add(flow[packet], trace.digestOf(packet), sentNs[packet], delayNs[packet], FRAME_BYTES, left > 0);
        }
        return losing;
    }

    private int[] sizes(final SplittableRandom ofFlows) {
        final int[] sizes = new int[flows];
        final double tail = Math.pow(LARGEST_FLOW, -SIZE_SHAPE);
        for (int i = 0; i < flows; i++) {
            sizes[i] = (int)Math.pow(tail + ofFlows.nextDouble() * (1 - tail), -1 / SIZE_SHAPE);
        }
        return sizes;
    }

    private static double meanBytes() {
        return 0.5 * 64 + 0.25 * 576 + 0.25 * 1500;
    }

    private int lengthBytes() {
        final int kind = random.nextInt(4);
        return kind < 2 ? 64 : kind == 2 ? 576 : 1500;
    }

    /** Time and flow of each packet, in order of time. */
    private long[] arrivals(final int[] sizes) {
        final long[] arrivals = new long[packets];
        int packet = 0;
        for (int i = 0; i < flows; i++) {
            final double spanNs = Math.min(0.98, 0.002 * sizes[i] * Math.exp(random.nextDouble() * 4 - 2)) * durationNs;
            final double startNs = random.nextDouble() * (durationNs - spanNs);
            final double gapNs = LEAST_GAP_NS * Math.pow(GAP_RANGE, random.nextDouble());
            double burstNs = 0;
            int left = 0;
            for (int sent = 0; sent < sizes[i]; sent++) {
                if (left-- == 0) {
                    burstNs = startNs + random.nextDouble() * spanNs;
                    left = (int)Math.pow(1 - random.nextDouble(), -1 / BURST_SHAPE) - 1;
                }
                arrivals[packet++] = (long)burstNs << FLOW_BITS | i;
                burstNs -= Math.log(1 - random.nextDouble()) * gapNs;
            }
        }
        Arrays.sort(arrivals);
        return arrivals;
    }

    private void passQueue(final long[] arrivals, final Scenario scenario, final boolean[] elsewhere) {
        final long packetGap = AdaptivePolicy.PAPER.packetGap(scenario.load());
        double freeNs = 0;
        long leftNs = 0;
        long leftDelayNs = 0;
        int waiting = 0;
        for (int packet = 0; packet < packets; packet++) {
            final long nowNs = arrivals[packet] >>> FLOW_BITS;
            if (packet % packetGap == 0) {
                freeNs = Math.max(freeNs, nowNs) + REFERENCE_BYTES * NS_PER_BYTE;
                final long rightNs = Math.round(freeNs);
                interpolate(waiting, packet, packet == 0, leftNs, leftDelayNs, rightNs, rightNs - nowNs);
                waiting = packet;
                leftNs = rightNs;
                leftDelayNs = rightNs - nowNs;
            }
            lengthBytes[packet] = lengthBytes();
            freeNs = Math.max(freeNs, nowNs) + lengthBytes[packet] * NS_PER_BYTE;
            flow[packet] = (int)(arrivals[packet] & (1 << FLOW_BITS) - 1);
            sentNs[packet] = nowNs;
            delayNs[packet] = Math.round(freeNs) - nowNs;
        }
        interpolate(waiting, packets, false, leftNs, leftDelayNs, leftNs + 1_000_000, leftDelayNs);
        for (int packet = 0; packet < packets; packet++) {
            if (elsewhere[flow[packet]]) {
                delayNs[packet] = 1 + Math.round(
                    levels[flow[packet]] * WEIBULL_SCALE_NS * Math.pow(-Math.log(1 - random.nextDouble()), 1 / WEIBULL_SHAPE));
            }
        }
    }

    private void interpolate(
        final int from, final int to, final boolean first,
        final long leftNs, final long leftDelayNs, final long rightNs, final long rightDelayNs) {
        for (int packet = from; packet < to; packet++) {
            final double position = (sentNs[packet] + delayNs[packet] - leftNs) / (double)(rightNs - leftNs);
            final double leftOrFirstNs = first ? rightDelayNs : leftDelayNs + position * (rightDelayNs - leftDelayNs);
            estimateNs[packet] = Math.round(leftOrFirstNs + (lengthBytes[packet] - REFERENCE_BYTES) * NS_PER_BYTE);
        }
    }
}
