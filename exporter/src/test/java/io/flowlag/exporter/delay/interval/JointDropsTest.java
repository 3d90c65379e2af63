package io.flowlag.exporter.delay.interval;

import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Few flows with several cells a row each, and points that drop their own packets for whole seconds, in simulated time. This
 * reproduces two processes under {@code SIGSTOP}. Bounds hold as often as they claim, and no mean is far outside.
 */
class JointDropsTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 400 * MS;
    private static final int INTERVALS = 40;
    private static final int IN_FLIGHT = 1 << 16;
    private static final int THIN_FLOWS = 50;
    private static final long THIN_GAP_NS = 6 * MS;
    private static final int THIN_BYTES = 102;
    private static final int THICK_FLOWS = 6;
    private static final int THICK_PACKETS = 200;
    /** Transmission time of an octet at 20 Mbit/s. */
    private static final long NS_PER_BYTE = 400;
    private static final long LEVEL_NS = 300 * MS;
    private static final int LEAST_WINDOW_BYTES = 5_000;
    private static final int MORE_WINDOW_BYTES = 35_000;
    private static final long JITTER_NS = 400_000;
    /** First of the intervals in whose last three quarters a point drops everything; likewise below. */
    private static final int SENDER_DROPS_FROM = 12;
    private static final int RECEIVER_DROPS_FROM = 24;
    private static final int DROPPING_INTERVALS = 3;
    private static final double FAR = 50;
    private static final double LEAST_HELD = 0.92;

    /** The received packets of a flow. */
    private static final class Truth {
        private long packets;
        private double sumNs;

        private double meanNs() {
            return sumNs / packets;
        }
    }

    /** A flow of many packets. */
    private static final class Thick {
        private final int flow;
        private final int lengthBytes;
        private int left;

        private Thick(final int flow, final SplittableRandom random) {
            this.flow = flow;
            lengthBytes = THIN_BYTES + random.nextInt(841);
            left = THICK_PACKETS + random.nextInt(THICK_PACKETS);
        }
    }

    private final Map<Integer, Truth> truths = new HashMap<>();
    private final List<Thick> thick = new ArrayList<>();
    private int nextFlow = THIN_FLOWS;

    /** Cells a row for each flow and in total, and whether there are references, which are nearly exact. */
    @ParameterizedTest
    @CsvSource({
        "4, 16384, false", "4, 16384, true", "4, 128, false", "4, 128, true", "4, 32, false", "4, 32, true", "1, 512, false"})
    void shouldNeverBeFarOffWhenPointsDropPackets(final int vldaLength, final int columns, final boolean hasReferences) {
        int bounded = 0;
        int held = 0;
        for (int seed = 1; seed <= 3; seed++) {
            final TwoPoints points = new TwoPoints(SketchPairTest.context(16)
                .geometry(SketchGeometry.lds(4, columns, vldaLength)).intervalNs(INTERVAL_NS).maximumDelayNs(INTERVAL_NS)
                .inFlightPackets(IN_FLIGHT).witnessPpm(10_000).seed(31 * seed)
                .joint(new JointSettings(300 * MS, 1_000 * MS, 1024, IN_FLIGHT, false, false)));
            send(points, new SplittableRandom(seed), hasReferences);
            for (final Map.Entry<Integer, Integer> each : points.recordOfFlow.entrySet()) {
                final int record = each.getValue();
                // A bound covers the packets behind the mean; the record's is wider if others are missing.
                if (points.records().hasJointBound(record) &&
                    points.records().jointPackets(record) == truths.get(each.getKey()).packets) {
                    final double errorNs =
                        Math.abs(points.records().jointMeanNs(record) - truths.get(each.getKey()).meanNs());
                    final double boundNs = points.records().jointBoundNs(record) + 1;
                    assertTrue(errorNs <= FAR * boundNs, () -> "flow " + each.getKey() + " is wrong by " + errorNs +
                        " ns, and its bound is " + boundNs + " ns");
                    bounded++;
                    held += errorNs <= boundNs ? 1 : 0;
                }
            }
        }
        assertTrue(bounded > 400, "bounds: " + bounded);
        assertTrue(held >= LEAST_HELD * bounded, held + " hold of " + bounded);
    }

    /** The queue's length changes every 300 ms; all packets of a level have nearly the same delay. */
    private void send(final TwoPoints points, final SplittableRandom random, final boolean hasReferences) {
        truths.clear();
        thick.clear();
        long timeNs = 5 * MS;
        long thinDueNs = 0;
        int nextThin = 0;
        long level = -1;
        long queueNs = 0;
        while (timeNs < INTERVALS * INTERVAL_NS) {
            if (timeNs / LEVEL_NS != level) {
                level = timeNs / LEVEL_NS;
                queueNs = (LEAST_WINDOW_BYTES + random.nextInt(MORE_WINDOW_BYTES)) * NS_PER_BYTE;
            }
            final boolean isThin = timeNs >= thinDueNs;
            final Thick sending = isThin ? null : nextThick(random);
            final int flow = isThin ? nextThin : sending.flow;
            if (isThin) {
                nextThin = (nextThin + 1) % THIN_FLOWS;
                thinDueNs += THIN_GAP_NS;
            }
            timeNs += (isThin ? THIN_BYTES : sending.lengthBytes) * NS_PER_BYTE;
            packet(points, flow, timeNs, queueNs - random.nextLong(JITTER_NS), random, hasReferences);
        }
        points.pass();
        points.onEnd();
    }

    private Thick nextThick(final SplittableRandom random) {
        while (thick.size() < THICK_FLOWS) {
            thick.add(new Thick(nextFlow++, random));
        }
        final Thick next = thick.get(random.nextInt(THICK_FLOWS));
        if (--next.left == 0) {
            thick.remove(next);
        }
        return next;
    }

    private void packet(
        final TwoPoints points, final int flow, final long timeNs, final long delayNs, final SplittableRandom random,
        final boolean hasReferences) {
        if (isDropping(timeNs, RECEIVER_DROPS_FROM)) {
            points.lost(flow, timeNs);
            return;
        }
        if (isDropping(timeNs, SENDER_DROPS_FROM)) {
            points.unexpected(flow, timeNs + delayNs);
        } else {
            points.packet(flow, timeNs, delayNs);
            if (hasReferences) {
                points.estimated(delayNs + random.nextLong(20_000), 0);
            }
        }
        final Truth truth = truths.computeIfAbsent(flow, (key) -> new Truth());
        truth.packets++;
        truth.sumNs += delayNs;
    }

    private static boolean isDropping(final long timeNs, final int fromInterval) {
        final long interval = timeNs / INTERVAL_NS;
        return interval >= fromInterval && interval < fromInterval + DROPPING_INTERVALS &&
            timeNs % INTERVAL_NS > INTERVAL_NS / 4;
    }
}
