package io.flowlag.exporter.delay.interval.records;

import io.flowlag.sketch.estimate.HeavyHitters;
import net.jqwik.api.EdgeCasesMode;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;

import java.util.HashMap;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Packets of flows match a map, for any number of records of a flow and any hashes. */
class IntervalFlowsTest {
    private static final int KEY = 7;
    private static final int CAPACITY = 300;

    private final SketchRecords records = new SketchRecords(CAPACITY);
    private final IntervalFlows flows = new IntervalFlows(records, CAPACITY);
    private final RecordList interval = new RecordList(CAPACITY);
    private final Map<Long, Long> packets = new HashMap<>();
    private final Map<Long, Long> silent = new HashMap<>();

    /** Records of an interval; few hashes, and few of their lower bits, so that sets and totals have collisions. */
    private void fill(final Random random, final int recordCount, final int hashes) {
        for (int i = 0; i < recordCount; i++) {
            final long flowHash = (long)random.nextInt(hashes) << 40 | random.nextInt(hashes);
            final int record = records.open(flowHash, 0, i, 0);
            records.weight(record, 0, 1 + i % 5);
            final int count = random.nextInt(4);
            for (int packet = 0; packet < count; packet++) {
                if (records.isFirst(record, KEY)) {
                    records.begin(record, KEY);
                    interval.add(record);
                }
                records.countPacket(record, KEY);
            }
            (count > 0 ? packets : silent).merge(flowHash, count > 0 ? (long)count : 1, Long::sum);
        }
    }

    @Property(edgeCases = EdgeCasesMode.NONE, tries = 200)
    void shouldKnowThePacketsOfEachFlow(
        @ForAll final long seed, @ForAll @IntRange(max = CAPACITY) final int recordCount,
        @ForAll @IntRange(min = 1, max = 60) final int hashes) {
        final IntervalFlowsTest test = new IntervalFlowsTest();
        test.fill(new Random(seed), recordCount, hashes);
        test.flows.take(test.interval, KEY, 0, new HeavyHitters(4));
        for (int i = 0; i < test.interval.count(); i++) {
            final int record = test.interval.get(i);
            assertEquals(test.records.flowHash(record), test.flows.flowHash(i));
            assertEquals(test.records.packets(record, KEY), test.flows.packets(i));
            assertEquals(test.records.weight(record, 0), test.flows.weight(i));
            assertEquals(test.packets.get(test.flows.flowHash(i)), test.flows.flowPackets(i));
        }
        final FlowTotals totals = test.flows.countSilent(KEY);
        test.silent.forEach((flowHash, recordsOfFlow) ->
            assertEquals(test.packets.containsKey(flowHash) ? 0 : recordsOfFlow, totals.silentRecords(flowHash)));
        test.packets.forEach((flowHash, count) -> assertEquals(count, totals.get(flowHash)));
    }
}
