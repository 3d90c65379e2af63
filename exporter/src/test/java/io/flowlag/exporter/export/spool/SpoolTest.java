package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.status.SpoolStatistics;
import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Random;
import java.util.stream.LongStream;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class SpoolTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int PACKETS_OFFSET = 4;

    private final ElementRegistry registry = FlowElements.registry(32473);
    private final TemplateCatalog catalog = new TemplateCatalog(registry);
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");
    private final Template other = catalog.template("sourceIPv6Address", "packetDeltaCount");
    private final UnsafeBuffer record = new UnsafeBuffer(new byte[64]);
    private final List<long[]> losses = new ArrayList<>();
    /** Forces nothing, which takes time. */
    private final Disk disk = new Disk() {
        @Override
        public void force(final FileChannel channel, final Path path) {
            // SpoolDiskTest has the order
        }

        @Override
        public void forceDirectory(final Path names) {
            // SpoolDiskTest has the order
        }
    };

    @TempDir
    private Path directory;

    private Spool open(final Path path, final long boundBytes) throws IOException {
        return new Spool(path, boundBytes, this::template, (records, packets, octets) ->
            losses.add(new long[] {records, packets, octets}), disk, Runnable::run);
    }

    private Template template(final int[] ids, final int[] lengths, final int[] enterprises) {
        final List<FieldSpecifier> fields = new ArrayList<>();
        for (int i = 0; i < ids.length; i++) {
            final InformationElement element = registry.find(enterprises[i], ids[i]);
            if (element == null) {
                return null;
            }
            fields.add(new FieldSpecifier(element, lengths[i]));
        }
        return catalog.template(0, fields);
    }

    private void put(final Spool spool, final long number) {
        put(spool, number, NOW_MS);
    }

    private void put(final Spool spool, final long number, final long timeMs) {
        final boolean isPair = number % 3 != 0;
        record.putLong(isPair ? PACKETS_OFFSET : 16, number, ByteOrder.BIG_ENDIAN);
        spool.append(isPair ? pair : other, record, 0, isPair ? 12 : 24, timeMs);
    }

    private static long take(final Spool spool) {
        final long packets = spool.recordPackets();
        spool.consume();
        return packets;
    }

    private List<Long> takeAll(final Spool spool) {
        final List<Long> numbers = new ArrayList<>();
        while (spool.next()) {
            final long segment = spool.recordSegment();
            final long end = spool.recordEndOffset();
            final long packets = take(spool);
            numbers.add(packets);
            spool.release(segment, end, packets, 0);
            spool.doWork(NOW_MS);
        }
        return numbers;
    }

    private long lost() {
        return losses.stream().mapToLong((each) -> each[0]).sum();
    }

    @Test
    void shouldGiveRecordsBackAsTheyWereInOrder() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 1 << 20)) {
            for (int i = 1; i <= 1_000; i++) {
                put(spool, i);
            }
            for (int i = 1; i <= 1_000; i++) {
                assertTrue(spool.next());
                assertEquals(i % 3 != 0 ? pair : other, spool.template());
                assertEquals(spool.template().recordLengthBytes(), spool.recordLengthBytes());
                assertEquals(i, take(spool));
            }
            assertFalse(spool.next());
            assertEquals(1_000, spool.recordsHeld());
            assertEquals(0, lost());
        }
    }

    @Test
    void shouldReadAgainWhatWasNotReleased() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 1 << 20)) {
            for (int i = 1; i <= 100; i++) {
                put(spool, i);
            }
            for (int i = 1; i <= 60; i++) {
                assertTrue(spool.next());
                final long segment = spool.recordSegment();
                final long end = spool.recordEndOffset();
                final long packets = take(spool);
                if (i <= 25) {
                    spool.release(segment, end, packets, 0);
                }
            }
            spool.rewind();
            final List<Long> rest = takeAll(spool);
            assertEquals(75, rest.size());
            assertEquals(26L, rest.get(0));
            spool.doWork(NOW_MS);
            assertEquals(0, spool.statistics().octetsHeld());
        }
    }

    @Test
    void shouldStayWithinItsBoundAndGiveUpTheOldest() throws IOException {
        final long boundBytes = 1 << 20;
        try (Spool spool = open(directory.resolve("s"), boundBytes)) {
            for (int i = 1; i <= 100_000; i++) {
                put(spool, i);
            }
            spool.flush();
            assertTrue(size(directory.resolve("s")) <= boundBytes + 4096, () -> "octets " + boundBytes);
            final List<Long> kept = takeAll(spool);
            assertEquals(100_000, lost() + kept.size());
            assertEquals(100_000L, kept.get(kept.size() - 1));
            assertEquals(lost() + 1, kept.get(0));
            assertEquals(lost() * (lost() + 1) / 2, losses.stream().mapToLong((each) -> each[1]).sum());
        }
    }

    @Test
    void shouldTakeUpWhatAFormerProcessLeft() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 1 << 20)) {
            for (int i = 1; i <= 500; i++) {
                put(spool, i);
            }
        }
        try (Spool spool = open(path, 1 << 20)) {
            assertEquals(500, spool.statistics().recordsTakenUp());
            assertEquals(1, spool.notices().size());
            put(spool, 501);
            final List<Long> numbers = takeAll(spool);
            assertEquals(501, numbers.size());
            assertEquals(1L, numbers.get(0));
            assertEquals(501L, numbers.get(500));
        }
        try (Spool spool = open(path, 1 << 20)) {
            assertFalse(spool.next());
            assertEquals(0, spool.statistics().recordsTakenUp());
        }
    }

    @Test
    void shouldRefuseTheDirectoryOfAnotherAndWaitForOneOfItsOwn() throws IOException {
        final Path path = directory.resolve("s");
        final Spool first = open(path, 1 << 20);
        put(first, 1);
        final Spool second = open(path, 1 << 20);
        put(second, 2);
        second.doWork(NOW_MS);
        assertFalse(second.next());
        first.close();
        second.doWork(NOW_MS + 1);
        assertFalse(second.next(), "it looks once a second");
        second.doWork(NOW_MS + 1_000);
        assertEquals(List.of(1L, 2L), takeAll(second));
        second.close();
        Files.writeString(directory.resolve("file"), "");
        assertThrows(IOException.class, () -> open(directory.resolve("file"), 1 << 20));
    }

    @Test
    void shouldSetForeignFilesAsideAndPassOverWhatIsDamaged() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 16 << 20)) {
            for (int i = 1; i <= 1_000; i++) {
                put(spool, i);
            }
        }
        final Path segment = path.resolve(SpoolSegment.name(1));
        final byte[] octets = Files.readAllBytes(segment);
        octets[octets.length / 2] ^= 1;
        Files.write(segment, octets);
        Files.writeString(path.resolve("00000000000000ff.spool"), "something else");
        Files.writeString(path.resolve("notes.spool"), "");
        try (Spool spool = open(path, 16 << 20)) {
            final List<Long> numbers = takeAll(spool);
            assertEquals(numbers.size(), spool.statistics().recordsTakenUp());
            assertTrue(numbers.size() > 400 && numbers.size() < 600, () -> "taken up " + numbers.size());
            for (int i = 0; i < numbers.size(); i++) {
                assertEquals(i + 1, numbers.get(i));
            }
            assertTrue(spool.statistics().octetsRefused() > 0);
            assertEquals(4, spool.notices().size(), spool.notices()::toString);
            assertTrue(Files.exists(path.resolve("notes.spool.damaged")));
        }
    }

    @Test
    void shouldCountFilesThatWereSetAsideInItsBoundAndDeleteTheOldestOfThemBeforeRecords() throws IOException {
        final Path path = directory.resolve("s");
        final int bound = 4 << 20;
        open(path, bound).close();
        for (int i = 0; i < 3; i++) {
            final Path foreign = path.resolve("notes-" + (2 - i) + ".spool");
            Files.write(foreign, new byte[bound / 4]);
            Files.setLastModifiedTime(foreign, FileTime.fromMillis(NOW_MS + i));
        }
        try (Spool spool = open(path, bound)) {
            assertEquals(3L * bound / 4, spool.statistics().octetsHeld());
            for (int i = 1; i <= 100_000 && spool.lastError().isEmpty(); i++) {
                put(spool, i);
            }
            assertEquals(List.of("notes-0.spool.damaged", "notes-1.spool.damaged"), namesAside(path));
            assertTrue(spool.lastError().contains("notes-2.spool.damaged was set aside; it is deleted"), spool::lastError);
            assertEquals(0, lost());
        }
        final int smaller = bound / 4 + (256 << 10);
        try (Spool spool = open(path, smaller)) {
            assertEquals(List.of(), namesAside(path), "the smaller bound has room for records alone");
            assertTrue(spool.statistics().octetsHeld() > bound / 8 && spool.statistics().octetsHeld() <= smaller);
            assertEquals(0, lost());
        }
    }

    private static List<String> namesAside(final Path path) throws IOException {
        try (Stream<Path> all = Files.list(path)) {
            return all.map((each) -> each.getFileName().toString()).filter((name) -> name.endsWith(".damaged")).sorted().toList();
        }
    }

    @Test
    void shouldPassOverWhatIsDamagedWhileItRuns() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 16 << 20)) {
            for (int i = 1; i <= 20_000; i++) {
                put(spool, i);
            }
            spool.flush();
            assertTrue(spool.next());
            final Path segment = path.resolve(SpoolSegment.name(1));
            final byte[] octets = Files.readAllBytes(segment);
            octets[octets.length / 2] ^= 1;
            Files.write(segment, octets);
            put(spool, 20_001);
            final List<Long> numbers = takeAll(spool);
            assertEquals(20_001, lost() + numbers.size());
            assertTrue(numbers.size() > 5_000 && lost() > 5_000, () -> numbers.size() + " and " + lost());
            assertTrue(spool.lastError().endsWith("the rest of it is given up"), spool::lastError);
            put(spool, 20_002);
            assertEquals(List.of(20_002L), takeAll(spool));
            assertEquals(0, spool.recordsHeld());
        }
    }

    @Test
    void shouldCountRecordsOfElementsThatNobodyKnowsAnyMore() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 1 << 20)) {
            put(spool, 1);
        }
        try (Spool spool = new Spool(path, 1 << 20, (ids, lengths, enterprises) -> null, (a, b, c) -> { }, disk,
            Runnable::run)) {
            assertTrue(spool.next());
            assertNull(spool.template());
        }
    }

    @Test
    void shouldLoseWhatADiskDoesNotTakeCountedAndGoOnLater() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 1 << 20)) {
            put(spool, 1);
            Thread.currentThread().interrupt(); // closes the file at the next write
            spool.flush();
            assertTrue(Thread.interrupted());
            assertEquals(1, lost());
            assertTrue(spool.lastError().startsWith("cannot write " + path), spool::lastError);
            put(spool, 2);
            assertEquals(2, lost());
            spool.doWork(NOW_MS + 1_000);
            record.putLong(PACKETS_OFFSET, 3, ByteOrder.BIG_ENDIAN);
            spool.append(pair, record, 0, 12, NOW_MS + 1_000);
            spool.doWork(NOW_MS + 2_000);
            assertEquals("", spool.lastError());
            assertEquals(List.of(3L), takeAll(spool));
            final SpoolStatistics statistics = spool.statistics();
            assertEquals(1, statistics.errors());
            assertEquals(3, statistics.recordsIn());
            assertEquals(spool.recordsIn(), spool.recordsSettled());
        }
    }

    @Test
    void shouldReadOnWhenAReadFailedOnce() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 16 << 20)) {
            for (int i = 1; i <= 20_000; i++) {
                put(spool, i);
            }
            spool.flush();
            final List<Long> numbers = new ArrayList<>();
            for (int i = 1; i <= 500; i++) {
                assertTrue(spool.next());
                numbers.add(take(spool)); // not released: it must not be read again
            }
            Thread.currentThread().interrupt(); // closes the file at the next read
            while (spool.next()) {
                numbers.add(take(spool));
            }
            assertTrue(Thread.interrupted());
            assertTrue(numbers.size() < 20_000, () -> "read " + numbers.size());
            assertTrue(spool.lastError().startsWith("cannot read "), spool::lastError);
            assertFalse(spool.next());
            assertEquals(1, spool.statistics().errors());
            spool.doWork(NOW_MS + 1_000);
            while (spool.next()) {
                numbers.add(take(spool));
            }
            assertEquals(LongStream.rangeClosed(1, 20_000).boxed().toList(), numbers);
            assertEquals(0, lost());
            assertEquals(20_000, spool.recordsHeld());
            assertEquals("", spool.lastError());
        }
    }

    @Test
    void shouldNotTouchTheDirectoryOfAnotherWhenItWasNeverOpen() throws IOException {
        final Path path = directory.resolve("s");
        final Spool first = open(path, 1 << 20);
        put(first, 1);
        first.flush();
        final byte[] octets = Files.readAllBytes(path.resolve(SpoolSegment.name(1)));
        final Spool second = open(path, 1 << 20);
        put(second, 2);
        second.close();
        assertEquals(1, lost());
        assertEquals(second.recordsIn(), second.recordsSettled());
        assertEquals(0, second.recordsHeld());
        assertArrayEquals(octets, Files.readAllBytes(path.resolve(SpoolSegment.name(1))));
        final Spool third = open(path, 1 << 20);
        put(third, 3);
        first.close();
        third.close(); // its turn has come
        assertEquals(1, lost());
        try (Spool spool = open(path, 1 << 20)) {
            assertEquals(List.of(1L, 3L), takeAll(spool));
        }
    }

    @Test
    void shouldKeepItsLockWhenAnotherOfItsProcessWants() throws IOException {
        final Path path = directory.resolve("s");
        final Path locks = Path.of("/proc/locks");
        assumeTrue(Files.isReadable(locks), "no " + locks + " to read on this system");
        try (Spool first = open(path, 1 << 20)) {
            final String inode = ":" + Files.getAttribute(path.resolve("lock"), "unix:ino") + " ";
            assumeTrue(Files.readString(locks).contains(inode), locks + " does not show the locks of this process");
            open(path, 1 << 20).close();
            assertTrue(Files.readString(locks).contains(inode));
            assertEquals("", first.lastError());
        }
    }

    @Test
    void shouldLetGoWhatItHasWhenItCannotOpen() throws IOException {
        final Path path = directory.resolve("s");
        Files.createDirectories(path.resolve("position"));
        assertThrows(IOException.class, () -> open(path, 1 << 20));
        Files.delete(path.resolve("position"));
        try (Spool spool = open(path, 1 << 20)) {
            put(spool, 1);
            assertEquals(List.of(1L), takeAll(spool));
        }
    }

    @Test
    void shouldNotGrowWhileADiskTakesNothing() throws IOException {
        final Path path = directory.resolve("s");
        try (Spool spool = open(path, 1 << 20)) {
            put(spool, 1);
            spool.flush();
            assertTrue(spool.next());
            assertEquals(1, take(spool)); // not released: its file stays
            final long octets = spool.statistics().octetsHeld();
            long timeMs = NOW_MS;
            for (int i = 1; i <= 20; i++) {
                timeMs += 2_000;
                put(spool, 3, timeMs);
                Thread.currentThread().interrupt(); // closes the file at the next write
                assertFalse(i % 2 == 0 ? spool.next() : spool.flush()); // next() reads where it would write
                assertTrue(Thread.interrupted());
                assertEquals(i, lost());
                assertEquals(1, segmentCount(path));
                assertEquals(octets, spool.statistics().octetsHeld());
            }
            put(spool, 4, timeMs + 2_000);
            assertTrue(spool.next());
            assertEquals(4, take(spool));
            spool.rewind();
            assertEquals(List.of(1L, 4L), takeAll(spool));
            assertEquals(spool.recordsIn(), spool.recordsSettled());
        }
    }

    @Test
    void shouldTakeRecordsWhileItsPositionCannotBeWritten() throws IOException {
        try (Spool spool = open(directory.resolve("s"), 1 << 20)) {
            put(spool, 1);
            put(spool, 2);
            assertTrue(spool.next());
            final long segment = spool.recordSegment();
            final long end = spool.recordEndOffset();
            spool.release(segment, end, take(spool), 0);
            Thread.currentThread().interrupt(); // closes the file of the position
            spool.doWork(NOW_MS);
            assertTrue(Thread.interrupted());
            assertEquals(1, spool.statistics().errors());
            spool.doWork(NOW_MS);
            assertEquals(1, spool.statistics().errors());
            put(spool, 3);
            assertEquals(0, lost());
            spool.doWork(NOW_MS + 1_000);
            assertEquals(1, spool.statistics().errors());
            assertEquals("", spool.lastError());
            assertEquals(List.of(2L, 3L), takeAll(spool));
        }
    }

    @Test
    void shouldKeepItsDirectoryToItsOwner() throws IOException {
        assumeTrue(directory.getFileSystem().supportedFileAttributeViews().contains("posix"),
            "files have no POSIX permissions on this system");
        open(directory.resolve("s"), 1 << 20).close();
        assertEquals("rwx------",
            PosixFilePermissions.toString(Files.getPosixFilePermissions(directory.resolve("s"))));
    }

    /** A copy of the directory is what a killed process leaves. */
    @Property(tries = 60)
    void shouldLoseNothingThatWasWrittenAndTellWhatMayComeTwiceWhenItIsKilled(@ForAll final long seed) throws IOException {
        final Random random = new Random(seed);
        final Path home = Files.createTempDirectory("spool");
        try {
            int life = 0;
            Spool spool = open(home.resolve("0"), 1 << 20);
            final Deque<long[]> underWay = new ArrayDeque<>();
            final List<Long> written = new ArrayList<>();
            final List<Long> waiting = new ArrayList<>();
            final List<Long> released = new ArrayList<>();
            long number = 0;
            long perhapsTwice = 0;
            for (int step = 0; step < 600; step++) {
                switch (random.nextInt(40)) {
                    case 0 -> {
                        final Path next = home.resolve(Integer.toString(++life));
                        copy(home.resolve(Integer.toString(life - 1)), next);
                        spool.close();
                        spool = open(next, 1 << 20);
                        perhapsTwice += spool.statistics().recordsPerhapsTwice();
                        waiting.clear();
                        underWay.clear();
                    }
                    case 1 -> {
                        spool.flush();
                        written.addAll(waiting);
                        waiting.clear();
                    }
                    case 2 -> {
                        spool.rewind();
                        underWay.clear();
                    }
                    case 3, 4, 5, 6 -> {
                        if (waiting.isEmpty() && spool.next()) {
                            final long segment = spool.recordSegment();
                            final long end = spool.recordEndOffset();
                            underWay.add(new long[] {segment, end, take(spool)});
                        }
                    }
                    case 7, 8, 9, 10 -> {
                        if (!underWay.isEmpty()) {
                            final long[] oldest = underWay.poll();
                            spool.release(oldest[0], oldest[1], oldest[2], 0);
                            released.add(oldest[2]);
                        }
                    }
                    case 11 -> spool.doWork(NOW_MS);
                    default -> {
                        put(spool, ++number);
                        waiting.add(number);
                    }
                }
            }
            spool.flush();
            written.addAll(waiting);
            spool.rewind();
            released.addAll(takeAll(spool));
            spool.close();
            assertEquals(0, lost());
            assertEquals(written, released.stream().distinct().toList());
            final long doubled = released.size() - written.size();
            assertTrue(doubled <= perhapsTwice, doubled + " came twice, told " + perhapsTwice);
        } finally {
            delete(home);
        }
    }

    private static void copy(final Path from, final Path to) throws IOException {
        Files.createDirectory(to);
        try (Stream<Path> files = Files.list(from)) {
            for (final Path file : files.toList()) {
                Files.copy(file, to.resolve(file.getFileName()));
            }
        }
    }

    private static void delete(final Path home) throws IOException {
        try (Stream<Path> files = Files.walk(home)) {
            for (final Path file : files.sorted(java.util.Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }

    private static long segmentCount(final Path path) throws IOException {
        try (Stream<Path> files = Files.list(path)) {
            return files.filter((file) -> file.toString().endsWith(".spool")).count();
        }
    }

    private static long size(final Path path) throws IOException {
        long sum = 0;
        try (Stream<Path> files = Files.list(path)) {
            for (final Path file : files.toList()) {
                sum += Files.size(file);
            }
        }
        return sum;
    }
}
