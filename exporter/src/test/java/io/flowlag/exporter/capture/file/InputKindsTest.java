package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PipedInputStream;
import java.io.PipedOutputStream;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.concurrent.CompletableFuture;

import static io.flowlag.exporter.capture.file.CaptureBytes.PCAP_MICROSECONDS;
import static io.flowlag.exporter.capture.file.CaptureBytes.gzip;
import static io.flowlag.exporter.capture.file.CaptureBytes.joined;
import static io.flowlag.exporter.capture.file.CaptureBytes.packet;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeFalse;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class InputKindsTest {
    private static final int PACKETS = 300;

    @TempDir
    private Path folder;

    private static byte[] pcap() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1);
        for (int i = 0; i < PACKETS; i++) {
            capture.record(i, 0, packet(i * 37 % 1500, i), 1500);
        }
        return capture.bytes();
    }

    private static byte[] pcapNg() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.BIG_ENDIAN).section().interfaceOf(1, 0);
        for (int i = 0; i < PACKETS; i++) {
            capture.enhancedPacket(0, i, packet(i * 37 % 1500, i), 1500);
            capture.block(0x0bad, packet(i * 101 % 9000, i));
        }
        return capture.bytes();
    }

    private Path write(final String name, final byte[] octets) throws IOException {
        return Files.write(folder.resolve(name), octets);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadTheSameThroughEveryWindow(final boolean isPcapNg) throws IOException {
        final byte[] octets = isPcapNg ? pcapNg() : pcap();
        final Path file = write("capture", octets);
        final Captures.Outcome expected = Captures.ofFiles(file);
        assertNull(expected.damage());
        assertEquals(PACKETS, expected.packets().size());
        for (final int windowLengthBytes : new int[] {1, 100, 4096, 65_537}) {
            assertEquals(expected, Captures.ofFile(file, windowLengthBytes));
        }
        assertEquals(expected, Captures.ofStream(octets));
        assertEquals(expected, Captures.ofStream(gzip(octets)));
        assertEquals(expected, Captures.ofFiles(write("named.txt", gzip(octets))));
        assertEquals(expected, Captures.drain(CaptureFiles.open(
            List.of("-"), FilterSupplier.ALL, new OctetWise(octets), MappedWindow.WINDOW_LENGTH_BYTES, 16)));
        assertEquals(expected, Captures.drain(CaptureFiles.open(
            List.of("-"), FilterSupplier.ALL, new OctetWise(gzip(octets)), MappedWindow.WINDOW_LENGTH_BYTES, 16)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldReadANamedPipeToItsEnd(final boolean isGzip) throws Exception {
        final Path pipe = folder.resolve("pipe");
        assumeTrue(new ProcessBuilder("mkfifo", pipe.toString()).start().waitFor() == 0);
        final byte[] octets = isGzip ? gzip(pcap()) : pcap();
        CompletableFuture.runAsync(
            () -> assertDoesNotThrow(() -> Files.write(pipe, octets, StandardOpenOption.WRITE)));
        assertEquals(Captures.ofStream(octets), Captures.ofFiles(pipe));
    }

    @Test
    void shouldReadAllMembersOfGzipAndItsPadding() {
        final byte[] octets = pcap();
        final byte[] head = gzip(Arrays.copyOf(octets, 777));
        final byte[] tail = gzip(Arrays.copyOfRange(octets, 777, octets.length));
        final Captures.Outcome expected = Captures.ofStream(octets);
        assertEquals(expected, Captures.ofStream(joined(head, gzip(new byte[0]), tail)));
        assertEquals(expected, Captures.ofStream(joined(head, tail, new byte[512])));
    }

    @Test
    void shouldDeliverEverythingBeforeTheDamageOfGzip() {
        final byte[] octets = pcap();
        final byte[] packed = gzip(octets);
        final Captures.Outcome expected = Captures.ofStream(octets);

        final Captures.Outcome cut = Captures.ofStream(Arrays.copyOf(packed, packed.length - 3));
        assertEquals(expected.packets(), cut.packets());
        assertTrue(cut.damage().contains("gzip data is cut (at octet " + (packed.length - 3)), cut.damage());

        final byte[] wrongSum = packed.clone();
        wrongSum[packed.length - 8] ^= 1;
        final Captures.Outcome wrong = Captures.ofStream(wrongSum);
        assertEquals(expected.packets(), wrong.packets());
        assertTrue(wrong.damage().contains("wrong checksum"), wrong.damage());

        final Captures.Outcome cutMember = Captures.ofStream(joined(packed, Arrays.copyOf(packed, 4)));
        assertEquals(expected.packets(), cutMember.packets());
        assertTrue(cutMember.damage().contains("gzip data is cut"), cutMember.damage());

        final Captures.Outcome trailing = Captures.ofStream(joined(packed, new byte[] {1}));
        assertEquals(expected.packets(), trailing.packets());
        assertTrue(trailing.damage().contains("no gzip member"), trailing.damage());
    }

    @Test
    void shouldHandOverWhatAPipeHasWithoutWaitingForMore() throws IOException {
        final PipedOutputStream writer = new PipedOutputStream();
        final InputStream reader = new PipedInputStream(writer, 1 << 16);
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(PCAP_MICROSECONDS, 1)
            .record(1, 0, packet(60, 1), 60).record(2, 0, packet(60, 2), 60);
        writer.write(capture.bytes());
        try (PacketSource source = CaptureFiles.open(List.of("-"), FilterSupplier.ALL, reader)) {
            final List<String> packets = new ArrayList<>();
            while (packets.size() < 2) {
                source.poll(Captures.recorder(packets), 1000);
            }
            writer.write(capture.part().record(3, 0, packet(60, 3), 60).bytes());
            assertEquals(1, source.poll(Captures.recorder(packets), 1000));
            writer.close();
            assertEquals(PacketSource.END_OF_SOURCE, source.poll(Captures.recorder(packets), 1000));
            assertNull(source.damage());
        }
    }

    @Test
    void shouldTellAFailingStreamFromItsEnd() {
        final InputStream failing = new InputStream() {
            private final InputStream octets = new ByteArrayInputStream(pcap(), 0, 24 + 16);

            @Override
            public int read() throws IOException {
                final int octet = octets.read();
                if (octet < 0) {
                    throw new IOException("device lost");
                }
                return octet;
            }
        };
        final Captures.Outcome outcome = Captures.drain(CaptureFiles.open(List.of("-"), FilterSupplier.ALL, failing));
        assertEquals(1, outcome.packets().size());
        assertEquals("standard input: damaged at octet 40: device lost", outcome.damage());
    }

    @ParameterizedTest
    @CsvSource({
        "'', is empty",
        "d4c3, is too short for a capture: 2 octets",
        "00112233, begins with 0x00112233",
        "00112233445566778899, begins with 0x0011223344556677;",
        "fd377a585a00, xz -dc",
        "28b52ffd00, zstd -dc",
        "425a6839, bzip2 -dc",
        "736e6f6f7000000000000002, is a snoop capture",
        "0a0d0d0a1c000000000000000100000000000000000000000000000000, no byte-order magic",
        "d4c3b2a10300040000000000000000000000000001000000, pcap version 3.4 is not known"})
    void shouldRefuseWhatIsNoCapture(final String hex, final String reason) throws IOException {
        final byte[] octets = HexFormat.of().parseHex(hex);
        final Path file = write("foreign", octets);
        for (final Path path : new Path[] {file, write("foreign.gz", gzip(octets))}) {
            final CaptureException refusal = Captures.refusalOf(path.toString());
            assertEquals(Kind.NO_INPUT, refusal.kind());
            assertTrue(refusal.getMessage().startsWith(path + ": ") && refusal.getMessage().contains(reason),
                refusal.getMessage());
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "d4c3b2a102000400000000000000000000000000", "0a0d0d0a1c0000004d3c2b1a", "1f8b0800000000000003ff", "1f8b"})
    void shouldCallDamagedWhatEndsWithinItsFirstHeader(final String hex) throws IOException {
        final CaptureException refusal = Captures.refusalOf(write("cut", HexFormat.of().parseHex(hex)).toString());
        assertEquals(Kind.DAMAGED, refusal.kind(), refusal.getMessage());
    }

    @Test
    void shouldRefuseWhatIsNoReadableFile() throws IOException {
        assertEquals(folder + ": is a directory, not a capture file", Captures.refusalOf(folder.toString()).getMessage());
        final String missing = folder.resolve("missing.pcap").toString();
        assertEquals(missing + ": there is no such file", Captures.refusalOf(missing).getMessage());
        assertEquals(Kind.NO_INPUT, Captures.refusalOf("nul\0").kind());
    }

    @Test
    void shouldRefuseAFileThatThisUserMayNotRead() throws IOException {
        final Path file = write("secret", pcap());
        assumeFalse(!file.toFile().setReadable(false) || Files.isReadable(file), "this user reads whatever it wants");
        final CaptureException refusal = Captures.refusalOf(file.toString());
        assertEquals(Kind.NO_INPUT, refusal.kind());
        assertEquals(file + ": may not be read by this user", refusal.getMessage());
    }

    @Test
    void shouldHandOverOnlyWhatTheFilterOfItsLinkTypeWants() throws IOException {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).section().interfaceOf(1, 0).interfaceOf(101, 0);
        for (int i = 0; i < 10; i++) {
            capture.enhancedPacket(i & 1, i, packet(20, i), 20);
        }
        final List<Integer> linkTypesAsked = new ArrayList<>();
        final FilterSupplier filters = linkType -> {
            linkTypesAsked.add(linkType);
            return packet -> linkType == 101 && packet.buffer().getByte(packet.offset()) > 4;
        };
        try (PacketSource source = CaptureFiles.open(Captures.paths(write("filtered", capture.bytes())), filters)) {
            final List<String> packets = new ArrayList<>();
            assertEquals(10, source.poll(Captures.recorder(packets), 100));
            assertEquals(List.of("5000 link101 if1 20/20 5", "7000 link101 if1 20/20 7", "9000 link101 if1 20/20 9"), packets);
            assertEquals(10, source.capturedCount());
            assertEquals(7, source.filteredCount());
            assertEquals(List.of(1, 101), linkTypesAsked);
        }
    }

    @Test
    void shouldRefuseAWrongFilterWhenItIsOpened() throws IOException {
        final Path file = write("capture", pcap());
        final FilterSupplier wrong = linkType -> {
            throw new CaptureException(Kind.BAD_FILTER, "no");
        };
        Kind kind = null;
        try (PacketSource source = CaptureFiles.open(Captures.paths(file), wrong)) {
            source.name();
        } catch (final CaptureException ex) {
            kind = ex.kind();
        }
        assertEquals(Kind.BAD_FILTER, kind);
    }

    @Test
    void shouldTellHowFarItIs() throws IOException {
        final byte[] octets = pcap();
        final byte[] packed = gzip(octets);
        assertProgress(write("capture", octets), octets.length);
        assertProgress(write("capture.gz", packed), packed.length);
        try (PacketSource source = CaptureFiles.open(List.of("-"), FilterSupplier.ALL, new ByteArrayInputStream(octets))) {
            new PacketTotals().drain(source);
            assertEquals(octets.length, source.consumedBytes());
            assertEquals(-1, source.totalBytes());
        }
    }

    private static void assertProgress(final Path file, final long lengthBytes) {
        try (PacketSource source = CaptureFiles.open(Captures.paths(file), FilterSupplier.ALL)) {
            assertEquals(lengthBytes, source.totalBytes());
            assertEquals(file.toString(), source.name());
            source.poll(packet -> { }, 1);
            assertTrue(source.consumedBytes() <= lengthBytes);
            new PacketTotals().drain(source);
            assertEquals(lengthBytes, source.consumedBytes());
        }
    }

    /** A slow stream: one octet at a time, and never anything available. */
    private static final class OctetWise extends InputStream {
        private final InputStream octets;

        private OctetWise(final byte[] octets) {
            this.octets = new ByteArrayInputStream(octets);
        }

        @Override
        public int read() throws IOException {
            return octets.read();
        }

        @Override
        public int read(final byte[] target, final int offset, final int lengthBytes) throws IOException {
            return octets.read(target, offset, Math.min(lengthBytes, 1));
        }
    }
}
