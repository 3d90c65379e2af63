package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.runtime.delay.DelayTable;
import io.flowlag.exporter.status.AggregateDelay;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import org.junit.jupiter.api.Test;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Both points of captures, as {@code delay --reconcile} reads them, where a router changes the marks of some packets. */
class RemarkedCapturesTest {
    private static final long START_NS = 1_700_000_000_000_000_000L;
    private static final long MS = 1_000_000L;
    private static final int HOST = 0x0A01_0001;
    private static final int PACKETS = 300;
    private static final int EXPEDITED = 46;
    private static final int CLASS_OF_SERVICE_OFFSET = 15;

    private final ScriptedPoint sender = new ScriptedPoint();
    private final ScriptedPoint receiver = new ScriptedPoint();

    private static byte[] frame(final int port, final int number, final int dscp) {
        final byte[] octets =
            ScriptedPoint.frame(HOST, port, 53, ByteBuffer.allocate(Long.BYTES).putInt(port).putInt(number).array());
        octets[CLASS_OF_SERVICE_OFFSET] = (byte)(dscp << 2);
        return octets;
    }

    /** One marked flow, of which a third loses its mark and one in 25 is lost, beside one of no mark that loses nothing. */
    @Test
    void shouldTellTheLossOfTheClassThatPacketsWereSentIn() {
        long lost = 0;
        for (int i = 0; i < PACKETS; i++) {
            final long sentNs = START_NS + i * 2 * MS;
            sender.add(sentNs, frame(1001, i, EXPEDITED)).add(sentNs + 1, frame(1002, i, 0));
            if (i % 25 == 7) {
                lost++;
            } else {
                receiver.add(sentNs + 3 * MS, frame(1001, i, i % 3 == 0 ? 0 : EXPEDITED));
            }
            receiver.add(sentNs + 3 * MS + 1, frame(1002, i, 0));
        }
        // It is unknown whether the last packets were lost or in flight.
        sender.add(START_NS + 2000 * MS, frame(1002, PACKETS, 0));
        receiver.add(START_NS + 2001 * MS, frame(1002, PACKETS, 0));
        final ExporterConfig plain = new ConfigLoader().text("test",
            "{threading: invoker, segment: {interval: 100ms, max-delay: 50ms}, " +
            "rli: {classes: [0, 46]}, lds: {columns: 64}, reconcile: {packets: 1k, cells: 1k}}").conclude();
        final ExporterConfig config = plain.with(plain.reconcile().on());
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH, DelayWiring.References.MARKED, ClockError.NONE, false, true, true, true);
        try (MeteringPipeline pipeline = new MeteringPipeline(
            config, List.of(sender, receiver), false, wiring, List.of(), new Counters(), Pipelines::fail)) {
            Pipelines.runToEnd(pipeline);
            final DelayStatistics statistics = pipeline.delayStage().statistics();
            final List<AggregateDelay> total = statistics.sketches().get(0).reconcile().total();
            assertEquals(lost, statistics.counters().get("reconcile_lost"), statistics::toString);
            assertEquals(0, statistics.counters().get("reconcile_unexpected"));
            assertEquals(statistics.counters().get("reconcile_intervals"), statistics.counters().get("reconcile_complete"));
            assertEquals(List.of(0, EXPEDITED), total.stream().map(AggregateDelay::dscp).toList());
            assertEquals(PACKETS, total.get(0).samples(), 1, "all that were sent without a mark");
            assertEquals(PACKETS - lost, total.get(1).samples(), "all that were sent with one and arrived");
            assertEquals(3 * MS, total.get(1).meanNs());
            assertTrue(statistics.counters().get("reconcile_remarked") >= PACKETS / 3 - lost, statistics::toString);
            assertTrue(statistics.isAccountedFor(), statistics.unexplained()::toString);
            final ByteArrayOutputStream table = new ByteArrayOutputStream();
            DelayTable.print(statistics, new PrintStream(table, true, StandardCharsets.UTF_8));
            assertTrue(table.toString(StandardCharsets.UTF_8).contains(
                "marks (DSCP) change between the points: " + statistics.counters().get("reconcile_remarked") + " packets"),
                table::toString);
        }
    }
}
