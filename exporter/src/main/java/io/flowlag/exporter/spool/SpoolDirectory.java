package io.flowlag.exporter.spool;

import io.flowlag.exporter.console.OutputFiles;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * What a former process left in a spool's directory: every file looked at frame by frame. A file that is none of ours is set
 * aside, one that is cut or damaged counts up to there. Used once, by the thread that opens the spool.
 */
final class SpoolDirectory {
    private final List<SpoolSegment> segments = new ArrayList<>();
    private final List<String> notices = new ArrayList<>();
    private final SpoolPosition position;
    private final UnsafeBuffer buffer;
    private final ByteBuffer octets;
    private long nextNumber = 1;
    private long records;
    private long perhapsTwice;
    private long refusedOctets;
    private long firstOffset = SpoolLayout.HEADER_LENGTH_BYTES;

    /** Looks at every file; the buffer holds any frame. */
    SpoolDirectory(final Path directory, final SpoolPosition position, final UnsafeBuffer buffer, final ByteBuffer octets)
        throws IOException {
        this.position = position;
        this.buffer = buffer;
        this.octets = octets;
        nextNumber = Math.max(1, position.releasedSegment());
        final List<Path> paths;
        try (Stream<Path> all = Files.list(directory)) {
            paths = all.filter((path) -> path.getFileName().toString().endsWith(".spool")).sorted().toList();
        }
        for (final Path path : paths) {
            takeUp(directory, path);
        }
        if (!segments.isEmpty() && segments.get(0).number == position.releasedSegment()) {
            firstOffset = Math.max(firstOffset, position.releasedOffset());
        }
        if (records > 0) {
            notices.add(directory + ": " + records + " records of a former process are taken up" +
                (perhapsTwice > 0 ? ", at most " + perhapsTwice + " of which it may have sent" : ""));
        }
    }

