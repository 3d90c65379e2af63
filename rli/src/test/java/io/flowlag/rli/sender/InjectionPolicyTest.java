package io.flowlag.rli.sender;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class InjectionPolicyTest {
    private static final AdaptivePolicy PAPER = AdaptivePolicy.PAPER;

    @Test
    void shouldGiveThePapersRates() {
        assertEquals(0.1, PAPER.rate(0.2), 1e-12);
        assertEquals(0.1, PAPER.rate(0.6), 1e-12);
        assertEquals(1.0 / 300, PAPER.rate(0.85), 1e-12);
        assertEquals(1.0 / 300, PAPER.rate(1.3), 1e-12);
        assertEquals(0.1, PAPER.rate(Double.NaN), 1e-12);
        assertEquals(Math.sqrt(0.75) * (0.1 - 1.0 / 300) + 1.0 / 300, PAPER.rate(0.725), 1e-12);
        assertEquals(10, PAPER.packetGap(0));
        assertEquals(300, PAPER.packetGap(1));
    }

    @Property
    void shouldFallWithUtilization(
        @ForAll @DoubleRange(max = 1.5) final double first, @ForAll @DoubleRange(max = 1.5) final double second) {
        final double low = Math.min(first, second);
        final double high = Math.max(first, second);

        assertTrue(PAPER.rate(low) >= PAPER.rate(high));
        assertTrue(PAPER.rate(low) >= PAPER.minimumRate() && PAPER.rate(low) <= PAPER.maximumRate());
        assertTrue(PAPER.packetGap(low) <= PAPER.packetGap(high));
    }

    @Test
    void shouldRefuseImpossibleSettings() {
        assertThrows(IllegalArgumentException.class, () -> new AdaptivePolicy(0.9, 0.8, 0.01, 0.1));
        assertThrows(IllegalArgumentException.class, () -> new AdaptivePolicy(0.6, 0.8, 0.2, 0.1));
        assertThrows(IllegalArgumentException.class, () -> new AdaptivePolicy(0.6, 0.8, 0, 0.1));
        assertThrows(IllegalArgumentException.class, () -> new AdaptivePolicy(Double.NaN, 0.8, 0.01, 0.1));
        assertThrows(IllegalArgumentException.class, () -> new EveryNPolicy(0));
        assertThrows(IllegalArgumentException.class, () -> new EveryIntervalPolicy(0));
        assertThrows(IllegalArgumentException.class, () -> new CombinedPolicy(0, 1));
        assertThrows(IllegalArgumentException.class, () -> InjectionSettings.of(0, AdaptivePolicy.PAPER));
        assertThrows(IllegalArgumentException.class, () -> limited(8799));
        assertEquals(8800, limited(8800).ceilingBps());
    }

    private static InjectionSettings limited(final long ceilingBps) {
        return new InjectionSettings(List.of(AdaptivePolicy.PAPER), 1, 0.02, 100_000_000, ceilingBps, 110);
    }
}
