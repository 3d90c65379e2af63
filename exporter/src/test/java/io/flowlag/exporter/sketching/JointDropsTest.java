package io.flowlag.exporter.sketching;

import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/** Probe. */
class JointDropsTest {
    private static final long INTERVAL_NS = 400_000_000L;
    private static final long MS = 1_000_000L;

    @Test
    void probe() {
        final int seeds = Integer.getInteger("probe.seeds", 10);
        final int k = Integer.getInteger("probe.k", 4);
        final boolean drops = !Boolean.getBoolean("probe.clean");
        final boolean references = Boolean.getBoolean("probe.rli");
        final int columns = Integer.getInteger("probe.columns", 16384);
        int all = 0;
        int held = 0;
        int bad = 0;
        for (int seed = 1; seed <= seeds; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final TwoPoints points = new TwoPoints(SketchPairTest.context(16).geometry(SketchGeometry.lds(4, columns, k))
                .intervalNs(INTERVAL_NS).maximumDelayNs(INTERVAL_NS).inFlightPackets(1 << 16).witnessPpm(10_000).seed(seed * 31L)
                .joint(new JointSettings(300 * MS, 1_000 * MS, 1024, 1 << 16, false, false)));
            final Map<Integer, double[]> truth = new HashMap<>();
            final long endNs = 40 * INTERVAL_NS;
            long timeNs = 5 * MS;
            long level = -1;
            double windowNs = 0;
            int nextFlow = 50;
            final List<int[]> thick = new ArrayList<>();
            long thinDueNs = 0;
            int nextThin = 0;
            while (timeNs < endNs) {
                if (timeNs / (300 * MS) != level) {
                    level = timeNs / (300 * MS);
                    windowNs = (5000 + random.nextInt(35_001)) * 400.0;
                }
                final int flow;
                final int bytes;
                if (timeNs >= thinDueNs) {
                    flow = nextThin;
                    bytes = 102;
                    nextThin = (nextThin + 1) % 50;
                    thinDueNs += 6 * MS;
                } else {
                    while (thick.size() < 6) {
                        thick.add(new int[] {nextFlow++, 102 + random.nextInt(841), 200 + random.nextInt(200)});
                    }
                    final int index = random.nextInt(thick.size());
                    final int[] each = thick.get(index);
                    flow = each[0];
                    bytes = each[1];
                    if (--each[2] == 0) {
                        thick.remove(index);
                    }
                }
                timeNs += bytes * 400L;
                final long delayNs = (long)(windowNs - random.nextDouble() * 400_000 + random.nextDouble() * 100_000);
                final double[] sums = truth.computeIfAbsent(flow, x -> new double[] {0, 0, 1e18, -1e18, 0});
                final long phase = timeNs / INTERVAL_NS;
                final boolean senderDrops = drops && phase >= 12 && phase < 15 && timeNs % INTERVAL_NS > 100 * MS;
                final boolean receiverDrops = drops && phase >= 24 && phase < 27 && timeNs % INTERVAL_NS > 100 * MS;
                if (receiverDrops) {
                    points.lost(flow, timeNs);
                    continue;
                }
                if (senderDrops) {
                    points.unexpected(flow, timeNs + delayNs);
                } else {
                    points.packet(flow, timeNs, delayNs);
                    if (references) {
                        points.estimated(delayNs + random.nextLong(20_000), 0);
                    }
                }
                sums[0]++;
                sums[1] += delayNs;
                sums[2] = Math.min(sums[2], delayNs);
                sums[3] = Math.max(sums[3], delayNs);
            }
            points.pass();
            points.onEnd();
            for (final Map.Entry<Integer, Integer> each : points.recordOfFlow.entrySet()) {
                final int record = each.getValue();
                final double[] sums = truth.get(each.getKey());
                if (record >= 0 && points.records().hasJointBound(record)) {
                    all++;
                    final double mean = sums[1] / sums[0];
                    final double error = Math.abs(points.records().jointMeanNs(record) - mean);
                    final double bound = points.records().jointBoundNs(record);
                    held += error <= bound + 1 ? 1 : 0;
                    if (error > 10 * (bound + 1)) {
                        bad++;
                        System.out.printf("seed %d flow %d packets %.0f: joint %.3f truth %.3f (%.3f to %.3f) bound %.6f ratio %.0f%n",
                            seed, each.getKey(), sums[0], points.records().jointMeanNs(record) / 1e6, mean / 1e6, sums[2] / 1e6,
                            sums[3] / 1e6, bound / 1e6, error / (bound + 1));
                    }
                }
            }
            System.out.printf("seed %d: flows %d, solved %d calibrated %d witnesses %d of %d%n", seed, truth.size(),
                points.counters().get(SketchCounter.JOINT_INTERVALS_SOLVED),
                points.counters().get(SketchCounter.JOINT_INTERVALS_CALIBRATED),
                points.counters().get(SketchCounter.JOINT_WITNESSES), points.counters().get(SketchCounter.JOINT_INTERVALS));
        }
        System.out.printf("bounds %d held %d bad %d%n", all, held, bad);
    }
}
