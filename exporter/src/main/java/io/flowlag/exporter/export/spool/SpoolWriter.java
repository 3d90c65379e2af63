package io.flowlag.exporter.export.spool;

import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.collections.IntHashSet;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Records buffered for the newest file of a spool, as frames. Used by one thread at a time. Allocates at construction and for
 * each template.
 */
final class SpoolWriter {
    static final int BUFFER_BYTES = 256 << 10;
    private static final long FLUSH_MS = 1_000;
    private static final long NEVER = Long.MIN_VALUE;

    private final ByteBuffer bufferOctets = BufferUtil.allocateDirectAligned(BUFFER_BYTES, CACHE_LINE_LENGTH);
    private final UnsafeBuffer buffer = new UnsafeBuffer(bufferOctets);
    private final Int2ObjectHashMap<SpoolTemplate> shapes = new Int2ObjectHashMap<>();
    private final IntHashSet writtenTemplates = new IntHashSet();
    private int lengthBytes;
    private long records;
    private long packets;
    private long octets;
    private long dueMs = NEVER;

    static int frameBytes(final int recordBytes) {
        return SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET + recordBytes;
    }

    static int frameBytes(final Template template) {
        return SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolTemplate.payloadBytes(template);
    }

    /** {@return the offsets of a template, as the reader will find them} */
    SpoolTemplate shape(final Template template) {
        SpoolTemplate shape = shapes.get(template.templateId());
        if (shape == null) {
            final UnsafeBuffer payload = new UnsafeBuffer(new byte[SpoolTemplate.payloadBytes(template)]);
            SpoolTemplate.put(payload, 0, template);
            shape = SpoolTemplate.read(payload, 0, payload.capacity());
            if (shape == null) {
                throw new IllegalArgumentException(template + " cannot be spooled");
            }
            shapes.put(template.templateId(), shape);
        }
        return shape;
    }

    /** Buffered octets. */
    int lengthBytes() {
        return lengthBytes;
    }

    boolean isEmpty() {
        return lengthBytes == 0;
    }

    /** Buffered records. */
    long records() {
        return records;
    }

    /** Packets of the buffered records. */
    long packets() {
        return packets;
    }

    /** Octets of the packets of the buffered records. */
    long octets() {
        return octets;
    }

    boolean hasRoom(final int neededBytes) {
        return lengthBytes + neededBytes <= BUFFER_BYTES;
    }

    /** Whether a record has waited long enough; a clock that was set back does not lengthen the wait. */
    boolean isDue(final long timeMs) {
        return lengthBytes > 0 && (timeMs >= dueMs || dueMs - timeMs > FLUSH_MS);
    }

    /** The buffer is being written; it is due again with the next record. */
    void onTried() {
        dueMs = NEVER;
    }

    /** Another file begins, without templates. */
    void beginSegment() {
        writtenTemplates.clear();
    }

    /**
     * Adds a record, for which there is room, and its template if the file lacks it.
     *
     * @param segment it is for; receives the record's counts.
     * @param offset  of its first octet.
     * @param timeMs  the time now, UNIX epoch.
     */
    void put(final SpoolSegment segment, final Template template, final DirectBuffer record, final int offset, final int bytes,
        final long timeMs) {
        if (writtenTemplates.add(template.templateId())) {
            SpoolTemplate.put(buffer, lengthBytes + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, template);
            endFrame(segment, SpoolLayout.TEMPLATE_KIND, SpoolTemplate.payloadBytes(template));
        }
        final int payload = lengthBytes + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        buffer.putInt(payload, template.templateId(), LITTLE_ENDIAN);
        buffer.putBytes(payload + SpoolLayout.RECORD_OFFSET, record, offset, bytes);
        endFrame(segment, SpoolLayout.RECORD_KIND, SpoolLayout.RECORD_OFFSET + bytes);
        final SpoolTemplate shape = shape(template);
        final long recordPackets = shape.packets(record, offset);
        final long recordOctets = shape.octets(record, offset);
        segment.records++;
        segment.packets += recordPackets;
        segment.octets += recordOctets;
        records++;
        packets += recordPackets;
        octets += recordOctets;
        if (dueMs == NEVER) {
            dueMs = timeMs + FLUSH_MS;
        }
    }

    /** Writes the buffer to the end of a file; it is kept until {@link #clear}. */
    void write(final SpoolSegment segment) throws IOException {
        segment.write(bufferOctets, lengthBytes);
    }

    /** Renumbers the buffered frames for another file. */
    void renumber(final long segmentNumber) {
        int offset = 0;
        while (offset < lengthBytes) {
            final int payloadBytes = SpoolLayout.payloadBytes(buffer, offset);
            SpoolLayout.putFrameHeader(buffer, offset, segmentNumber, SpoolLayout.kind(buffer, offset), payloadBytes);
            offset += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        }
    }

    /** Discards what waits to be written. */
    void clear() {
        lengthBytes = 0;
        records = 0;
        packets = 0;
        octets = 0;
    }

    private void endFrame(final SpoolSegment segment, final int kind, final int payloadBytes) {
        SpoolLayout.putFrameHeader(buffer, lengthBytes, segment.number, kind, payloadBytes);
        lengthBytes += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
    }
}
