package io.flowlag.exporter.monitoring.top;

import io.flowlag.exporter.flow.FlowEntry;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.collections.LongHashSet;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

class FlowRankingTest {
    private static List<Long> ranks(final FlowRanking ranking) {
        final List<Long> ranks = new ArrayList<>();
        for (int i = 0; i < ranking.size(); i++) {
            ranks.add(ranking.rank(i));
            assertEquals(ranking.rank(i), FlowEntry.octetCount(ranking.flows(), ranking.offset(i)));
        }
        ranks.sort(Comparator.reverseOrder());
        return ranks;
    }

    private static FlowRanking ranking(final int capacity, final List<Long> offered) {
        final FlowRanking ranking = new FlowRanking(capacity);
        for (final long rank : offered) {
            final int at = ranking.offer(rank);
            if (at >= 0) {
                FlowEntry.octetCount(ranking.flows(), at, rank);
                FlowEntry.flowId(ranking.flows(), at, rank);
            }
        }
        return ranking;
    }

    @Property(tries = 200)
    void shouldKeepTheHighestRanks(
        @ForAll @IntRange(min = 1, max = 20) final int capacity, @ForAll @Size(max = 200) final List<Long> offered) {
        final FlowRanking ranking = ranking(capacity, offered);
        assertEquals(offered.size(), ranking.offeredCount());
        assertEquals(
            offered.stream().sorted(Comparator.reverseOrder()).limit(capacity).toList(), ranks(ranking));
    }

    @Property(tries = 100)
    void shouldKeepTheHighestOfTwo(
        @ForAll @IntRange(min = 1, max = 20) final int capacity, @ForAll @Size(max = 50) final List<Long> left,
        @ForAll @Size(max = 50) final List<Long> right) {
        final FlowRanking both = new FlowRanking(capacity);
        both.offerAll(ranking(50, left), Long.MIN_VALUE, new LongHashSet());
        both.offerAll(ranking(50, right), Long.MIN_VALUE, new LongHashSet());
        final List<Long> all = new ArrayList<>(left);
        all.addAll(right);
        assertEquals(all.stream().sorted(Comparator.reverseOrder()).limit(capacity).toList(), ranks(both));
    }
}
