package io.flowlag.sketch.image;

import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.StoredImages;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ImagePairingTest {
    private static final int FULL = SketchGeometry.FULL_RATE_PPM;
    private static final long SEED = 7;

    private final SketchImage reference = image(SketchGeometry.lds(2, 8, 2), SEED, 3, 100);

    @Test
    void shouldPairEqualGeometrySeedAndInterval() {
        assertPairing(PairingResult.PAIRED, image(SketchGeometry.lds(2, 8, 2, FULL, FULL), SEED, 3, 100));
    }

    @Test
    void shouldRefuseAnyDifference() {
        assertPairing(PairingResult.ROWS, image(SketchGeometry.lds(3, 8, 2), SEED, 3, 100));
        assertPairing(PairingResult.COLUMNS, image(SketchGeometry.lds(2, 9, 2), SEED, 3, 100));
        assertPairing(PairingResult.VLDA_LENGTH, image(SketchGeometry.lds(2, 8, 1), SEED, 3, 100));
        assertPairing(PairingResult.RATES, image(SketchGeometry.lds(2, 8, 2, FULL, 5), SEED, 3, 100));
        assertPairing(PairingResult.SEED, image(SketchGeometry.lds(2, 8, 2), SEED + 1, 3, 100));
        assertPairing(PairingResult.INTERVAL_LENGTH, image(SketchGeometry.lds(2, 8, 2), SEED, 3, 101));
        assertPairing(PairingResult.INTERVAL_NUMBER, image(SketchGeometry.lds(2, 8, 2), SEED, 4, 100));
    }

    @Test
    void shouldRefuseFamiliesThatAreNotCompared() {
        final SketchImage sds = StoredImages.read("sds-v1");

        assertEquals(PairingResult.FAMILY, ImagePairing.check(sds, reference));
        assertEquals(PairingResult.FAMILY, ImagePairing.check(sds, sds));
    }

    @Test
    void shouldRefuseGeometriesThatMakeNoSense() {
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(0, 8, 1));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(17, 8, 1));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(1, 0, 1));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(1, 8, 0));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(1, 8, 9));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(2, 8, 1, FULL));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(1, 8, 1, 0));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(1, 8, 1, FULL + 1));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lds(16, Integer.MAX_VALUE, 1));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.sds(-1, 8));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lda(3, 0));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lda(4));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lda(4, 2, 2));
        assertThrows(IllegalArgumentException.class, () -> SketchGeometry.lda(4, 32));
        assertThrows(IllegalArgumentException.class, () -> new LossyDifferenceSketch(SketchGeometry.sds(1, 8), SEED));
    }

    @Test
    void shouldTellGeometriesApart() {
        final SketchGeometry geometry = SketchGeometry.lds(2, 8, 2);

        assertEquals(geometry, SketchGeometry.lds(2, 8, 2, FULL, FULL));
        assertEquals(geometry.hashCode(), SketchGeometry.lds(2, 8, 2, FULL, FULL).hashCode());
        assertNotEquals(geometry, SketchGeometry.lds(2, 8, 2, FULL, 1));
        assertNotEquals(SketchGeometry.lds(2, 8, 1), SketchGeometry.sds(2, 8));
        assertTrue(SketchGeometry.lda(4, 1).toString().contains("leadingZeros=[1]"));
    }

    private void assertPairing(final PairingResult expected, final SketchImage sender) {
        assertEquals(expected, ImagePairing.check(sender, reference));
    }

    private static SketchImage image(
        final SketchGeometry geometry, final long seed, final long intervalNumber, final long intervalNs) {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, seed);
        sketch.begin(intervalNumber, intervalNs);
        return sketch.image();
    }
}
