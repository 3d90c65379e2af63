package io.flowlag.exporter.export;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.pipeline.FlowRecordRing;
import io.flowlag.exporter.pipeline.StageRing;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class IpfixDestinationTest {
    private static final long NOW_MS = 1_700_000_100_000L;
    private static final long NS_PER_MS = 1_000_000L;
    private static final long START_NS = 1_700_000_000_123L * NS_PER_MS + 456_789;
    private static final long END_NS = START_NS + 5 * NS_PER_MS;
    private static final int FLOWS = 10;
    private static final int RING_BYTES = 64 << 10;

    @TempDir
    private Path directory;

    private final Counters counters = new Counters();
    private final UnsafeBuffer entry = new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES]);

    private Destination destination(final Path file) throws IOException {
        return destination("file:" + file, true);
    }

    private Destination destination(final String uri, final boolean mayWait) throws IOException {
        final ExporterConfig config = new ConfigLoader()
            .text("test", "exporting: {options-interval: 60s, destinations: ['" + uri + "']}").conclude();
        return new DestinationFactory(mayWait, new boolean[1], Map.of(), counters)
            .make(config, config.exporting().destinations().get(0));
    }

    private Destination.Outcome offer(final Destination destination, final long endNs) {
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.packetCount(entry, 0, 2);
        FlowEntry.startNs(entry, 0, START_NS);
        FlowEntry.endNs(entry, 0, endNs);
        return destination.offer(entry, 0, FlowEntry.BASE_LENGTH_BYTES, NOW_MS);
    }

    private List<Map<String, List<String>>> optionsOfClosedFile(final long endNs) throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        final Destination destination = destination(file);
        destination.doWork(NOW_MS);
        for (int i = 0; i < FLOWS; i++) {
            assertEquals(Destination.Outcome.DONE, offer(destination, endNs));
        }
        assertTrue(destination.close(NOW_MS, NOW_MS + 1_000));
        return IpfixRecords.options(file);
    }

    private static Map<String, List<String>> recordWith(final List<Map<String, List<String>>> records, final String name) {
        return records.stream().filter((record) -> record.containsKey(name)).reduce((first, last) -> last).orElseThrow();
    }

    @Test
    void shouldCountEveryRecordOfAFileInItsLastStatistics() throws IOException {
        final Map<String, List<String>> statistics = recordWith(optionsOfClosedFile(END_NS), "exportedFlowRecordTotalCount");

        assertEquals(List.of(Integer.toString(FLOWS)), statistics.get("exportedFlowRecordTotalCount"));
    }

    @Test
    void shouldHaveEveryFlowOfAFileInsideItsTimeWindow() throws IOException {
        final Map<String, List<String>> window = recordWith(optionsOfClosedFile(END_NS), "maxFlowEndMilliseconds");

        assertEquals(List.of(Long.toString(1_700_000_000_123L * NS_PER_MS)), window.get("minFlowStartMilliseconds"));
        assertEquals(List.of(Long.toString(1_700_000_000_129L * NS_PER_MS)), window.get("maxFlowEndMilliseconds"));
    }

    @Test
    void shouldEndTheTimeWindowWithAFlowThatEndsAtAMillisecond() throws IOException {
        final long endMs = 1_700_000_000_128L;
        final Map<String, List<String>> window = recordWith(optionsOfClosedFile(endMs * NS_PER_MS), "maxFlowEndMilliseconds");

        assertEquals(List.of(Long.toString(endMs * NS_PER_MS)), window.get("maxFlowEndMilliseconds"));
    }

    @Test
    void shouldNameNoTimeWindowWhereTheSpoolHasFlowsOfAFormerProcess() throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        final Path spools = directory.resolve("spools");
        final String uri = "file:" + file + "?spool=" + spools;
        destination(uri, false).close(NOW_MS, NOW_MS);
        final Path ofFile = onlyEntry(spools);
        final Path elsewhere = directory.resolve("elsewhere");
        final Destination away = destination("tcp://127.0.0.1:1?spool=" + elsewhere, false);
        offer(away, END_NS);
        away.close(NOW_MS, NOW_MS);
        try (Stream<Path> spooled = Files.list(onlyEntry(elsewhere))) {
            for (final Path each : spooled.toList()) {
                Files.move(each, ofFile.resolve(each.getFileName()), StandardCopyOption.REPLACE_EXISTING);
            }
        }

        final Destination destination = destination(uri, false);
        destination.doWork(NOW_MS);
        offer(destination, END_NS + NS_PER_MS);
        for (int i = 0; i < 10; i++) {
            destination.doWork(NOW_MS + i * 100);
        }
        while (!destination.close(NOW_MS + 2_000, NOW_MS + 10_000)) {
            Thread.onSpinWait(); // the spool's thread reads
        }

        assertEquals(2, IpfixRecords.flows(file).size());
        assertTrue(IpfixRecords.options(file).stream().noneMatch((record) -> record.containsKey("maxFlowEndMilliseconds")));
    }

    private static Path onlyEntry(final Path parent) throws IOException {
        try (Stream<Path> entries = Files.list(parent)) {
            return entries.findFirst().orElseThrow();
        }
    }

    @Test
    void shouldNotLetTheTimeWindowBeginBefore1970() throws IOException {
        FlowEntry.ipVersion(entry, 0, 4);
        final Path file = directory.resolve("old.ipfix");
        final Destination destination = destination(file);
        destination.doWork(NOW_MS);
        FlowEntry.startNs(entry, 0, -2 * NS_PER_MS);
        FlowEntry.endNs(entry, 0, -NS_PER_MS);
        destination.offer(entry, 0, FlowEntry.BASE_LENGTH_BYTES, NOW_MS);
        assertTrue(destination.close(NOW_MS, NOW_MS + 1_000));

        final Map<String, List<String>> window = recordWith(IpfixRecords.options(file), "maxFlowEndMilliseconds");
        assertEquals(List.of("0"), window.get("minFlowStartMilliseconds"));
        assertEquals(List.of("0"), window.get("maxFlowEndMilliseconds"));
    }

    @Test
    void shouldTellStatisticsAtTheirIntervalAfterAClockWasSetBack() throws IOException {
        final Path file = directory.resolve("back.ipfix");
        final Destination destination = destination(file);
        destination.doWork(NOW_MS);
        destination.doWork(NOW_MS + 1);
        for (int minute = 0; minute <= 3; minute++) {
            destination.doWork(NOW_MS - 86_400_000L + minute * 60_000L);
        }
        assertTrue(destination.close(NOW_MS, NOW_MS + 1_000));

        final long statistics =
            IpfixRecords.options(file).stream().filter((record) -> record.containsKey("exportedFlowRecordTotalCount")).count();
        assertTrue(statistics >= 4, statistics + " times, the last one at the end");
    }

    @Test
    void shouldCountThePacketsOfRecordsThatTheRingDroppedAmongThoseNotSent() throws IOException {
        final StageRing ring = new StageRing(RING_BYTES, false);
        final FlowRecordRing records = new FlowRecordRing(ring, counters);
        FlowEntry.packetCount(entry, 0, 7);
        FlowEntry.octetCount(entry, 0, 900);
        while (counters.get(CounterId.DROPPED_AT_RECORD_RING) < 3) {
            records.onFlowRecord(entry, 0, FlowEntry.BASE_LENGTH_BYTES);
        }

        final Map<String, List<String>> reliability = recordWith(optionsOfClosedFile(END_NS), "notSentFlowTotalCount");

        assertEquals(List.of("3"), reliability.get("notSentFlowTotalCount"));
        assertEquals(List.of("21"), reliability.get("notSentPacketTotalCount"));
        assertEquals(List.of("2700"), reliability.get("notSentOctetTotalCount"));
    }
}
