package io.flowlag.exporter.capture.file;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.decode.PacketDecoder;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.exporter.fuzz.RealCaptures;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Pattern;

/**
 * Capture files: pcap, pcapng, either of them packed by gzip, as a stream; one of {@value #INPUTS_PER_FILE} as a mapped file
 * merged with a good one; all that are not packed as the octets of a mapping too, behind which nothing can be read. Every packet
 * is decoded.
 */
public final class CaptureFileTarget implements FuzzTarget {
    private static final int MAX_BYTES = 4096;
    private static final int BUFFER_BYTES = 1 << 13;
    private static final int INPUTS_PER_FILE = 64;
    /** The largest expansion of an octet by gzip. */
    private static final int MOST_UNPACKED_PER_OCTET = 1032;
    private static final int LEAST_RECORD_BYTES = 12;
    private static final int POLL_LIMIT = 64;
    private static final Pattern NUMBERS = Pattern.compile("[^a-z ]");

    private final Counters counters = new Counters();
    private final PacketDecoder decoder = new PacketDecoder(new PacketDecoder.Context().innerTunnels(true), counters);
    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);
    private final PacketHandler handler = this::onPacket;
    private final GuardedMemory memory = new GuardedMemory(MAX_BYTES);
    private final Path file;
    private final Path goodFile;
    private long delivered;
    private long captured;
    private long inputs;

    /** A target, with two files in a folder of its own that go with the process. */
    public CaptureFileTarget() {
        try {
            final Path memory = Path.of("/dev/shm");
            final Path folder = Files.isWritable(memory) ?
                Files.createTempDirectory(memory, "flowlag-fuzz") : Files.createTempDirectory("flowlag-fuzz");
            file = folder.resolve("mutant");
            goodFile = Files.write(folder.resolve("good.pcap"), pcap());
            Files.write(file, pcap());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        folderGoes();
    }

    private void folderGoes() {
        file.getParent().toFile().deleteOnExit();
        file.toFile().deleteOnExit();
        goodFile.toFile().deleteOnExit();
    }

    private void onPacket(final CapturedPacket packet) {
        delivered++;
        packet.buffer().boundsCheck(packet.offset(), packet.capturedLengthBytes());
        if (packet.wireLengthBytes() < packet.capturedLengthBytes() || packet.capturedLengthBytes() < 0) {
            throw new AssertionError(packet.capturedLengthBytes() + " captured of " + packet.wireLengthBytes());
        }
        counters.increment(CounterId.CAPTURED);
        counters.increment(CounterId.of(decoder.decode(packet, descriptor, 0)));
    }

    private static byte[] pcap() {
        final CaptureBytes capture = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(CaptureBytes.PCAP_MICROSECONDS, 1);
        for (int i = 0; i < 4; i++) {
            capture.record(i, i, CaptureBytes.packet(40, i), 99);
        }
        return capture.bytes();
    }

    private static byte[] pcapNg(final ByteOrder order) {
        final CaptureBytes capture = new CaptureBytes(order).section();
        capture.interfaceOf(1, 0, capture.part().option(9, (byte)9).option(14, new byte[8]).option(0).bytes());
        for (int i = 0; i < 3; i++) {
            capture.enhancedPacket(0, i, CaptureBytes.packet(33, i), 99).simplePacket(CaptureBytes.packet(4, 1), 4)
                .obsoletePacket(0, i, CaptureBytes.packet(8, 2), 8);
        }
        return capture.bytes();
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("capture"));
        final byte[] nanoseconds = new CaptureBytes(ByteOrder.BIG_ENDIAN).pcapHeader(CaptureBytes.PCAP_NANOSECONDS, 101)
            .record(1, 2, CaptureBytes.packet(20, 0x45), 20).bytes();
        final byte[] modified = new CaptureBytes(ByteOrder.LITTLE_ENDIAN).pcapHeader(CaptureBytes.PCAP_MODIFIED, 1)
            .record(1, 2, CaptureBytes.packet(20, 0x45), 20).bytes();
        final List<byte[]> made = List.of(
            pcap(), pcapNg(ByteOrder.BIG_ENDIAN), pcapNg(ByteOrder.LITTLE_ENDIAN), nanoseconds, modified);
        seeds.addAll(made);
        made.forEach((each) -> seeds.add(CaptureBytes.gzip(each)));
        for (final Path each : RealCaptures.files()) {
            try (var stream = Files.newInputStream(each)) {
                seeds.add(stream.readNBytes(MAX_BYTES));
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return seeds;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        inputs++;
        readMapped(octets, length);
        try {
            if (inputs % INPUTS_PER_FILE == 0) {
                Files.write(file, Arrays.copyOf(octets, length));
                try (CaptureFileSource source =
                    CaptureFiles.open(List.of(file.toString(), goodFile.toString()), FilterSupplier.ALL)) {
                    return drain(source, length);
                }
            }
            try (CaptureFileSource source = CaptureFiles.open(List.of(CaptureFiles.STANDARD_INPUT), FilterSupplier.ALL,
                new ByteArrayInputStream(octets, 0, length), BUFFER_BYTES, BUFFER_BYTES)) {
                return drain(source, length);
            }
        } catch (final CaptureException ex) {
            return -1 - ex.kind().ordinal();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** A mapping that ends with the input. */
    private static final class GuardedWindow extends ByteWindow {
        GuardedWindow(final GuardedMemory memory, final byte[] octets, final int length) {
            super(new CheckedBuffer(0, 0));
            memory.wrap(view, octets, 0, length);
            viewLengthBytes = length;
        }

        @Override
        protected int move(final long position, final int lengthBytes) {
            return NOT_THERE;
        }

        @Override
        boolean isReady(final long position) {
            return true;
        }

        @Override
        long endPosition() {
            return viewLengthBytes;
        }

        @Override
        boolean isCutBelowView() {
            return false;
        }

        @Override
        long consumedBytes(final long position) {
            return position;
        }

        @Override
        long totalBytes() {
            return viewLengthBytes;
        }

        @Override
        public void close() {
            // the memory stays
        }
    }

    private void readMapped(final byte[] octets, final int length) {
        try (GuardedWindow window = new GuardedWindow(memory, octets, length)) {
            final CaptureReader reader = window.require(0, Integer.BYTES) == ByteWindow.NOT_THERE ? null :
                PcapFormat.byteOrder(window.buffer(), 0) != null ? new PcapReader("mapped", window) :
                PcapNgFormat.isSectionHeader(window.buffer(), 0) ? new PcapNgReader("mapped", window) : null;
            while (reader != null && reader.next()) {
                captured++;
                onPacket(reader);
            }
        } catch (final CaptureException ex) {
            // Its kind is the answer of the stream, which is the same.
            return;
        }
    }

    private long drain(final CaptureFileSource source, final int length) {
        final long mostPackets = (long)MOST_UNPACKED_PER_OCTET * length / LEAST_RECORD_BYTES + POLL_LIMIT;
        while (source.poll(handler, POLL_LIMIT) != CaptureFileSource.END_OF_SOURCE) {
            if (source.capturedCount() > mostPackets) {
                throw new AssertionError(source.capturedCount() + " packets of " + length + " octets");
            }
        }
        captured += source.capturedCount();
        final String damage = source.damage();
        return damage == null ? 1 : NUMBERS.matcher(damage).replaceAll("").hashCode();
    }

    @Override
    public void check() {
        if (delivered != captured || counters.get(CounterId.CAPTURED) != captured
            || captured != counters.get(CounterId.DECODED) + counters.refused()) {
            throw new AssertionError(captured + " captured, " + delivered + " delivered, " + counters.get(CounterId.DECODED)
                + " decoded, " + counters.refused() + " refused");
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 64L << 20;
    }
}
