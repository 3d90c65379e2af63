package io.flowlag.exporter.delay;

import io.flowlag.exporter.status.IntervalDelays;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Intervals of shards add up, in whatever order the shards end them. */
class ShardSummariesTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final int INTERVALS = 5;
    private static final TrafficClasses CLASSES = new TrafficClasses(List.of());

    private static void end(
        final ShardSummaries summaries, final int shard, final long interval, final boolean isLast, final StreamDelays of) {
        summaries.add(shard, new EndedPeriod(
            100 + shard, interval * INTERVAL_NS, (interval + 1) * INTERVAL_NS, isLast, CLASSES, new StreamDelays[] {of}));
    }

    private static StreamDelays delays(final long boundNs, final long... delaysNs) {
        final StreamDelays delays = new StreamDelays(false, true);
        for (final long each : delaysNs) {
            delays.estimates.record(each);
        }
        delays.references.record(7);
        delays.packets = delaysNs.length;
        delays.estimatesBoundNs = boundNs;
        return delays;
    }

    @Property(tries = 40)
    void shouldAddUpInAnyOrder(@ForAll final long seed, @ForAll @IntRange(min = 1, max = 4) final int shardCount) {
        final SplittableRandom random = new SplittableRandom(seed);
        final ShardSummaries summaries = new ShardSummaries(shardCount, 1, INTERVAL_NS);
        final long[] next = new long[shardCount];
        final long[] sums = new long[INTERVALS];
        final long[] counts = new long[INTERVALS];
        for (int left = shardCount * INTERVALS; left > 0;) {
            final int shard = random.nextInt(shardCount);
            final long slowest = Arrays.stream(next).min().orElseThrow();
            if (next[shard] < INTERVALS && next[shard] < slowest + 4) {
                final long delayNs = random.nextLong(1_000);
                final int interval = (int)next[shard]++;
                sums[interval] += 2 * delayNs;
                counts[interval] += 2;
                end(summaries, shard, interval, interval == INTERVALS - 1, delays(10, delayNs, delayNs));
                left--;
            }
        }
        assertEquals(INTERVALS, summaries.intervals().count());
        for (int i = 0; i < INTERVALS; i++) {
            final IntervalDelays interval = summaries.intervals().get(i).get(0);
            assertEquals(i * INTERVAL_NS, interval.summary().startNs());
            assertEquals(counts[i], interval.packets());
            assertEquals(counts[i], interval.summary().estimates().count());
            assertEquals(Math.round(sums[i] / (double)counts[i]), interval.summary().estimates().meanNs(), 1);
            assertEquals(1, interval.summary().references().count(), "all shards have the same");
            assertEquals(10, interval.estimatesBoundNs());
        }
        assertEquals(2L * shardCount * INTERVALS, summaries.total().get(0).estimates().count());
        assertEquals(100, summaries.total().get(0).startNs());
    }

    @Test
    void shouldWeightBoundsByEstimatesAndSayNothingWhereOneIsUnknown() {
        final ShardSummaries summaries = new ShardSummaries(2, 1, INTERVAL_NS);
        end(summaries, 0, 0, false, delays(10, 1, 1, 1));
        end(summaries, 1, 0, false, delays(30, 1));
        end(summaries, 0, 1, false, delays(-1, 1));
        end(summaries, 1, 1, false, delays(30, 1));
        end(summaries, 0, 2, true, delays(-1));
        end(summaries, 1, 2, true, delays(30, 1));
        assertEquals(List.of(15L, -1L, 30L), List.of(0, 1, 2).stream()
            .map((each) -> summaries.intervals().get(each).get(0).estimatesBoundNs()).toList());
    }

    /** Nor does a clock that is set back hold up what was measured before. */
    @Test
    void shouldNotWaitForAShardThatHangsForLong() {
        final ShardSummaries summaries = new ShardSummaries(2, 1, INTERVAL_NS);
        for (int i = 0; i < 10; i++) {
            end(summaries, 0, i, false, delays(10, 1));
        }
        assertEquals(6, summaries.intervals().count(), "four wait");
        end(summaries, 0, 3, false, delays(10, 1));
        assertEquals(10, summaries.intervals().count());
        end(summaries, 1, 3, true, delays(10, 1));
        end(summaries, 0, 4, true, delays(10, 1));
        assertEquals(12, summaries.intervals().count());
        assertTrue(summaries.histograms().get(0).estimates().count() == 13, summaries.histograms()::toString);
    }
}
