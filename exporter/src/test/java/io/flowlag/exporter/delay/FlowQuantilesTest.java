package io.flowlag.exporter.delay;

import io.flowlag.sketch.quantile.QuantileSketch;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Quantiles of sampled packets against those of all packets of a flow. */
class FlowQuantilesTest {
    private static final double[] QUANTILES = {0.5, 0.9, 0.95, 0.99, 0.999};
    private static final double SHAPE = 0.6;

    private final UnsafeBuffer sketch = new UnsafeBuffer(new byte[QuantileSketch.LENGTH_BYTES]);
    private final UnsafeBuffer quantiles = new UnsafeBuffer(new byte[FlowQuantiles.LENGTH_BYTES]);
    private final SplittableRandom random = new SplittableRandom(5);
    private long[] delaysNs;

    /** A flow of Weibull delays whose first packets are sampled, all but the last of those with a send time. */
    private void flow(final int packets, final int sampled, final int missing) {
        delaysNs = new long[packets];
        Arrays.setAll(delaysNs, (i) -> 20_000 + (long)(200_000 * Math.pow(-Math.log(1 - random.nextDouble()), 1 / SHAPE)));
        QuantileSketch.clear(sketch, 0);
        for (int i = 0; i < sampled - missing; i++) {
            QuantileSketch.record(sketch, 0, delaysNs[i]);
        }
        FlowQuantiles.writeSampled(quantiles, 0, sketch, 0, packets, sampled);
        Arrays.sort(delaysNs);
    }

    /** The relative error of a quantile. */
    private double error(final int index) {
        final long truthNs = delaysNs[(int)Math.ceil(QUANTILES[index] * delaysNs.length - 1e-9) - 1];
        return Math.abs(FlowQuantiles.quantileNs(quantiles, 0, index) - truthNs) /
            (double)FlowQuantiles.quantileNs(quantiles, 0, index);
    }

    private double bound() {
        return FlowQuantiles.errorPpm(quantiles, 0) / 1e6;
    }

    @ParameterizedTest
    @CsvSource({"20, 1", "99, 1", "100, 2", "200, 3", "999, 3", "1000, 4", "10000, 5"})
    void shouldGiveTheQuantilesOfAFlowWithEveryDelayWithinTheErrorOfTheDistribution(final int packets, final int groups) {
        for (int draw = 0; draw < 50; draw++) {
            flow(packets, packets, 0);
            assertEquals(groups, FlowQuantiles.groups(quantiles, 0));
            assertTrue(bound() > 0 && bound() < 0.1);
            for (int i = 0; i < groups; i++) {
                assertTrue(error(i) <= bound(), "quantile " + i);
            }
        }
    }

    /** The bound of 95 % is of each quantile; half of it does not hold so often. */
    @ParameterizedTest
    @CsvSource({"60000, 6000, 0", "60000, 6000, 20", "3000, 2700, 0", "40000, 10000, 10"})
    void shouldBoundTheErrorOfASampleForNinetyFiveOfAHundredFlows(final int packets, final int sampled, final int missing) {
        final int draws = 200;
        int held = 0;
        int halfHeld = 0;
        int given = 0;
        for (int draw = 0; draw < draws; draw++) {
            flow(packets, sampled, missing);
            final int groups = FlowQuantiles.groups(quantiles, 0);
            double largest = 0;
            for (int i = 0; i < groups; i++) {
                held += error(i) <= bound() ? 1 : 0;
                given++;
                largest = Math.max(largest, error(i));
            }
            halfHeld += groups > 0 && largest <= bound() / 2 ? 1 : 0;
        }
        assertTrue(given >= draws, "given " + given);
        assertTrue(held >= 0.95 * given, "held " + held + " of " + given);
        assertTrue(halfHeld < 0.97 * draws, "half the bound holds for " + halfHeld);
    }

    @Test
    void shouldGiveNoneWhereTheIntervalIsWideOrOpen() {
        flow(10_000, 100, 0);
        assertEquals(0, FlowQuantiles.groups(quantiles, 0), "few of many");
        assertEquals(0, FlowQuantiles.errorPpm(quantiles, 0));
        flow(1_000, 1_000, 11);
        assertEquals(3, FlowQuantiles.groups(quantiles, 0), "packets without a send time may have the largest delays");
        flow(100, 100, 40);
        assertEquals(0, FlowQuantiles.groups(quantiles, 0), "too many without a send time");
        assertEquals(Double.POSITIVE_INFINITY, FlowQuantiles.sampledErrorNs(sketch, 0, 100, 100));
    }

    @Test
    void shouldSayOfWhichDelaysQuantilesAre() {
        flow(1_000, 1_000, 0);
        assertEquals(
            bound() * FlowQuantiles.quantileNs(quantiles, 0, 0), FlowQuantiles.sampledErrorNs(sketch, 0, 1_000, 1_000), 5_000);
        FlowQuantiles.write(quantiles, 0, sketch, 0, 0, Long.MAX_VALUE);
        assertEquals(4, FlowQuantiles.groups(quantiles, 0));
        assertEquals(0, FlowQuantiles.errorPpm(quantiles, 0), "of estimates");
        flow(1_000, 1_000, 0);
        FlowQuantiles.clear(quantiles, 0);
        assertEquals(0, FlowQuantiles.groups(quantiles, 0) + FlowQuantiles.errorPpm(quantiles, 0));
    }
}
