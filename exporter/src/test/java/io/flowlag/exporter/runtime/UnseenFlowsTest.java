package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.exact.TruthWriter;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.delay.DelayTable;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.agrona.DirectBuffer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class UnseenFlowsTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long MS = 1_000_000L;
    private static final int HOST = 0x0A01_0001;
    private static final int PACKETS = 50;

    private final Counters counters = new Counters();

    /** They may go elsewhere, unless the selector says that they do not. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTellOfFlowsThatArriveNowhereInTheTruthAndTheTable(final boolean isSelected) throws IOException {
        final ScriptedPoint sender = new ScriptedPoint();
        final ScriptedPoint receiver = new ScriptedPoint();
        for (int i = 0; i < PACKETS; i++) {
            final long sentNs = START_NS + i * 10 * MS;
            sender.packet(HOST, 1001, sentNs, 0);
            sender.packet(HOST, 1002, sentNs, 0);
            receiver.packet(HOST, 1001, sentNs + MS, MS);
        }
        sender.packet(HOST, 1001, START_NS + 2000 * MS, 0);
        receiver.packet(HOST, 1001, START_NS + 2001 * MS, MS);
        final ExporterConfig config = new ConfigLoader().text("test", "{threading: invoker" +
            (isSelected ? ", segment: {source: 10.1.0.0/16}}" : "}")).conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, false, true, true, false);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(sender, receiver), false, wiring, List.of(), counters, (throwable) -> {
                throw new AssertionError(throwable);
            })) {
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            // It is unknown whether the receiver point was watched before its first packet.
            assertEquals(1, statistics.counters().get("match_sent_undecided"));
            assertEquals(isSelected ? PACKETS - 1 : 0, statistics.counters().get("match_lost"));
            assertEquals(isSelected ? 0 : PACKETS - 1, statistics.counters().get("match_not_of_segment"));
            assertEquals(1, statistics.counters().get("match_flows_unseen"));
            assertEquals(isSelected ? PACKETS - 1 : 0, statistics.counters().get("match_lost_of_unseen_flows"));
            assertEquals(1, counters.get(CounterId.RECORDS_MADE), "a record is of packets that the receiver point saw");

            final StringBuilder truth = new StringBuilder();
            TruthWriter.write(pipeline.delayStage().matchedFlows(), truth);
            assertTrue(truth.toString().contains("10.1.0.1,198.51.100.1,17,1002,53,50,0,,,,\n"), truth::toString);
            final ByteArrayOutputStream table = new ByteArrayOutputStream();
            DelayTable.print(statistics, new PrintStream(table, true, StandardCharsets.UTF_8));
            assertTrue(table.toString(StandardCharsets.UTF_8).contains(isSelected ? "49 of the lost packets are of 1 flows" :
                "49 packets are of 1 flows of which nothing arrived: lost, or not part of this segment"), table::toString);
            assertTrue(table.toString(StandardCharsets.UTF_8).contains(isSelected ? " 49 lost, " : " 0 lost, "), table::toString);
        }
    }

    /**
     * With reconciliation both points of one process know each interval's lost flows by name, as {@code delay} does: with a
     * selector each has a record of the interval, without one when the flow is seen after all.
     */
    @ParameterizedTest
    @CsvSource({"true, false", "false, false", "false, true"})
    void shouldMakeARecordOfEachIntervalWherePacketsAreReconciled(final boolean isSelected, final boolean isSeenLater) {
        final ScriptedPoint sender = new ScriptedPoint();
        final ScriptedPoint receiver = new ScriptedPoint();
        for (int i = 0; i < PACKETS; i++) {
            final long sentNs = START_NS + i * 10 * MS;
            sender.packet(HOST, 1001, sentNs, 0);
            sender.packet(HOST, 1002, sentNs, 0);
            receiver.packet(HOST, 1001, sentNs + MS, MS);
        }
        if (isSeenLater) {
            sender.packet(HOST, 1002, START_NS + 1000 * MS, 0);
            receiver.packet(HOST, 1002, START_NS + 1001 * MS, MS);
        }
        sender.packet(HOST, 1001, START_NS + 2000 * MS, 0);
        receiver.packet(HOST, 1001, START_NS + 2001 * MS, MS);
        final ExporterConfig plain = new ConfigLoader().text("test",
            "{threading: invoker, segment: {interval: 100ms, max-delay: 50ms" +
            (isSelected ? ", source: 10.1.0.0/16}, " : "}, ") +
            "lds: {columns: 64}, reconcile: {packets: 1k, cells: 1k}}").conclude();
        final ExporterConfig config = plain.with(plain.reconcile().on());
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, false, true, true, true);
        final List<Long> lost = new ArrayList<>();
        final TakingDestination taken = new TakingDestination() {
            @Override
            protected void onRecord(final DirectBuffer entry, final int offset) {
                if (FlowEntry.packetCount(entry, offset) == 0) {
                    final int delayOffset = offset + FlowEntry.BASE_LENGTH_BYTES;
                    assertEquals(1002, FlowEntry.sourcePort(entry, offset));
                    assertEquals(HOST, FlowEntry.sourceLow(entry, offset));
                    assertEquals(0, FlowDelay.estimator(entry, delayOffset), "no delay");
                    assertEquals(FlowDelay.LOSS_EXACT, FlowDelay.lossKind(entry, delayOffset));
                    lost.add(FlowDelay.lostPackets(entry, delayOffset));
                }
            }
        };
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(sender, receiver), false, wiring, List.of(taken), counters, (throwable) -> {
                throw new AssertionError(throwable);
            })) {
            while (!pipeline.isEnded()) {
                pipeline.doWork();
            }
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            assertEquals(PACKETS / 10, statistics.counters().get("reconcile_flows_unseen"), statistics::toString);
            assertEquals(0, statistics.counters().get("reconcile_lost_unnamed"));
            assertEquals(isSelected ? List.of(10L, 10L, 10L, 10L, 10L) : isSeenLater ? List.of(50L) : List.of(), lost);
            assertEquals(isSelected || isSeenLater ? 0 : PACKETS, statistics.counters().get("lds_not_of_segment"));
            assertEquals(isSeenLater ? 0 : 1, statistics.counters().get("match_flows_unseen"), "matching goes on as ever");
            assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
        }
        assertEquals(taken.recordCount(), counters.get(CounterId.RECORDS_MADE));
    }
}
