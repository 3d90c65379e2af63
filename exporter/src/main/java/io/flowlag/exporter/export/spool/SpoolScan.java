package io.flowlag.exporter.export.spool;

import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;

import static java.nio.ByteOrder.LITTLE_ENDIAN;

/**
 * Checks the files of a spool frame by frame: whether each is valid, how much of it is whole, and what it holds. The octets are
 * untrusted. Used by the thread that opens the spool. Allocates a little for each template.
 */
final class SpoolScan {
    private final SpoolPosition position;
    private final UnsafeBuffer buffer;
    private final ByteBuffer octets;
    private long perhapsTwice;

    /** A scan from the read position of a former process; the buffer holds any frame. */
    SpoolScan(final SpoolPosition position, final UnsafeBuffer buffer, final ByteBuffer octets) {
        this.position = position;
        this.buffer = buffer;
        this.octets = octets;
    }

    /** {@return records of all files so far that a former process may have sent} */
    long perhapsTwice() {
        return perhapsTwice;
    }

    /**
     * Checks a file.
     *
     * @param segment with its number; receives the length of the whole part, and the records behind the released position.
     * @return whether it is that segment of a spool.
     * @throws IOException if it cannot be read.
     */
    boolean take(final FileChannel channel, final SpoolSegment segment) throws IOException {
        if (!SpoolLayout.isHeader(buffer, read(channel, 0, SpoolLayout.HEADER_LENGTH_BYTES), segment.number)) {
            return false;
        }
        scan(channel, channel.size(), segment);
        return true;
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

    /** Reads what is available, up to a number of octets; returns how many. */
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
