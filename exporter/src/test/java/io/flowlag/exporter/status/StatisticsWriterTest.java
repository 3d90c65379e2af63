package io.flowlag.exporter.status;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class StatisticsWriterTest {
    private static final DestinationStatistics COLLECTOR =
        new DestinationStatistics("udp://192.0.2.1:4739", 10, 6, 3, 1, 2, 4, 5, 6_000, 0, 3, null);

    private final Counters counters = new Counters();

    @TempDir
    Path directory;

    @Test
    void shouldTellOfADestinationInOneLine() {
        assertEquals("udp://192.0.2.1:4739: records_made=10 records_exported=6 records_failed=3 records_waiting=1 " +
            "records_uncertain=2 options_records=4 messages=5 octets=6000 reconnects=0 errors=3", COLLECTOR.line());
    }

    @Test
    void shouldWriteEveryCounterByItsLabel() throws IOException {
        for (int i = 0; i < CounterId.count(); i++) {
            counters.set(CounterId.of(i), 1000 + i);
        }
        final JsonNode json = json(statistics());
        assertEquals(1, json.get("version").asInt());
        for (int i = 0; i < CounterId.count(); i++) {
            assertEquals(1000 + i, json.get("counters").get(CounterId.of(i).label()).asLong());
        }
        assertEquals(counters.refused(), json.get("counters").get("refused").asLong());
        assertFalse(json.get("identity").get("holds").asBoolean());
    }

    @Test
    void shouldSayThatTheIdentityHoldsAndWhatBreaksIt() throws IOException {
        counters.set(CounterId.CAPTURED, 12);
        counters.set(CounterId.DECODED, 10);
        counters.set(CounterId.FILTERED, 2);
        counters.set(CounterId.METERED, 10);
        counters.set(CounterId.RECORDS_MADE, 10);
        counters.set(CounterId.RECORDS_TAKEN, 10);
        assertTrue(json(statistics()).get("identity").get("holds").asBoolean());
        counters.increment(CounterId.CAPTURED);
        final JsonNode identity = json(statistics()).get("identity");
        assertFalse(identity.get("holds").asBoolean());
        assertEquals(1, identity.get("unexplained_captured").asLong());
        assertEquals(0, identity.get("unexplained_decoded").asLong());
    }

    @Test
    void shouldCountADestinationThatLostARecord() throws IOException {
        final DestinationStatistics leaking = new DestinationStatistics("udp://192.0.2.1:4739", 10, 6, 3, 0, 2, 4, 5, 6_000, 0,
            3, null);
        final JsonNode json = json(new Statistics(counters, List.of(), List.of(leaking), List.of(), null, 1, 2, 3, List.of()));
        assertFalse(json.get("identity").get("holds").asBoolean());
        assertEquals(1, json.get("destinations").get(0).get("unexplained_records").asLong());
    }

    @Test
    void shouldWriteSourcesAndDestinations() throws IOException {
        final JsonNode json = json(statistics());
        assertEquals("a\"b.pcap", json.get("sources").get(0).get("name").asText());
        assertEquals("[{\"name\":\"process\",\"bound_bytes\":5,\"used_bytes\":4},{\"name\":\"JVM\",\"bound_bytes\":1}]",
            json.get("memory").toString());
        assertEquals("cut", json.get("sources").get(0).get("damage").asText());
        assertFalse(json.get("sources").get(1).has("damage"));
        final JsonNode destination = json.get("destinations").get(0);
        assertEquals(10, destination.get("records_made").asLong());
        assertEquals(6, destination.get("records_exported").asLong());
        assertEquals(3, destination.get("records_failed").asLong());
        assertEquals(1, destination.get("records_waiting").asLong());
        assertEquals(2, destination.get("records_uncertain").asLong());
        assertEquals(4, destination.get("options_records").asLong());
        assertEquals(5, destination.get("messages").asLong());
        assertEquals(6_000, destination.get("octets").asLong());
    }

    @Test
    void shouldWriteTheLatencyOfALiveProcessAlone() throws IOException {
        assertFalse(json(statistics()).has("pipeline_latency"));
        final PipelineLatency latency = new PipelineLatency();
        latency.record(0, 1_000, 64);
        final JsonNode json = json(new Statistics(counters, List.of(), List.of(), List.of(), latency.summary(), 1, 2, 3,
            List.of()));
        assertEquals(64, json.get("pipeline_latency").get("packets").asLong());
        assertEquals(1_000, json.get("pipeline_latency").get("p999_ns").asLong(), 10);
    }

    @Test
    void shouldReplaceAFileWholeOrNotAtAll() throws IOException {
        final Path file = Files.writeString(directory.resolve("stats.json"), "old");
        StatisticsWriter.write(octets(), file);
        assertEquals(1, new ObjectMapper().readTree(file.toFile()).get("version").asInt());
        try (var entries = Files.list(directory)) {
            assertEquals(List.of(file), entries.toList());
        }
        assertThrows(IOException.class, () -> StatisticsWriter.write(octets(),
            directory.resolve("missing/stats.json")));
    }

    /** Whatever the umask; and a link of the name that it writes first does not lead it elsewhere. */
    @Test
    void shouldBeReadByItsGroupAtMostAndFollowNoLinkOfItsPart() throws IOException {
        final Path file = directory.resolve("stats.json");
        final Path victim = Files.writeString(directory.resolve("victim"), "stays");
        Files.createSymbolicLink(directory.resolve("stats.json.part"), victim);
        StatisticsWriter.write(octets(), file);
        assertEquals("stays", Files.readString(victim));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
    }

    @Test
    void shouldWriteWhereLinksLeadThoughNothingIsThereYet() throws IOException {
        final Path link = Files.createSymbolicLink(directory.resolve("link"), Path.of("second"));
        Files.createSymbolicLink(directory.resolve("second"), Files.createDirectory(directory.resolve("sub")).resolve("stats"));
        for (int i = 0; i < 2; i++) {
            StatisticsWriter.write(octets(), link);
            assertTrue(Files.isSymbolicLink(link));
            assertTrue(Files.isRegularFile(directory.resolve("sub/stats"), LinkOption.NOFOLLOW_LINKS));
        }
        final Path loop = Files.createSymbolicLink(directory.resolve("loop"), Path.of("loop"));
        assertThrows(IOException.class, () -> StatisticsWriter.write(octets(), loop));
        assertTrue(Files.isSymbolicLink(loop));
    }

    @Test
    void shouldWriteToWhatIsNoRegularFile() throws IOException {
        StatisticsWriter.write(octets(), Path.of("/dev/null"));
        assertFalse(Files.isRegularFile(Path.of("/dev/null")));
    }

    private Statistics statistics() {
        return new Statistics(counters, List.of(new SourceStatistics("a\"b.pcap", 1, 2, 3, "cut"),
            new SourceStatistics("eth0", 1, 2, 3, null)), List.of(COLLECTOR), List.of(), null, 1, 2, 3,
            List.of(new MemoryUse("process", 5, 4L), new MemoryUse("JVM", 1, null)));
    }

    private static JsonNode json(final Statistics statistics) throws IOException {
        return new ObjectMapper().readTree(octets(statistics));
    }

    private byte[] octets() throws IOException {
        return octets(statistics());
    }

    private static byte[] octets(final Statistics statistics) throws IOException {
        final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        StatisticsWriter.write(statistics, bytes);
        return bytes.toByteArray();
    }
}
