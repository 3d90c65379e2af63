package io.flowlag.rli.receiver;

import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;

import static org.junit.jupiter.api.Assertions.assertEquals;

class InterpolationTest {
    private static final double[] SPECIAL = {
        0, 0.5, 0.5 - 0x1p-54, 0.5 + 0x1p-53, 1, 1.5, 1.5 - 0x1p-52, 2.5, 0x1p50 + 0.5, 0x1p51, 0x1p51 - 0.5, 0x1p51 + 0.5,
        0x1p51 - 0.25, 0x1p52, 0x1p52 - 0.5, 0x1p52 + 1, 0x1p53, 0x1p63, 0x1p64, Double.MAX_VALUE, Double.MIN_VALUE,
        Double.MIN_NORMAL, Double.POSITIVE_INFINITY, Double.NaN, Long.MAX_VALUE, Integer.MAX_VALUE + 0.5};

    private static void assertRounded(final double value) {
        assertEquals(Math.round(value), Interpolation.round(value), () -> Double.toHexString(value));
    }

    @Example
    void shouldRoundSpecialValuesAsTheLibrary() {
        for (final double value : SPECIAL) {
            assertRounded(value);
            assertRounded(-value);
            assertRounded(Math.nextUp(value));
            assertRounded(-Math.nextUp(value));
            assertRounded(Math.nextDown(value));
            assertRounded(-Math.nextDown(value));
        }
    }

    @Property(tries = 20_000)
    void shouldRoundEveryValueAsTheLibrary(@ForAll final long bits) {
        assertRounded(Double.longBitsToDouble(bits));
    }

    @Property(tries = 20_000)
    void shouldRoundDelaysAsTheLibrary(@ForAll @DoubleRange(min = -1e12, max = 1e12) final double valueNs) {
        assertRounded(valueNs);
        assertRounded(Math.rint(valueNs) + 0.5);
    }

    @Property(tries = 20_000)
    void shouldMakeDoublesAsTheLanguage(@ForAll final long value, @ForAll @IntRange(max = 63) final int shift) {
        assertEquals((double)value, Interpolation.toDouble(value));
        assertEquals((double)(value >>> shift), Interpolation.toDouble(value >>> shift));
        assertEquals((double)(1L << shift), Interpolation.toDouble(1L << shift));
        assertEquals((double)((1L << shift) - 1), Interpolation.toDouble((1L << shift) - 1));
    }

    /** The formula as it stands in the paper. */
    @Property(tries = 5_000)
    void shouldInterpolateAsThePaper(
        @ForAll @LongRange(min = -10, max = 1_000_000_000) final long gapNs,
        @ForAll @LongRange(min = -10, max = 1_000_000_000) final long packetNs,
        @ForAll @LongRange(min = -1_000_000_000, max = 1_000_000_000) final long fromDelayNs,
        @ForAll @LongRange(min = -1_000_000_000, max = 1_000_000_000) final long toDelayNs,
        @ForAll @IntRange(min = 64, max = 9000) final int lengthBytes,
        @ForAll @IntRange(max = 80) final int deciNsPerByte) {
        final long fromNs = 1_700_000_000_000_000_000L;
        final double nsPerByte = deciNsPerByte / 10.0;
        final int fromBytes = 70;
        final int toBytes = 90;
        final double weight = gapNs <= 0 || packetNs <= 0 ? 0 : (double)packetNs / gapNs;
        final double referenceBytes = fromBytes + weight * (toBytes - fromBytes);
        final long expectedNs =
            fromDelayNs + Math.round(weight * (toDelayNs - fromDelayNs) + nsPerByte * (lengthBytes - referenceBytes));
        final SettledReference left = new SettledReference();
        left.set(fromNs, fromDelayNs, fromBytes);
        final SettledReference right = new SettledReference();
        right.set(fromNs + gapNs, toDelayNs, toBytes);
        final Interpolation interpolation = new Interpolation().between(left, right, nsPerByte);
        assertEquals(expectedNs, interpolation.delayNs(fromNs + packetNs, lengthBytes));
    }
}
