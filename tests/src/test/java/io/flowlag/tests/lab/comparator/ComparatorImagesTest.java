package io.flowlag.tests.lab.comparator;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.reconcile.Synopsis;
import io.flowlag.sketch.reconcile.SynopsisPairing;
import io.flowlag.tests.support.Checkout;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** The comparators write the images that version 1 wrote; the product's verifiers read the same files. */
class ComparatorImagesTest {
    private static final long SEED = 0x0123456789abcdefL;
    private static final long INTERVAL_NUMBER = 1_700_000_000L;
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long THRESHOLD = 0xC0000000L;
    private static final int PACKETS = 100;

    @Test
    void shouldWriteTheImageOfASimpleRda() throws IOException {
        final SimpleReconcilableDifferenceAggregator simple = new SimpleReconcilableDifferenceAggregator(
            SimpleReconcilableDifferenceAggregator.geometry(2, 8), SEED);
        for (int i = 0; i < PACKETS; i++) {
            simple.update(i, i * 1_000);
        }
        assertWritten("srda", simple);
    }

    @Test
    void shouldWriteTheImageOfAFineComb() throws IOException {
        final FineComb fineComb = new FineComb(FineComb.geometry(8), SEED);
        for (int i = 0; i < PACKETS; i++) {
            fineComb.update(i, i * 1_000);
        }
        assertWritten("fine_comb", fineComb);
    }

    @Test
    void shouldWriteTheImagesOfDifferenceEstimators() throws IOException {
        final MinHashEstimator minHash = new MinHashEstimator(8, SEED);
        final StrataEstimator strata = new StrataEstimator(4, 3, SEED);
        for (int i = 0; i < PACKETS; i++) {
            minHash.add(i);
            strata.add(i);
        }
        assertWritten("min_hash", minHash);
        assertWritten("strata", strata);
    }

    @Test
    void shouldWriteTheImageOfAnSds() throws IOException {
        final SimpleDelaySketch sds = new SimpleDelaySketch(SketchGeometry.sds(2, 8), SEED);
        for (int packet = 0; packet < PACKETS; packet++) {
            sds.update(packet % 7, 1_000L * packet - 5_000, 64 + packet, 1 + packet % 3);
        }
        sds.begin(INTERVAL_NUMBER, INTERVAL_NS);
        final byte[] image = new byte[sds.geometry().imageLength()];
        sds.encode(new UnsafeBuffer(image), 0);

        assertArrayEquals(stored("sds"), image);
    }

    private static void assertWritten(final String name, final Synopsis synopsis) throws IOException {
        synopsis.begin(INTERVAL_NUMBER, INTERVAL_NS);
        synopsis.flowThreshold(THRESHOLD);
        synopsis.markDamaged();
        final byte[] image = new byte[synopsis.image().length()];
        synopsis.encode(new UnsafeBuffer(image), 0);

        assertArrayEquals(stored(name), image);
        assertEquals(
            SynopsisPairing.PAIRED, SynopsisPairing.check(synopsis.image().family(), synopsis.image(), synopsis.image()));
    }

    private static byte[] stored(final String name) throws IOException {
        return Files.readAllBytes(Checkout.root().resolve("sketch/src/test/resources/images/" + name + "-v1.bin"));
    }
}
