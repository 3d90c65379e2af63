package io.flowlag.exporter.delay.interval;

import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * The bound of a mean from sketches holds for any number of intervals: a flow shares cells with the same flows in each, so the
 * error does not average out.
 */
class RecordBoundTest {
    private static final long MS = 1_000_000L;
    private static final long INTERVAL_NS = 100 * MS;
    private static final int FLOWS = 400;
    private static final int SEEDS = 4;
    private static final int MOST_PACKETS = 30;

    @ParameterizedTest
    @ValueSource(ints = {1, 4, 40})
    void shouldHoldInLongRecords(final int intervals) {
        int bounds = 0;
        int held = 0;
        int nearer = 0;
        int differ = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            final Random random = new Random(seed);
            final TwoPoints points = new TwoPoints(new SettingsBuilder().geometry(SketchGeometry.lds(4, FLOWS / 2, 1))
                .aggregatorCells(64).seed(42 + seed).intervalNs(INTERVAL_NS).maximumDelayNs(10 * MS).inFlightPackets(4096)
                .waitingRecords(64).maxFlows(1024));
            final long[] sums = new long[FLOWS];
            final long[] counts = new long[FLOWS];
            for (int flow = 0; flow < FLOWS; flow++) {
                final long meanNs = (long)(MS * (1 + 5 * random.nextDouble()));
                final int packets = 1 + (int)Math.min(50, 1 / Math.max(0.01, random.nextDouble()));
                for (int i = 0; i < intervals * packets; i++) {
                    final long delayNs = meanNs + random.nextLong(MS / 5);
                    points.packet(flow, i / packets * INTERVAL_NS + random.nextLong(INTERVAL_NS - 10 * MS), delayNs);
                    sums[flow] += delayNs;
                    counts[flow]++;
                }
            }
            points.pass();
            points.onEnd();
            for (int flow = 0; flow < FLOWS; flow++) {
                final int record = points.record(flow);
                if (points.records().hasBound(record)) {
                    final double errorNs = Math.abs(points.records().meanNs(record) - (double)sums[flow] / counts[flow]);
                    final double lastingNs = Math.abs(points.records().lastingMeanNs(record) - (double)sums[flow] / counts[flow]);
                    nearer += lastingNs < errorNs ? 1 : 0;
                    differ += lastingNs == errorNs ? 0 : 1;
                    bounds++;
                    held += errorNs <= Math.max(1, points.records().boundNs(record)) ? 1 : 0;
                }
            }
        }
        assertTrue(bounds > SEEDS * FLOWS / 2, bounds + " bounds");
        assertTrue(held >= 0.95 * bounds, held + " of " + bounds + " bounds hold");
        assertTrue(intervals < 40 || nearer > 0.6 * differ, nearer + " of " + differ + " lasting means are nearer");
    }

    /** Delays grow during the interval, and each flow has two records in it, with the first and the last of its packets. */
    @ParameterizedTest
    @ValueSource(ints = {1, 4})
    void shouldHoldInPartsOfAnInterval(final int vldaLength) {
        int bounds = 0;
        int held = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            final Random random = new Random(seed);
            final TwoPoints points = new TwoPoints(new SettingsBuilder()
                .geometry(SketchGeometry.lds(4, 8 * FLOWS, vldaLength))
                .aggregatorCells(64).seed(42 + seed).intervalNs(INTERVAL_NS).maximumDelayNs(10 * MS).inFlightPackets(4096)
                .waitingRecords(2 * FLOWS).maxFlows(2 * FLOWS));
            final int[] records = new int[2 * FLOWS];
            final double[] meansNs = new double[2 * FLOWS];
            for (int part = 0; part < records.length; part++) {
                final int packets = 1 + random.nextInt(MOST_PACKETS);
                for (int i = 0; i < packets; i++) {
                    final long sentNs = (part / FLOWS * MOST_PACKETS + i) * MS;
                    final long delayNs = MS + sentNs / 10 + random.nextLong(MS / 5);
                    points.packet(part % FLOWS, sentNs, delayNs);
                    meansNs[part] += (double)delayNs / packets;
                }
                if (part % FLOWS == FLOWS - 1) {
                    points.pass();
                    for (int flow = 0; flow < FLOWS; flow++) {
                        records[part - part % FLOWS + flow] = points.record(flow);
                        assertTrue(points.end(flow));
                    }
                }
            }
            points.onEnd();
            for (int part = 0; part < records.length; part++) {
                if (points.records().hasBound(records[part])) {
                    final double errorNs = Math.abs(points.records().meanNs(records[part]) - meansNs[part]);
                    bounds++;
                    held += errorNs <= Math.max(1, points.records().boundNs(records[part])) ? 1 : 0;
                }
            }
        }
        assertEquals(vldaLength > 1, bounds > SEEDS * FLOWS, bounds + " bounds");
        assertTrue(held >= 0.95 * bounds, held + " of " + bounds + " bounds hold");
    }

    /** Ten packets of one delay and a record's end, then ten of many delays: neither part has the spread of the flow. */
    @Test
    void shouldHaveNoStandardDeviationOfAPartOfAnInterval() {
        final TwoPoints points = new TwoPoints(new SettingsBuilder().geometry(SketchGeometry.lds(4, 1024, 4))
            .aggregatorCells(64).intervalNs(INTERVAL_NS).maximumDelayNs(20 * MS).inFlightPackets(4096).waitingRecords(4)
            .maxFlows(4));
        for (int i = 0; i < 20; i++) {
            points.packet(0, i * MS, MS);
            points.packet(1, i * MS, i < 10 ? MS : MS * (i - 9));
        }
        points.pass();
        final int whole = points.record(0);
        final int first = points.record(1);
        assertTrue(points.end(1));
        points.packet(1, 30 * MS, MS);
        points.pass();
        final int second = points.record(1);
        points.onEnd();

        assertTrue(points.records().hasStandardDeviation(whole));
        assertEquals(0, points.records().standardDeviationNs(whole));
        assertNotEquals(first, second);
        assertTrue(points.records().hasMean(first) && points.records().hasMean(second));
        assertFalse(points.records().hasStandardDeviation(first));
        assertFalse(points.records().hasStandardDeviation(second));
    }
}