    /** Makes the directory, for its owner alone. */
    static void make(final Path directory) throws IOException {
        try {
            Files.createDirectories(directory.toAbsolutePath().getParent());
            Files.createDirectory(directory, PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
        } catch (final FileAlreadyExistsException ex) {
            if (!Files.isDirectory(directory)) {
                throw new IOException(directory + ": is no directory", ex);
            }
        } catch (final IOException ex) {
            throw new IOException(directory + ": " + OutputFiles.reason(ex), ex);
        }
    }

    /** Gives whole frames the checksums of another segment. */
    static void renumber(final UnsafeBuffer frames, final int lengthBytes, final long segmentNumber) {
        int offset = 0;
        while (offset < lengthBytes) {
            final int payloadBytes = SpoolLayout.payloadBytes(frames, offset);
            SpoolLayout.putFrameHeader(frames, offset, segmentNumber, SpoolLayout.kind(frames, offset), payloadBytes);
            offset += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        }
    }

    List<SpoolSegment> segments() {
        return segments;
    }

    List<String> notices() {
        return List.copyOf(notices);
    }

    long nextNumber() {
        return nextNumber;
    }

    long records() {
        return records;
    }

    long perhapsTwice() {
        return perhapsTwice;
    }

    long refusedOctets() {
        return refusedOctets;
    }

    /** {@return where reading goes on in the first file} */
    long firstOffset() {
        return firstOffset;
    }

    private void takeUp(final Path directory, final Path path) throws IOException {
        final long number = SpoolSegment.number(path);
        nextNumber = Math.max(nextNumber, number + 1);
        if (number >= 0 && number < position.releasedSegment()) {
            Files.deleteIfExists(path);
            return;
        }
        final SpoolSegment segment = new SpoolSegment(directory, number);
        segment.isSealed = true;
        final long length;
        try (FileChannel channel = FileChannel.open(path)) {
            length = channel.size();
            if (number < 0 || !SpoolLayout.isHeader(buffer, read(channel, 0, SpoolLayout.HEADER_LENGTH_BYTES), number)) {
                setAside(path, length);
                return;
            }
            scan(channel, length, segment);
        } catch (final IOException ex) {
            notices.add(path + " is passed over: " + OutputFiles.reason(ex));
            return;
        }
        if (segment.lengthBytes < length) {
            refusedOctets += length - segment.lengthBytes;
            notices.add(path + " is cut or damaged: " + (length - segment.lengthBytes) + " octets at its end are passed over");
        }
        records += segment.records;
        segments.add(segment);
    }

    private void setAside(final Path path, final long lengthBytes) throws IOException {
        refusedOctets += lengthBytes;
        final Path aside = path.resolveSibling(path.getFileName() + ".damaged");
        Files.move(path, aside, StandardCopyOption.REPLACE_EXISTING);
        notices.add(path + " is no file of a spool; it was set aside as " + aside.getFileName());
    }

    private void scan(final FileChannel channel, final long length, final SpoolSegment segment) throws IOException {
        final long released = segment.number == position.releasedSegment() ? position.releasedOffset() : 0;
        final Int2ObjectHashMap<SpoolTemplate> templates = new Int2ObjectHashMap<>();
        long offset = SpoolLayout.HEADER_LENGTH_BYTES;
        long loadedOffset = offset;
        int loadedBytes = 0;
        segment.lengthBytes = offset;
        while (offset < length) {
            int frame = (int)(offset - loadedOffset);
            if (!isWhole(frame, loadedBytes)) {
                loadedOffset = offset;
                loadedBytes = read(channel, offset, buffer.capacity());
                frame = 0;
            }
            if (!isWhole(frame, loadedBytes) || !SpoolLayout.isSound(buffer, frame, segment.number) ||
                !isUnderstood(frame, templates)) {
                return;
            }
            final int payloadBytes = SpoolLayout.payloadBytes(buffer, frame);
            offset += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
            segment.lengthBytes = offset;
            if (offset > released && SpoolLayout.kind(buffer, frame) == SpoolLayout.RECORD_KIND) {
                count(segment, frame, templates);
                perhapsTwice += position.isHanded(segment.number, offset) ? 1 : 0;
            }
        }
    }

    private void count(final SpoolSegment segment, final int frame, final Int2ObjectHashMap<SpoolTemplate> templates) {
        final int payload = frame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        final SpoolTemplate template = templates.get(buffer.getInt(payload, LITTLE_ENDIAN));
        segment.records++;
        segment.packets += template.packets(buffer, payload + SpoolLayout.RECORD_OFFSET);
        segment.octets += template.octets(buffer, payload + SpoolLayout.RECORD_OFFSET);
    }

    private boolean isWhole(final int frame, final int loadedBytes) {
        if (loadedBytes - frame < SpoolLayout.FRAME_HEADER_LENGTH_BYTES + Integer.BYTES) {
            return false;
        }
        final int payloadBytes = SpoolLayout.payloadBytes(buffer, frame);
        return payloadBytes >= Integer.BYTES && payloadBytes <= SpoolLayout.MAX_PAYLOAD_BYTES &&
            loadedBytes - frame >= SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
    }

    private boolean isUnderstood(final int frame, final Int2ObjectHashMap<SpoolTemplate> templates) {
        final int payload = frame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        final int payloadBytes = SpoolLayout.payloadBytes(buffer, frame);
        final int key = buffer.getInt(payload, LITTLE_ENDIAN);
        if (SpoolLayout.kind(buffer, frame) == SpoolLayout.TEMPLATE_KIND) {
            final SpoolTemplate template = SpoolTemplate.read(buffer, payload, payloadBytes);
            if (template != null) {
                templates.put(key, template);
            }
            return template != null;
        }
        final SpoolTemplate template = templates.get(key);
        return SpoolLayout.kind(buffer, frame) == SpoolLayout.RECORD_KIND && template != null &&
            payloadBytes == SpoolLayout.RECORD_OFFSET + template.recordLengthBytes();
    }

    /** Reads as much as there is, at most so many octets; how many. */
    private int read(final FileChannel channel, final long offset, final int maxBytes) throws IOException {
        octets.clear().limit(maxBytes);
        while (octets.hasRemaining() && channel.read(octets, offset + octets.position()) > 0) {
            continue;
        }
        final int count = octets.position();
        octets.clear();
        return count;
    }
}
