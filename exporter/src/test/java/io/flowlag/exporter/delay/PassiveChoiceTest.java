package io.flowlag.exporter.delay;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.delay.interval.records.SharedSampling;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PassiveChoiceTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int SHARE_PPM = 100_000;
    private static final int CEILING_BPS = 2_000_000;
    /** The send times that the ceiling allows in a second, by their size in octets. */
    private static final int ALLOWED = CEILING_BPS / 66;

    private final SharedSampling sampling = new SharedSampling(0, SHARE_PPM, 0);
    private final SplittableRandom random = new SplittableRandom(9);
    private long nowNs = 5 * SECOND_NS;

    private PassiveChoice choice(final long ceilingBps) {
        return new PassiveChoice(sampling, ceilingBps, new SampledFlows(new SipHash(1, 2), 0));
    }

    /** How many are shipped of the packets of some seconds. */
    private int shipped(final PassiveChoice choice, final int packetsPerSecond, final double seconds) {
        int shipped = 0;
        for (int i = 0; i < packetsPerSecond * seconds; i++) {
            nowNs += SECOND_NS / packetsPerSecond;
            final long digest = random.nextLong();
            final boolean isShipped = choice.isShipped(digest, nowNs);
            assertTrue(!isShipped || sampling.isPassiveReference(digest), "the receiver waits for those that both choose alone");
            shipped += isShipped ? 1 : 0;
        }
        return shipped;
    }

    @Test
    void shouldShipAllThatBothChooseWithoutACeiling() {
        final PassiveChoice choice = choice(0);
        for (int i = 0; i < 100_000; i++) {
            final long digest = random.nextLong();
            assertEquals(sampling.isPassiveReference(digest), choice.isShipped(digest, nowNs++));
        }
    }

    @Test
    void shouldShipAllWhereTheyFitTheCeiling() {
        assertEquals(20_000, shipped(choice(CEILING_BPS), 200_000, 1), 500);
    }

    @ParameterizedTest
    @CsvSource({"400000", "1000000", "5000000"})
    void shouldKeepToTheCeilingAndUseIt(final int packetsPerSecond) {
        final PassiveChoice choice = choice(CEILING_BPS);
        assertEquals(ALLOWED, shipped(choice, packetsPerSecond, 1), 0.15 * ALLOWED);
        assertEquals(ALLOWED, shipped(choice, packetsPerSecond, 1), 0.03 * ALLOWED);
    }

    @Test
    void shouldFollowTheTraffic() {
        final PassiveChoice choice = choice(CEILING_BPS);
        shipped(choice, 100_000, 2);
        assertEquals(ALLOWED, shipped(choice, 3_000_000, 1), 0.15 * ALLOWED);
        shipped(choice, 100_000, 1);
        assertEquals(10_000, shipped(choice, 100_000, 1), 400, "all again");
        nowNs += 100 * SECOND_NS;
        assertEquals(10_000, shipped(choice, 100_000, 1), 400, "all after a pause");
        nowNs -= 100 * SECOND_NS;
        assertEquals(10_000, shipped(choice, 100_000, 1), 400, "all when the clock was set back");
    }

    /** In bursts of 20 ms with pauses of 80 ms, the mean rate counts. */
    @Test
    void shouldKeepToTheCeilingInBursts() {
        final PassiveChoice choice = choice(CEILING_BPS);
        int shipped = 0;
        for (int i = 0; i < 20; i++) {
            shipped += shipped(choice, 3_000_000, 0.02);
            nowNs += SECOND_NS / 1000 * 80;
        }
        assertTrue(shipped < 2.2 * ALLOWED, () -> "in 2 s");
        assertTrue(shipped > 0.7 * ALLOWED, () -> "in 2 s");
    }

    /** The packets of the highest ranks are left out, so no part of a capture is preferred. */
    @Test
    void shouldLeaveOutByRankAlone() {
        final PassiveChoice choice = choice(CEILING_BPS);
        shipped(choice, 1_000_000, 1);
        long mostShipped = 0;
        long leastLeft = Long.MAX_VALUE;
        for (int i = 0; i < 10_000; i++) {
            final long digest = random.nextLong();
            final long rank = sampling.passiveRank(digest);
            if (choice.isShipped(digest, nowNs)) {
                mostShipped = Math.max(mostShipped, rank);
            } else {
                leastLeft = Math.min(leastLeft, rank);
            }
        }
        assertTrue(mostShipped < leastLeft);
        assertFalse(mostShipped == 0);
    }
}
