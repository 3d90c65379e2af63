package io.flowlag.exporter.delay.interval.records;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SharedSamplingTest {
    private static final int DRAWS = 200_000;
    private static final int WITNESS_PPM = 10_000;

    @Test
    void shouldTakeItsShareAndNoMore() {
        final SharedSampling sampling = new SharedSampling(5, 100_000, WITNESS_PPM);
        final SplittableRandom random = new SplittableRandom(7);
        int passive = 0;
        int witnesses = 0;
        int kept = 0;
        int both = 0;
        for (int i = 0; i < DRAWS; i++) {
            final long hash = random.nextLong();
            final boolean isWitness = sampling.isWitness(hash, 1, WITNESS_PPM);
            passive += sampling.isPassiveReference(hash) ? 1 : 0;
            witnesses += isWitness ? 1 : 0;
            kept += sampling.isKept(hash) ? 1 : 0;
            both += sampling.isPassiveReference(hash) && isWitness ? 1 : 0;
            assertTrue(sampling.isKept(hash) || !sampling.isWitness(hash, Long.MAX_VALUE, 1_000_000));
        }
        assertEquals(DRAWS / 10.0, passive, 600);
        assertEquals(DRAWS / 100.0, witnesses, 200);
        assertEquals(DRAWS / 5.0, kept, 1_000);
        assertEquals(DRAWS / 1000.0, both, 70);
    }

    @Test
    void shouldTakeLargerFlowsMoreOften() {
        final SharedSampling sampling = new SharedSampling(5, 0, WITNESS_PPM);
        final SharedSampling everySize = new SharedSampling(5, 0, WITNESS_PPM, 1);
        final SplittableRandom random = new SplittableRandom(8);
        int small = 0;
        int large = 0;
        int largest = 0;
        for (int i = 0; i < DRAWS; i++) {
            final long hash = random.nextLong();
            small += everySize.isWitness(hash, 5, WITNESS_PPM) ? 1 : 0;
            large += sampling.isWitness(hash, 60, WITNESS_PPM) ? 1 : 0;
            largest += sampling.isWitness(hash, 1_000_000_000, WITNESS_PPM) ? 1 : 0;
        }
        assertEquals(DRAWS / 20.0, small, 500);
        assertEquals(DRAWS / 20.0, large, 500);
        assertEquals(DRAWS / 5.0, largest, 1_000);
    }

    @Test
    void shouldTakeALargerShareOfFewFlows() {
        final SharedSampling sampling = new SharedSampling(5, 0, WITNESS_PPM);
        assertEquals(SharedSampling.MAX_WITNESS_PPM, sampling.sharePpm(0));
        assertEquals(SharedSampling.MAX_WITNESS_PPM, sampling.sharePpm(400));
        assertEquals(40_000, sampling.sharePpm(2_000));
        assertEquals(WITNESS_PPM, sampling.sharePpm(100_000));
        assertEquals(1_000_000, new SharedSampling(5, 0, 1_000_000).sharePpm(7));
        assertEquals(0, new SharedSampling(5, 0, 0).sharePpm(7));
    }

    @Test
    void shouldChooseAlikeWithOneSeedOnly() {
        final SplittableRandom random = new SplittableRandom(7);
        int differences = 0;
        for (int i = 0; i < 1000; i++) {
            final long hash = random.nextLong();
            final boolean isReference = new SharedSampling(5, 500_000, 0).isPassiveReference(hash);
            assertEquals(isReference, new SharedSampling(5, 500_000, 9).isPassiveReference(hash));
            differences += isReference != new SharedSampling(6, 500_000, 0).isPassiveReference(hash) ? 1 : 0;
            assertFalse(new SharedSampling(5, 0, 0).isKept(hash));
            assertTrue(new SharedSampling(5, 1_000_000, 0).isPassiveReference(hash));
        }
        assertEquals(500, differences, 100);
    }
}
