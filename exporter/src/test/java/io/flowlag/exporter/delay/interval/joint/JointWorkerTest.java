package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.exporter.delay.interval.TakenPlaces;
import io.flowlag.exporter.delay.interval.records.CellEstimates;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class JointWorkerTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long SEED = 7;
    private static final int FLOWS = 1000;
    private static final int INTERVALS = 60;
    private static final long DELAY_NS = 1_000_000;

    @Test
    void shouldFindAimedFlowsWithFewProbes() {
        final SketchGeometry geometry = SketchGeometry.lds(1, 16, 1);
        final JointSettings settings = new JointSettings(0, INTERVAL_NS, TakenPlaces.KEYS, 1, false, false);
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, SEED);
        sketch.begin(1, INTERVAL_NS);
        final JointTask task = new JointTask(geometry, settings);
        task.begin(1, INTERVAL_NS);
        task.images(sketch.image(), sketch.image());
        final long[] flows = TakenPlaces.aimedKeys();
        System.arraycopy(flows, 0, task.flowHashes, 0, flows.length);
        Arrays.fill(task.packets, 1);
        Arrays.fill(task.weights, 1);
        task.recordCount = flows.length;
        final JointWorker worker = new JointWorker(geometry, SEED, settings);
        worker.solve(task);
        assertEquals(flows.length, task.answer.flowCount);
        final int[] places = TakenPlaces.field(worker, "flowOfPlace", int[].class);
        TakenPlaces.assertFewProbes(places.length, (place) -> places[place] >= 0);
    }

    /** Truth: the mean of all delays. Lost packets leave cells unusable; estimates of references lean by a fifth of the mean. */
    @Test
    void shouldBoundTheMeanOfAllFlows() {
        for (final int weightedFlows : new int[] {0, 1}) {
            final SketchGeometry geometry = SketchGeometry.lds(2, 1024, 1);
            final JointSettings settings = new JointSettings(0, INTERVAL_NS, FLOWS, 1, false, false);
            final JointWorker worker = new JointWorker(geometry, SEED, settings);
            final SplittableRandom random = new SplittableRandom(21);
            final double[] widths = new double[INTERVALS];
            int held = 0;
            for (int i = 0; i < INTERVALS; i++) {
                final JointTask task = new JointTask(geometry, settings);
                final double trueNs = fill(task, geometry, weightedFlows, random);
                worker.solve(task);
                final double errorNs = Math.abs(task.answer.meanNs - trueNs);
                held += errorNs <= task.answer.boundNs + 1 ? 1 : 0;
                widths[i] = task.answer.boundNs / Math.max(1, errorNs);
            }
            Arrays.sort(widths);
            final double width = widths[INTERVALS / 2];
            assertTrue(held >= 0.95 * INTERVALS && width < (weightedFlows == 0 ? 20 : 200), held + " held, by " + width);
        }
    }

    private static double fill(
        final JointTask task, final SketchGeometry geometry, final int weightedFlows, final SplittableRandom random) {
        final LossyDifferenceSketch sent = new LossyDifferenceSketch(geometry, SEED);
        final LossyDifferenceSketch received = new LossyDifferenceSketch(geometry, SEED);
        final CellEstimates estimates = new CellEstimates(geometry, SEED);
        sent.begin(1, INTERVAL_NS);
        received.begin(1, INTERVAL_NS);
        task.begin(1, INTERVAL_NS);
        double sumNs = 0;
        long count = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            final long hash = random.nextLong();
            final int weight = flow < weightedFlows ? 2 : 1;
            final int packets = (int)Math.max(1, Math.min(200, 1 / (1.01 - random.nextDouble())));
            final double scaleNs = DELAY_NS * Math.exp(random.nextGaussian());
            final double leanNs = DELAY_NS / 5 * (1 + random.nextGaussian());
            long flowNs = 0;
            for (int packet = 0; packet < packets; packet++) {
                final long sentNs = random.nextLong(INTERVAL_NS);
                final long delayNs = Math.round(-scaleNs * Math.log(1 - random.nextDouble()));
                final long digest = random.nextLong();
                sent.update(hash, digest, sentNs, 100, weight);
                received.update(hash, digest, sentNs + delayNs, 100, weight);
                final long estimateNs = Math.round(Math.max(0, delayNs + leanNs));
                estimates.add(hash, digest, weight, estimateNs);
                task.estimateSumsNs[flow] += estimateNs;
                task.estimateSquareSumsNs2[flow] += (double)estimateNs * estimateNs;
                flowNs += delayNs;
            }
            if (random.nextInt(50) == 0) {
                sent.update(hash, random.nextLong(), 0, 100, weight);
            }
            task.flowHashes[flow] = hash;
            task.packets[flow] = packets;
            task.weights[flow] = weight;
            task.estimates[flow] = packets;
            task.errorScalesNs[flow] = DELAY_NS / 5.0;
            if (random.nextInt(10) == 0) {
                task.addWitness(hash, packets, flowNs);
            }
            sumNs += flowNs;
            count += packets;
        }
        task.recordCount = FLOWS;
        task.images(sent.image(), received.image());
        estimates.copyTo(task.cellEstimatesNs);
        task.leastEstimateNs = estimates.leastNs();
        return sumNs / count;
    }
}
