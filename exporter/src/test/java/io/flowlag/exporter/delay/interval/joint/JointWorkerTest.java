package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.exporter.delay.interval.TakenPlaces;
import io.flowlag.exporter.delay.interval.records.JointSettings;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.junit.jupiter.api.Test;

import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertEquals;

class JointWorkerTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long SEED = 7;

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
}
