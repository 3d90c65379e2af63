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
        assertPairing(PairingResult.PAIRED, image(SketchGeometry.lds(2, 8, 2, FULL, FULL), SEED, 3, 100), "paired");
    }

    @Test
    void shouldRefuseAnyDifferenceAndNameBothValues() {
        assertPairing(PairingResult.ROWS, image(SketchGeometry.lds(3, 8, 2), SEED, 3, 100), "rows: sender 3, receiver 2");
        assertPairing(
            PairingResult.COLUMNS, image(SketchGeometry.lds(2, 9, 2), SEED, 3, 100), "columns: sender 9, receiver 8");
        assertPairing(
            PairingResult.VLDA_LENGTH, image(SketchGeometry.lds(2, 8, 1), SEED, 3, 100), "vldaLength: sender 1, receiver 2");
        assertPairing(
            PairingResult.RATES,
            image(SketchGeometry.lds(2, 8, 2, FULL, 5), SEED, 3, 100),
            "rates: sender LDS{rows=2, columns=8, vldaLength=2, samplingRatesPpm=[1000000, 5]}, " +
            "receiver LDS{rows=2, columns=8, vldaLength=2, samplingRatesPpm=[1000000, 1000000]}");
        assertPairing(
            PairingResult.SEED,
            image(SketchGeometry.lds(2, 8, 2), SEED + 1, 3, 100),
            "seedFingerprint: sender " + Integer.toHexString(fingerprint(SEED + 1)) +
            ", receiver " + Integer.toHexString(fingerprint(SEED)));
        assertPairing(
            PairingResult.INTERVAL_LENGTH,
            image(SketchGeometry.lds(2, 8, 2), SEED, 3, 101),
            "intervalNs: sender 101, receiver 100");
        assertPairing(
            PairingResult.INTERVAL_NUMBER,
            image(SketchGeometry.lds(2, 8, 2), SEED, 4, 100),
            "intervalNumber: sender 4, receiver 3");
    }

    @Test
    void shouldRefuseFamiliesThatAreNotCompared() {
        final SketchImage sds = StoredImages.read("sds-v1");

        assertEquals(PairingResult.FAMILY, ImagePairing.check(sds, reference));
        assertEquals(PairingResult.FAMILY, ImagePairing.check(sds, sds));
        assertEquals("family: sender SDS, receiver LDS", ImagePairing.explain(PairingResult.FAMILY, sds, reference));
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

    private void assertPairing(final PairingResult expected, final SketchImage sender, final String explanation) {
        assertEquals(expected, ImagePairing.check(sender, reference));
        assertEquals(explanation, ImagePairing.explain(expected, sender, reference));
    }

    private static int fingerprint(final long seed) {
        return io.flowlag.common.hash.KeyedMix.fingerprint(seed);
    }

    private static SketchImage image(
        final SketchGeometry geometry, final long seed, final long intervalNumber, final long intervalNs) {
        final LossyDifferenceSketch sketch = new LossyDifferenceSketch(geometry, seed);
        sketch.begin(intervalNumber, intervalNs);
        return sketch.image();
    }
}
