package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.estimate.LossKind;
import io.flowlag.sketch.image.PairingResult;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SimpleDelaySketchTest {
    private static final long SEED = 0x5eed;
    private static final long FLOW = 0x1234_5678_9abc_def0L;
    private static final int BYTES = 100;

    private final FlowEstimate estimate = new FlowEstimate();

    @Test
    void shouldReadAnSdsAlone() {
        final SketchGeometry sdsGeometry = SketchGeometry.sds(4, 32);
        final SimpleDelaySketch sds = new SimpleDelaySketch(sdsGeometry, SEED);
        final FlowEstimator sdsEstimator = new FlowEstimator(sdsGeometry, SEED, 0, 0, 0.95, false);
        final LossyDifferenceSketch lds = new LossyDifferenceSketch(SketchGeometry.lds(4, 32, 1), SEED);
        for (int packet = 1; packet <= 10; packet++) {
            sds.update(FLOW, packet, BYTES, 1);
        }

        assertEquals(PairingResult.PAIRED, sdsEstimator.single(sds.image()));
        sdsEstimator.estimate(FLOW, 1, FlowEstimator.UNKNOWN_PACKETS, estimate);

        assertEquals(5.5, estimate.meanNs());
        assertEquals(10, estimate.receivedPackets());
        assertFalse(estimate.hasSentPackets());
        assertEquals(LossKind.NONE, estimate.lossKind());
        assertEquals(PairingResult.FAMILY, sdsEstimator.single(lds.image()));
    }

    @Test
    void shouldTakeTheEmptiestCellOfAnSds() {
        final SketchGeometry sdsGeometry = SketchGeometry.sds(4, 32);
        final SimpleDelaySketch sds = new SimpleDelaySketch(sdsGeometry, SEED);
        final int flows = 24;
        for (int flow = 0; flow < flows; flow++) {
            for (int packet = 0; packet < 10; packet++) {
                sds.update(0x9e37L * flow, 1000L * flow, BYTES, 1);
            }
        }
        final FlowEstimator sdsEstimator = new FlowEstimator(sdsGeometry, SEED, 0, 0, 0.95, false);
        sdsEstimator.single(sds.image());
        int exact = 0;
        for (int flow = 0; flow < flows; flow++) {
            sdsEstimator.estimate(0x9e37L * flow, 1, 10, estimate);
            final boolean alone = estimate.receivedPackets() == 10;
            exact += alone ? 1 : 0;
            if (alone) {
                assertEquals(1000L * flow, estimate.meanNs());
                assertEquals(0, estimate.boundNs());
            } else {
                assertTrue(estimate.boundNs() > 0);
            }
        }
        assertTrue(exact > flows / 2, "exact " + exact);
    }
}
