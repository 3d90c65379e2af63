package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointTier;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The tier depends on earlier solution times. */
class TierChoiceTest {
    private static final long MS = 1_000_000L;

    @Test
    void shouldTakeTheFastTierWhereTheFullOneWouldCostTooMuch() {
        final TierChoice choice = new TierChoice(100 * MS, SketchGeometry.lds(4, 16 * 1024, 1), true);
        assertEquals(JointTier.FULL, choice.choose(1_000));
        choice.onSolved(1_000, 24, 20 * MS);
        assertEquals(JointTier.FULL, choice.choose(10_000));
        assertEquals(JointTier.FAST, choice.choose(100_000));
        for (int i = 0; i < 20; i++) {
            choice.onSolved(10_000, 10, 500 * MS);
        }
        assertEquals(JointTier.FAST, choice.choose(10_000));
        assertEquals(JointTier.FULL, choice.choose(1_000));
        int intervals = 0;
        while (choice.choose(10_000) == JointTier.FAST && intervals < 1_000) {
            intervals++;
        }
        assertTrue(intervals > 0 && intervals < 1_000, "never tried again");
    }
}
