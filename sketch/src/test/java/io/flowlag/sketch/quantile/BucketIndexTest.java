package io.flowlag.sketch.quantile;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class BucketIndexTest {
    private static void assertIsLogarithm(final long magnitude) {
        assertEquals(BucketIndex.byLogarithm(magnitude), BucketIndex.of(magnitude), () -> Long.toString(magnitude));
    }

    @Property
    void shouldBeThatOfTheLogarithm(@ForAll @LongRange(min = QuantileSketch.FLOOR) final long magnitude) {
        assertIsLogarithm(magnitude);
    }

    @Test
    void shouldBeThatOfTheLogarithmAroundEveryBeginning() {
        for (int index = 1; index < 2000; index++) {
            final double beginning = QuantileSketch.FLOOR * Math.pow(QuantileSketch.GROWTH, index - 1);
            for (long distance = -3; distance <= 3 && beginning < Long.MAX_VALUE; distance++) {
                assertIsLogarithm(Math.max(QuantileSketch.FLOOR, (long)beginning + distance));
            }
        }
        for (int bits = 6; bits < Long.SIZE; bits++) {
            for (long sixtyFourth = 0; sixtyFourth < 64; sixtyFourth++) {
                final long from = 64 + sixtyFourth << bits - 6;
                assertIsLogarithm(from);
                assertIsLogarithm(Math.max(QuantileSketch.FLOOR, from - 1));
            }
        }
        assertIsLogarithm(Long.MAX_VALUE);
    }

    @Test
    void shouldBeThatOfTheLogarithmForEverySmallMagnitude() {
        for (long magnitude = QuantileSketch.FLOOR; magnitude < 300_000; magnitude++) {
            assertIsLogarithm(magnitude);
        }
    }
}
