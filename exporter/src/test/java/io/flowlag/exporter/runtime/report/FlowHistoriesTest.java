package io.flowlag.exporter.runtime.report;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowKey;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class FlowHistoriesTest {
    private static final long S = 1_000_000_000L;

    private static RowKey flow(final int number) {
        return new RowKey(null, null, 17, number, 2, RowKey.NONE, RowKey.NONE);
    }

    @Test
    void shouldKeepTheFlowsWithTheSlowestRecords() {
        final FlowHistories histories = new FlowHistories(100);
        for (int second = 0; second < 10; second++) {
            for (int number = 0; number < 50; number++) {
                final boolean isSlow = number == 7 && second == 0;
                histories.add(flow(number), ReportSeriesTest.row(0, second * S, S, 5, isSlow ? 9_000L : number));
            }
        }
        assertEquals(10, histories.of(flow(7)).size(), "slow once");
        assertEquals(10, histories.of(flow(49)).size());
        int kept = 0;
        for (int number = 0; number < 50; number++) {
            kept += histories.of(flow(number)).size();
        }
        assertTrue(kept <= 100, "kept " + kept);
    }

    @Test
    void shouldMergeNeighboursOfALongHistoryInTheOrderOfTime() {
        final FlowHistories histories = new FlowHistories();
        final int records = 2 * FlowHistories.MOST_POINTS + 2;
        for (int i = records - 1; i >= 0; i--) {
            histories.add(flow(1), ReportSeriesTest.row(0, i * S, S, 10, 1_000L * i));
        }
        final List<FlowRow> points = histories.of(flow(1));
        assertEquals((records + 2) / 3, points.size());
        assertEquals(1_000L, points.get(0).delay().meanNs(), "of 0, 1 and 2");
        assertEquals(3 * S, points.get(1).traffic().startNs());
        assertEquals(records, points.stream().mapToLong((each) -> each.traffic().flows()).sum());
        assertEquals(List.of(), histories.of(flow(2)));
    }
}
