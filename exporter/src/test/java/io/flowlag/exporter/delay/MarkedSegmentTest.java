package io.flowlag.exporter.delay;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Packets of the traffic as references, on a link whose large packets come in bursts. */
class MarkedSegmentTest {
    private static final long SEED = System.nanoTime();
    private static final double LARGE_NS = MarkedSegment.LARGE_BYTES * MarkedSegment.NS_PER_BYTE;

    @ParameterizedTest
    @ValueSource(doubles = {0.55, 0.7, 0.88})
    void shouldBelieveNoSlopeThatTheCapacityOrTheLeastDelaysRefute(final double load) {
        final MarkedSegment segment = new MarkedSegment(load, SEED);
        final double given = segment.measure(0, "capacity: 1g, policy: every-n, every-n: 10, serialisation: capacity")
            .medianErrorNs();
        for (final String options : new String[] {
            "every-n: 10", "every-n: 10, serialisation: fitted", "policy: every-n, every-n: 10, capacity: 1g",
            "policy: every-n, every-n: 10, capacity: 1g, serialisation: fitted", "capacity: 1g"}) {
            segment.measure(0, options);
            final String what = options + " at " + load + ", seed " + SEED + ": " + segment.nsPerByte() + " ns/octet, least " +
                segment.leastEstimateNs() + " ns of " + segment.leastReferenceNs() + " ns, median error " +
                segment.medianErrorNs() + " ns of " + given + " ns";
            assertTrue(segment.nsPerByte() <= 1.1 * MarkedSegment.NS_PER_BYTE, what);
            assertTrue(segment.leastEstimateNs() >= 0, what);
            assertTrue(segment.leastEstimateNs() >= segment.leastReferenceNs() - LARGE_NS, what);
            if (!"capacity: 1g".equals(options)) {
                assertTrue(segment.medianErrorNs() <= 1.1 * given + MarkedSegment.NS_PER_BYTE * 66, what);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {-150_000_000, -5_000_000, -300_000, -20_000, 5_000_000, 100_000_000})
    void shouldMeasureWhicheverPointSeesAPacketFirst(final long offsetNs) {
        final MarkedSegment segment = new MarkedSegment(0.7, SEED);
        final String options = "policy: every-n, every-n: 10, capacity: 1g, max-gap: 10s, silent-after: 11s";
        segment.measure(0, options);
        final double errorNs = segment.medianErrorNs();
        final long references = segment.count("rli_references");
        segment.measure(offsetNs, options);

        final String what = "offset " + offsetNs + ", seed " + SEED;
        assertTrue(segment.isAccountedFor(), what);
        // Later arrivals overwrite those that must be remembered for long.
        final boolean isFar = offsetNs < -100_000_000;
        assertEquals(references, segment.count("rli_references"), (isFar ? 0.2 : 0.01) * references, what);
        assertEquals(references, segment.count("references_sent"), what);
        if (!isFar) {
            assertEquals(errorNs, segment.medianErrorNs(), 0.1 * errorNs, what);
        }
        assertTrue(segment.leastEstimateNs() >= offsetNs, what);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.2, 0.55})
    void shouldHaveNoCeilingForPacketsThatTakeNothingOfTheLink(final double load) {
        final MarkedSegment segment = new MarkedSegment(load, SEED);
        final String options = "capacity: 1g, policy: every-n, every-n: 10";

        assertEquals(MarkedSegment.PACKETS / 10, segment.measure(0, options).count("references_sent"), 1);
        assertEquals(0, segment.count("references_held_by_ceiling"));
        final long limited = segment.measure(0, options + ", ceiling: 0.1%").count("references_sent");
        assertTrue(limited < MarkedSegment.PACKETS / 20, limited + " references");
        assertTrue(segment.count("references_held_by_ceiling") > limited / 2);
        assertEquals(limited, segment.measure(0, options + ", ceiling: 1m").count("references_sent"));
        assertEquals(limited, segment.measure(0, options + ", ceiling: 1000000").count("references_sent"));
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.55, 0.88})
    void shouldFollowTheUtilizationAsFastAsItIsTold(final double load) {
        final MarkedSegment segment = new MarkedSegment(load, SEED);
        final long slow = segment.measure(0, "capacity: 1g, smoothing: 0.02").count("references_sent");
        final long fast = segment.measure(0, "capacity: 1g, smoothing: 1").count("references_sent");

        assertEquals(slow, segment.measure(0, "capacity: 1g").count("references_sent"), "seed " + SEED);
        assertTrue(Math.abs(fast - slow) > slow / 20, slow + " references, " + fast + " by the last value, seed " + SEED);
    }
}
