package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** A spool on a disk that is recorded, cut off or fails. */
class SpoolDiskTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final long BOUND_BYTES = 1 << 20;
    private static final int PACKETS_OFFSET = 4;
    private static final int BOOT_ID_OFFSET = 48;
    private static final int SLOT_BYTES = 64;

    private final TemplateCatalog catalog = new TemplateCatalog(FlowElements.registry(32473));
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[12]);
    private final List<String> operations = new ArrayList<>();
    private String failing = "";
    /** Forces nothing, which takes time, and fails where it is told to. */
    private final Disk disk = new Disk() {
        @Override
        public void force(final FileChannel channel, final Path path) throws IOException {
            final String operation = "force " + path.getFileName();
            operations.add(operation);
            if (operation.equals(failing)) {
                throw new IOException("Input/output error");
            }
        }

        @Override
        public void forceDirectory(final Path names) {
            operations.add("names " + names.getFileName());
        }
    };

    @TempDir
    private Path directory;

    private Spool open(final Path path) throws IOException {
        return new Spool(path, BOUND_BYTES, (ids, lengths, enterprises) -> pair,
            (records, packets, octets) -> assertEquals(0, records), disk, Runnable::run);
    }

    private void put(final Spool spool, final long number) {
        record.putLong(PACKETS_OFFSET, number, ByteOrder.BIG_ENDIAN);
        spool.append(pair, record, 0, record.capacity(), NOW_MS);
    }

    private static void takeOne(final Spool spool) {
        assertTrue(spool.next());
        final long segment = spool.recordSegment();
        final long end = spool.recordEndOffset();
        final long packets = spool.recordPackets();
        spool.consume();
        spool.release(segment, end, packets, 0);
        spool.doWork(NOW_MS);
    }

    private static List<Long> takeAll(final Spool spool) {
        final List<Long> numbers = new ArrayList<>();
        while (spool.next()) {
            numbers.add(spool.recordPackets());
            takeOne(spool);
        }
        return numbers;
    }

    private static void copy(final Path from, final Path to) throws IOException {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (final Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    @Test
    void shouldForceWhatGatheredAtOnceAndEachNameBeforeItIsTrusted() throws IOException {
        try (Spool spool = open(directory.resolve("s"))) {
            put(spool, 1);
            put(spool, 2);
            assertTrue(spool.force(), "nothing is written, nothing is settled");
            assertEquals(List.of("names " + directory.getFileName()), operations);
            operations.clear();
            spool.flush();
            assertTrue(spool.force());
            assertEquals(List.of("force " + SpoolSegment.name(1), "names s"), operations);
            operations.clear();
            put(spool, 4);
            spool.flush();
            assertTrue(spool.force());
            assertEquals(List.of("force " + SpoolSegment.name(1)), operations, "its name is on the disk");
        }
        assertEquals("force position", operations.get(operations.size() - 1), "the end is on the disk too");
    }

    /** The system forgets what it could not write, and takes the next force for good: such a file stays in doubt. */
    /** After a power cut a file that was sent and deleted would be sent again. */
    @Test
    void shouldForceThatAFileIsGone() throws IOException {
        try (Spool spool = open(directory.resolve("s"))) {
            put(spool, 1);
            spool.flush();
            assertTrue(spool.force());
            assertEquals(List.of(1L), takeAll(spool));
            operations.clear();
            assertTrue(spool.force());
            assertTrue(spool.force());
            assertEquals(List.of("names s"), operations);
        }
    }

    @Test
    void shouldNotTrustAFileThatTheDiskDidNotTakeOnce() throws IOException {
        try (Spool spool = open(directory.resolve("s"))) {
            put(spool, 1);
            spool.flush();
            failing = "force " + SpoolSegment.name(1);
            assertFalse(spool.force());
            failing = "";
            assertFalse(spool.force(), "in doubt until its records are sent");
            spool.doWork(NOW_MS);
            assertEquals(1, spool.statistics().errors());
            assertTrue(spool.lastError().endsWith("s to the disk: Input/output error"), spool::lastError);
            put(spool, 2);
            spool.flush();
            assertTrue(Files.exists(directory.resolve("s").resolve(SpoolSegment.name(2))), "later records go to another file");
            assertFalse(spool.force());
            assertEquals(List.of(1L, 2L), takeAll(spool));
            assertTrue(spool.force());
        }
    }

    /** The first file is forced, the second fails before the names are. */
    @Test
    void shouldForceNamesLaterThatAFailureLeftOut() throws IOException {
        try (Spool spool = open(directory.resolve("s"))) {
            for (int i = 1; i <= 3_000; i++) {
                put(spool, i);
            }
            spool.flush();
            operations.clear();
            failing = "force " + SpoolSegment.name(2);
            assertFalse(spool.force());
            assertEquals(List.of("force " + SpoolSegment.name(1), failing), operations);
            failing = "";
            assertFalse(spool.force());
            assertTrue(operations.contains("names s"), operations::toString);
        }
    }

    @Test
    void shouldNotUseTheNumberOfAFileAgainThatAPowerCutTook() throws IOException {
        final Path path = directory.resolve("s");
        final Path first = path.resolve(SpoolSegment.name(1));
        try (Spool spool = open(path)) {
            for (int i = 1; i <= 10; i++) {
                put(spool, i);
            }
            spool.flush();
            for (int i = 1; i <= 9; i++) {
                takeOne(spool);
            }
            spool.doWork(NOW_MS);
        }
        Files.delete(first); // its name was not forced
        try (Spool spool = open(path)) {
            put(spool, 11);
            spool.flush();
            assertFalse(Files.exists(first));
            copy(path, directory.resolve("killed"));
        }
        try (Spool spool = open(directory.resolve("killed"))) {
            assertEquals(List.of(11L), takeAll(spool));
        }
    }

    @Test
    void shouldTellThatAnyRecordMayComeTwiceAfterAPowerCut() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path)) {
            for (int i = 1; i <= 10; i++) {
                put(spool, i);
            }
            spool.flush();
            spool.doWork(NOW_MS);
            copy(path, directory.resolve("cut"));
        }
        for (final String name : List.of("cut", "s")) {
            final byte[] position = Files.readAllBytes(directory.resolve(name).resolve("position"));
            for (int slot = 0; slot + SLOT_BYTES <= position.length; slot += SLOT_BYTES) {
                position[slot + BOOT_ID_OFFSET] ^= 1;
            }
            Files.write(directory.resolve(name).resolve("position"), position);
            try (Spool spool = open(directory.resolve(name))) {
                assertEquals("cut".equals(name) ? 10 : 0, spool.statistics().recordsPerhapsTwice(), "after an end in order none");
            }
        }
    }

    @Test
    void shouldRefuseADirectoryWhereOthersMayWriteAndFollowNoLink() throws IOException {
        final Path path = directory.resolve("s");
        open(path).close();
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwxrwx---"));
        assertTrue(assertThrows(IOException.class, () -> open(path)).getMessage().endsWith("chmod go-w " + path));
        Files.setPosixFilePermissions(path, PosixFilePermissions.fromString("rwx------"));
        final Path victim = Files.writeString(directory.resolve("victim"), "");
        for (final String name : List.of("lock", "position", SpoolSegment.name(1))) {
            Files.deleteIfExists(path.resolve(name));
            Files.createSymbolicLink(path.resolve(name), victim);
            if (name.endsWith(".spool")) {
                try (Spool spool = open(path)) {
                    assertEquals(1, spool.notices().size(), "it is passed over");
                }
            } else {
                assertThrows(IOException.class, () -> open(path));
            }
            Files.delete(path.resolve(name));
        }
        assertEquals(0, Files.size(victim));
    }
}
