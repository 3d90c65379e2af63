package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.FilterSupplier;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;

import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_NANOSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.gzip;
import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MergedFileSourceTest {
    private static final long SECOND_NS = 1_000_000_000L;

    @TempDir
    private Path folder;

    /** Its packets carry the number of the capture. */
    private static byte[] capture(final int number, final long... timesNs) {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_NANOSECONDS, 1);
        for (final long timeNs : timesNs) {
            capture.record(timeNs / SECOND_NS, timeNs % SECOND_NS, packet(1, number), 1);
        }
        return capture.bytes();
    }

    private static String line(final int number, final long timeNs) {
        return timeNs + " link1 if0 1/1 " + number;
    }

    private Path write(final String name, final byte[] octets) throws IOException {
        return Files.write(folder.resolve(name), octets);
    }

    @Test
    void shouldHandOverTheEarliestOfAllNextPackets() throws IOException {
        final Captures.Outcome outcome = Captures.ofFiles(
            write("b", capture(2, 5, 6, 20)), write("a", capture(1, 1, 5, 7)), write("c", gzip(capture(3, 0, 30))));
        assertNull(outcome.damage());
        assertEquals(
            List.of(line(3, 0), line(1, 1), line(2, 5), line(1, 5), line(2, 6), line(1, 7), line(2, 20), line(3, 30)),
            outcome.packets());
    }

    @Test
    void shouldNotLetAWrongTimestampKeepBackWhatFollows() throws IOException {
        final long wrong = 3600 * SECOND_NS;
        final List<String> expected = List.of(
            line(1, wrong), line(1, 10 * SECOND_NS), line(2, 11 * SECOND_NS), line(1, wrong + 1), line(1, 12 * SECOND_NS),
            line(1, 0), line(2, 13 * SECOND_NS), line(1, 14 * SECOND_NS), line(2, 15 * SECOND_NS), line(1, wrong + 2));
        final byte[] first = capture(
            1, wrong, 10 * SECOND_NS, wrong + 1, 12 * SECOND_NS, 0, 14 * SECOND_NS, wrong + 2);
        final byte[] other = capture(2, 11 * SECOND_NS, 13 * SECOND_NS, 15 * SECOND_NS);
        assertEquals(expected, Captures.ofFiles(write("a", first), write("b", other)).packets());
        assertEquals(expected, Captures.ofFiles(write("c.gz", gzip(first)), write("b", other)).packets());
    }

    @Test
    void shouldTakeStandardInputAmongFiles() throws IOException {
        final byte[] octets = capture(2, 2, 4);
        try (CaptureFileSource source = CaptureFiles.open(
            List.of(write("a", capture(1, 1, 3)).toString(), "-"), FilterSupplier.ALL, new ByteArrayInputStream(octets))) {
            assertEquals(List.of(line(1, 1), line(2, 2), line(1, 3), line(2, 4)), Captures.drain(source).packets());
            assertEquals(-1, source.totalBytes());
        }
        final List<String> twice = List.of("-", "-");
        assertThrows(CaptureException.class, () -> CaptureFiles.open(twice, FilterSupplier.ALL, Captures.NO_INPUT));
    }

    @Test
    void shouldGoOnBehindDamageAndTellOfEach() throws IOException {
        final byte[] whole = capture(2, 2, 4);
        final Path cut = write("cut", Arrays.copyOf(whole, whole.length - 1));
        final Path headless = write("headless", Arrays.copyOf(whole, 23));
        final Captures.Outcome outcome = Captures.ofFiles(headless, cut, write("a", capture(1, 1, 9)));
        assertEquals(List.of(line(1, 1), line(2, 2), line(1, 9)), outcome.packets());
        assertEquals(headless + ": damaged at octet 0: the file header is cut: 23 of 24 octets are there; "
            + cut + ": damaged at octet 41: a record is cut: 16 of 17 octets are there", outcome.damage());
    }

    @Test
    void shouldRefuseAllIfOneIsNotThere() throws IOException {
        final List<String> paths = List.of(write("a", capture(1, 1)).toString(), folder.resolve("missing").toString());
        final CaptureException refusal = assertThrows(
            CaptureException.class, () -> CaptureFiles.open(paths, FilterSupplier.ALL, Captures.NO_INPUT));
        assertEquals(Kind.NO_INPUT, refusal.kind());
    }

    @Test
    void shouldGoOnIfALaterOneVanishes() throws IOException {
        final Path first = write("a", capture(1, 1, 2));
        final Path second = write("b", capture(2, 5, 6));
        try (CaptureFileSource source = CaptureFiles.open(Captures.paths(first, second), FilterSupplier.ALL)) {
            Files.delete(second);
            final Captures.Outcome outcome = Captures.drain(source);
            assertEquals(List.of(line(1, 1), line(1, 2)), outcome.packets());
            assertEquals(second + ": there is no such file", outcome.damage());
        }
    }

    @Test
    void shouldHoldOpenOnlyThoseThatOverlap() throws IOException {
        final List<String> paths = new ArrayList<>();
        for (int i = 0; i < 50; i++) {
            paths.add(write("f" + i, capture(i, 10L * i, 10L * i + 9)).toString());
        }
        try (CaptureFileSource source = CaptureFiles.open(paths, FilterSupplier.ALL)) {
            assertEquals(0, openCount());
            final int[] maxOpen = {0};
            int polled = 0;
            while (polled >= 0) {
                polled = source.poll(packet ->
                    maxOpen[0] = Math.max(maxOpen[0], openCount()), 7);
            }
            assertEquals(100, source.capturedCount());
            assertEquals(1, maxOpen[0]);
            assertEquals(0, openCount());
            assertEquals(source.totalBytes(), source.consumedBytes());
            assertTrue(source.name().startsWith("50 captures, "), source.name());
        }
    }

    private int openCount() {
        final String[] descriptors = new java.io.File("/proc/self/fd").list();
        int count = 0;
        for (final String descriptor : descriptors == null ? new String[0] : descriptors) {
            try {
                count += Files.readSymbolicLink(Path.of("/proc/self/fd", descriptor)).startsWith(folder.toRealPath()) ? 1 : 0;
            } catch (final IOException ex) {
                count += 0; // Closed since it was listed: the listing itself.
            }
        }
        return count;
    }

    @Property(tries = 200)
    void shouldBeAStableSortOfCapturesInOrder(
        @ForAll @Size(min = 2, max = 6) final List<@Size(max = 8) List<@IntRange(max = 20) Integer>> captures)
        throws IOException {
        final Path ownFolder = Files.createTempDirectory("merge");
        final List<Path> files = new ArrayList<>();
        final List<String> expected = new ArrayList<>();
        final List<long[]> all = new ArrayList<>();
        for (int i = 0; i < captures.size(); i++) {
            final long[] timesNs = captures.get(i).stream().mapToLong(Integer::longValue).sorted().toArray();
            files.add(Files.write(ownFolder.resolve("f" + i), capture(i, timesNs)));
            for (final long timeNs : timesNs) {
                all.add(new long[] {timeNs, i});
            }
        }
        all.sort(Comparator.comparingLong(packet -> packet[0]));
        all.forEach(packet -> expected.add(line((int) packet[1], packet[0])));
        assertEquals(expected, Captures.ofFiles(files.toArray(new Path[0])).packets());
        for (final Path file : files) {
            Files.delete(file);
        }
        Files.delete(ownFolder);
    }

    @Test
    void shouldKeepTheOrderOfACaptureThatRunsBackwards() throws IOException {
        final Captures.Outcome outcome = Captures.ofFiles(
            write("a", capture(1, 5, 1, 9)), write("b", capture(2, 4, 6)));
        assertEquals(List.of(line(2, 4), line(1, 5), line(1, 1), line(2, 6), line(1, 9)), outcome.packets());
    }
}
