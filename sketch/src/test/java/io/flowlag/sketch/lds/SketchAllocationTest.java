package io.flowlag.sketch.lds;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.support.Allocation;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SketchAllocationTest {
    private static final int PACKETS = 10_000;

    @Test
    void shouldAllocateNothingWhenAnLdsTakesAPacket() {
        final LossyDifferenceSketch sketch =
            new LossyDifferenceSketch(SketchGeometry.lds(4, 1_000, 5, 1_000_000, 500_000, 100_000, 10_000), 1);

        Allocation.assertNone(() -> {
            for (int packet = 0; packet < PACKETS; packet++) {
                sketch.update(packet % 100, packet, packet, 100, 1 + packet % 3);
            }
            sketch.clear();
            sketch.begin(1, 1_000);
        });
    }

    @Test
    void shouldAllocateNothingWhenAnLdaTakesAPacket() {
        final LossyDifferenceAggregator aggregator = new LossyDifferenceAggregator(SketchGeometry.lda(512, 1, 6), 1);

        Allocation.assertNone(() -> {
            for (int packet = 0; packet < PACKETS; packet++) {
                aggregator.update(packet, packet, 100);
            }
        });
    }

    @Test
    void shouldTakeTheMemoryOfItsGeometry() {
        final SketchGeometry geometry = SketchGeometry.lds(4, 17_500, 1);
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, 1);

        assertEquals(128 + 4 * 17_500 * 32, geometry.imageLength());
        assertEquals(geometry.imageLength(), sketch.image().length());
        assertEquals(geometry.imageLength() + 64, SketchGeometry.memoryBytes(geometry));
        assertEquals(SketchGeometry.memoryBytes(geometry), sketch.image().buffer().byteBuffer().capacity());
        assertEquals(0, sketch.image().buffer().addressOffset() % 64);
    }
}
