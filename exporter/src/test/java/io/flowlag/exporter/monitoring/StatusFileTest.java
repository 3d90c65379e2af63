package io.flowlag.exporter.monitoring;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.http.MetricText;
import io.flowlag.exporter.listing.FlowQuery;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class StatusFileTest {
    private static final int CONTENTS = 1 << 18;
    private static final int FLOWS = 40;
    /** Writers of the test do not look as if they hung, however long it takes. */
    private static final long TEST_MS = 3_600_000;
    private static final StatusJson JSON = new StatusJson();

    @TempDir
    private Path directory;

    private static StatusFileWriter writer(final Path file) throws IOException {
        return new StatusFileWriter(file, ProcessHandle.current().pid(), System.currentTimeMillis(), 1000, CONTENTS);
    }

    private static void write(final StatusFileWriter writer, final long number) {
        assertTrue(writer.write(SnapshotCodec.encode(Snapshots.of(number), Snapshots.flows(number, FLOWS))));
        writer.activity(System.currentTimeMillis() + TEST_MS);
    }

    private static String text(final StatusSnapshot snapshot) {
        return JSON.status(snapshot.withFlows(snapshot.flows().flows())) + snapshot.flows() + snapshot.segments();
    }

    @Test
    void shouldGiveBackEverythingThatWasWritten() throws Exception {
        final Path file = directory.resolve("a.status");
        try (StatusFileWriter writer = writer(file); StatusFileReader reader = new StatusFileReader(file)) {
            assertNull(reader.read());
            for (long number = 1; number <= 5; number++) {
                write(writer, number);
                assertEquals(text(Snapshots.of(number)), text(reader.read()));
            }
            assertNull(reader.silence(System.currentTimeMillis()));
            assertEquals("rw-r-----", PosixFilePermissions.toString(
                Files.getPosixFilePermissions(file)));
        }
        assertFalse(Files.exists(file));
    }

    @Test
    void shouldShowOneWholeSnapshotWhateverTheWriterDoesMeanwhile() throws Exception {
        final Path file = directory.resolve("a.status");
        try (StatusFileWriter writer = writer(file); StatusFileReader reader = new StatusFileReader(file)) {
            write(writer, 1);
            final CompletableFuture<Void> writing = CompletableFuture.runAsync(() -> {
                for (long number = 2; number <= 400; number++) {
                    write(writer, number);
                }
            });
            try {
                int reads = 0;
                while (!writing.isDone() || reads == 0) {
                    final StatusSnapshot snapshot = reader.read();
                    final long number = snapshot.statistics().sources().get(0).captured();
                    assertEquals(text(Snapshots.of(number)), text(snapshot));
                    reads++;
                }
            } finally {
                writing.join(); // before the file is unmapped
            }
            assertEquals(text(Snapshots.of(400)), text(reader.read()));
        }
    }

    @Test
    void shouldShowTheLastWholeSnapshotOfAWriterThatDiedInTheNextOne() throws Exception {
        final Path file = directory.resolve("a.status");
        try (StatusFileWriter writer = writer(file)) {
            write(writer, 1);
            try (RandomAccessFile raw = new RandomAccessFile(file.toFile(), "rw")) {
                raw.seek(StatusFile.bufferOffset(2, (int)((raw.length() - StatusFile.HEADER_LENGTH) / 2)));
                raw.write(new byte[]{2, 0, 0, 0, 0, 0, 0, 0, 99, 99, 99, 1, 2, 3, 4});
            }
            try (StatusFileReader reader = new StatusFileReader(file)) {
                assertEquals(text(Snapshots.of(1)), text(reader.read()));
            }
        }
    }

    @Test
    void shouldRefuseASnapshotWithoutRoomAndKeepTheOneBefore() throws Exception {
        final Path file = directory.resolve("a.status");
        try (StatusFileWriter writer = writer(file); StatusFileReader reader = new StatusFileReader(file)) {
            write(writer, 1);
            assertFalse(writer.write(SnapshotCodec.encode(Snapshots.of(2), Snapshots.flows(2, 1000))));
            assertEquals(text(Snapshots.of(1)), text(reader.read()));
        }
    }

    @Test
    void shouldSayInOneLineWhatIsWrongWithAFile() throws Exception {
        final Path file = directory.resolve("a.status");
        assertTrue(refusal(file).contains("no such file"));
        Files.writeString(file, "x".repeat(5000));
        assertEquals(file + ": is no status file of flowlag", refusal(file));
        Files.writeString(file, "");
        assertEquals(file + ": is no status file of flowlag", refusal(file));
        assertThrows(IOException.class, () -> writer(file).close(), "a foreign file is not overwritten");
        assertEquals("", Files.readString(file));
        Files.delete(file);
        try (StatusFileWriter writer = writer(file)) {
            write(writer, 1);
            final byte[] whole = Files.readAllBytes(file);
            whole[StatusFile.VERSION_OFFSET] = 99;
            Files.write(directory.resolve("b"), whole);
            assertTrue(refusal(directory.resolve("b")).contains("has version 99, this flowlag reads " + StatusFile.VERSION));
        }
    }

    @Test
    void shouldTellAnEndedAHangingAndAKilledWriter() throws Exception {
        final Path file = directory.resolve("a.status");
        final long nowMs = System.currentTimeMillis();
        final StatusFileWriter writer = writer(file);
        try (StatusFileReader reader = new StatusFileReader(file)) {
            writer.activity(nowMs);
            assertNull(reader.silence(nowMs + 9_000));
            assertTrue(reader.silence(nowMs + 20_000).endsWith("hangs, no sign of life for 20 s"));
            writer.close();
            assertTrue(reader.silence(nowMs).endsWith("has ended"));
        }
    }

    @Test
    void shouldReplaceAFileOfAProcessThatIsGoneAndNoOther() throws Exception {
        final Path file = directory.resolve("a.status");
        final Process child = new ProcessBuilder("sleep", "600").start();
        try {
            final StatusFileWriter other = new StatusFileWriter(file, child.pid(), 1, 1000, CONTENTS);
            assertThrows(IOException.class, () -> writer(file).close());
            child.destroyForcibly().waitFor();
            try (StatusFileWriter writer = writer(file)) {
                write(writer, 3);
                other.close();
                assertTrue(Files.exists(file), "what another process has put there stays");
            }
        } finally {
            child.destroyForcibly();
        }
    }

    @Test
    void shouldFindTheOnlyProcessThatRuns() throws Exception {
        final StatusFiles files = new StatusFiles(List.of(directory.resolve("x"), directory.resolve("none/y")));
        assertTrue(assertThrows(ExitException.class, () -> files.find(0)).getMessage().contains("no running flowlag"));
        final Path first = files.forProcess(1);
        assertEquals(directory.resolve("x").resolve("flowlag-1.status"), first);
        try (StatusFileWriter writer = writer(first)) {
            writer.activity(System.currentTimeMillis() + TEST_MS);
            assertEquals(first, files.find(0));
            assertEquals(first, files.find(ProcessHandle.current().pid()));
            try (StatusFileWriter second = writer(files.forProcess(2))) {
                second.activity(System.currentTimeMillis() + TEST_MS);
                write(writer, 3);
                final String several = assertThrows(ExitException.class, () -> files.find(0)).getMessage();
                final long pid = ProcessHandle.current().pid();
                assertTrue(several.startsWith("several run: choose one with --pid: "), several);
                assertTrue(several.contains(pid + " (starts)"), several);
                assertTrue(several.contains(pid + " (both on eth0, "), several);
                assertTrue(several.contains(" since 2023-11-14T22:13:20Z)"), several);
            }
        }
    }

    /** Whatever is done to the octets: a snapshot or one line, nothing else. */
    @Property(tries = 300)
    void shouldRefuseDamagedOctets(
        @ForAll @Size(min = 1, max = 6) final List<@IntRange(min = 0, max = 40_000) Integer> places, @ForAll final byte value,
        @ForAll @IntRange(min = 0, max = 60_000) final int cutTo) throws Exception {
        final byte[] octets = SnapshotCodec.encode(Snapshots.of(3), Snapshots.flows(3, FLOWS)).byteArray();
        places.forEach((place) -> octets[place % octets.length] = value);
        final int length = Math.min(octets.length, cutTo);
        try {
            assertNotNull(SnapshotCodec.decode(new UnsafeBuffer(octets, 0, length)));
        } catch (final ExitException ex) {
            assertEquals(ExitCode.DAMAGED_INPUT, ex.exitCode());
        }
    }

    /** A value that may be absent is shown as such; another one is missed when the file is read, not when it is shown. */
    @Test
    void shouldMissAValueWhenItReads() throws Exception {
        final DirectBuffer contents = SnapshotCodec.encode(Snapshots.of(3), Snapshots.flows(3, 1));
        final ObjectMapper mapper = new ObjectMapper();
        final JsonNode whole = mapper.readTree(contents.byteArray(), 4, contents.getInt(0));
        final List<String> places = new ArrayList<>();
        places(whole, "", places);
        int refused = 0;
        for (final String place : places) {
            final JsonNode part = whole.deepCopy();
            final String parent = place.substring(0, place.lastIndexOf('/'));
            final String name = place.substring(place.lastIndexOf('/') + 1).replace("~1", "/");
            if (part.at(parent) instanceof ObjectNode object) {
                object.putNull(name);
            } else {
                ((ArrayNode)part.at(parent)).setNull(Integer.parseInt(name));
            }
            final byte[] json = mapper.writeValueAsBytes(part);
            final UnsafeBuffer octets = new UnsafeBuffer(new byte[4 + json.length]);
            octets.putInt(0, json.length);
            octets.putBytes(4, json);
            try {
                final StatusSnapshot snapshot = SnapshotCodec.decode(octets);
                assertNotNull(text(snapshot) + new TopView(new TopControl(FlowQuery.ALL)).lines(snapshot, null, 80, 24) +
                    MetricText.write(Metrics.of(snapshot), false));
            } catch (final ExitException ex) {
                refused++;
            }
        }
        assertTrue(refused > places.size() / 2, refused + " of " + places);
    }

    private static void places(final JsonNode node, final String at, final List<String> places) {
        if (!at.isEmpty()) {
            places.add(at);
        }
        node.properties().forEach((each) -> places(each.getValue(), at + "/" + each.getKey().replace("/", "~1"), places));
        for (int i = 0; node.isArray() && i < node.size(); i++) {
            places(node.get(i), at + "/" + i, places);
        }
    }

    private static String refusal(final Path file) {
        return assertThrows(ExitException.class, () -> new StatusFileReader(file).close()).getMessage();
    }
}
