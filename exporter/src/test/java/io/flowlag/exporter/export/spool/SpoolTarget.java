package io.flowlag.exporter.export.spool;

import io.flowlag.common.file.Disk;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * A file of a spool as a start finds it: looked at whole, and one of 256 opened by a spool and read to its end, where as many
 * records must come as were counted. Checksums are mostly made right.
 */
public final class SpoolTarget implements FuzzTarget {
    private static final int MAX_BYTES = 2048;
    private static final int INPUTS_FOR_A_SPOOL = 256;
    private static final long NUMBER = 1;
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int BUFFER_BYTES = SpoolLayout.MAX_PAYLOAD_BYTES + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;

    private final ByteBuffer octets = BufferUtil.allocateDirectAligned(BUFFER_BYTES, Long.BYTES);
    private final UnsafeBuffer buffer = new UnsafeBuffer(octets);
    private final UnsafeBuffer mended = new UnsafeBuffer(ByteBuffer.allocateDirect(MAX_BYTES));
    private final Path directory;
    private final Path file;
    private final FileChannel channel;
    private final SpoolScan scan;
    private long inputs;
    private long lost;

    /** A target with a directory of its own, in memory if it can be, which the virtual machine deletes when it ends. */
    public SpoolTarget() {
        try {
            final Path shared = Path.of("/dev/shm");
            directory = Files.isWritable(shared) ?
                Files.createTempDirectory(shared, "flowlag-fuzz") : Files.createTempDirectory("flowlag-fuzz");
            file = directory.resolve("input");
            channel = FileChannel.open(
                file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
            scan = new SpoolScan(new SpoolPosition(directory.resolve("position")), buffer, octets);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        Runtime.getRuntime().addShutdownHook(new Thread(() -> delete(directory)));
    }

    private static void delete(final Path folder) {
        try (Stream<Path> all = Files.walk(folder)) {
            all.sorted((left, right) -> right.compareTo(left)).forEach((each) -> each.toFile().delete());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("spool"));
        seeds.add(segment(1, 1));
        seeds.add(segment(3, 4));
        return seeds;
    }

    /** A file with templates of 12 octets (an address, packets) and records of each. */
    private static byte[] segment(final int templates, final int recordsOfEach) {
        final UnsafeBuffer all = new UnsafeBuffer(ByteBuffer.allocateDirect(MAX_BYTES));
        SpoolLayout.putHeader(all, NUMBER);
        int at = SpoolLayout.HEADER_LENGTH_BYTES;
        for (int template = 0; template < templates; template++) {
            final int payload = at + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
            final int[] words = {256 + template, 2, 8, 4, 0, 2, 8, 0};
            for (int i = 0; i < words.length; i++) {
                all.putInt(payload + i * Integer.BYTES, words[i], LITTLE_ENDIAN);
            }
            SpoolLayout.putFrameHeader(all, at, NUMBER, SpoolLayout.TEMPLATE_KIND, words.length * Integer.BYTES);
            at = payload + words.length * Integer.BYTES;
            for (int i = 0; i < recordsOfEach; i++) {
                all.putInt(at + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, 256 + template, LITTLE_ENDIAN);
                SpoolLayout.putFrameHeader(all, at, NUMBER, SpoolLayout.RECORD_KIND, SpoolLayout.RECORD_OFFSET + 12);
                at += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET + 12;
            }
        }
        final byte[] seed = new byte[at];
        all.getBytes(0, seed);
        return seed;
    }

    @Override
    public int mend(final byte[] input, final int lengthBytes, final SplittableRandom random) {
        if (lengthBytes < SpoolLayout.HEADER_LENGTH_BYTES || random.nextInt(8) == 0) {
            return lengthBytes;
        }
        mended.putBytes(0, input, 0, lengthBytes);
        SpoolLayout.putHeader(mended, NUMBER);
        int at = SpoolLayout.HEADER_LENGTH_BYTES;
        while (lengthBytes - at >= SpoolLayout.FRAME_HEADER_LENGTH_BYTES && random.nextInt(64) != 0) {
            final int payloadBytes = SpoolLayout.payloadBytes(mended, at);
            if (payloadBytes < 0 || payloadBytes > lengthBytes - at - SpoolLayout.FRAME_HEADER_LENGTH_BYTES) {
                break;
            }
            SpoolLayout.putFrameHeader(mended, at, NUMBER, SpoolLayout.kind(mended, at), payloadBytes);
            at += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        }
        mended.getBytes(0, input, 0, lengthBytes);
        return lengthBytes;
    }

    @Override
    public long take(final byte[] input, final int length) {
        try {
            write(channel, input, length);
            final SpoolSegment segment = new SpoolSegment(directory, NUMBER);
            final boolean isSpool = scan.take(channel, segment);
            if (segment.lengthBytes > length) {
                throw new AssertionError("of " + length + " octets " + segment.lengthBytes + " are said to be whole");
            }
            if (isSpool && inputs++ % INPUTS_FOR_A_SPOOL == 0) {
                readAll(input, length, segment.records);
            }
            return isSpool ? 1 + segment.records + 100 * (segment.lengthBytes == length ? 1 : 0) : 0;
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static void write(final FileChannel channel, final byte[] input, final int length) throws IOException {
        if (channel.size() > length) {
            channel.truncate(length);
        }
        final ByteBuffer all = ByteBuffer.wrap(input, 0, length);
        while (all.hasRemaining()) {
            channel.write(all, all.position());
        }
    }

    private void readAll(final byte[] input, final int length, final long recordsExpected) throws IOException {
        final Path folder = directory.resolve("spool");
        SpoolDirectory.make(folder, Disk.SYSTEM);
        try (FileChannel whole = FileChannel.open(
            folder.resolve(SpoolSegment.name(NUMBER)), StandardOpenOption.CREATE, StandardOpenOption.WRITE)) {
            write(whole, input, length);
        }
        long records = 0;
        try (Spool spool = new Spool(folder, Spool.MIN_BOUND_BYTES, (ids, lengths, enterprises) -> null,
            (count, packets, lostOctets) -> lost += count, Disk.SYSTEM, Runnable::run)) {
            while (spool.next()) {
                final long segment = spool.recordSegment();
                final long end = spool.recordEndOffset();
                final long packets = spool.recordPackets();
                final long recordOctets = spool.recordOctets();
                if (spool.template() != null) {
                    throw new AssertionError("a template of nowhere");
                }
                spool.consume();
                spool.release(segment, end, packets, recordOctets);
                records++;
            }
            spool.doWork(NOW_MS);
        }
        delete(folder);
        if (records != recordsExpected || lost != 0) {
            throw new AssertionError(recordsExpected + " records counted, " + records + " read, " + lost + " lost");
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    /** A template that is read has three numbers for each of at most 64 fields. */
    @Override
    public long allocationBoundBytes() {
        return 512 << 10;
    }
}
