package io.flowlag.exporter.export.spool;

import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Reads the files of a spool frame by frame, each looked at through its checksum, and holds the record that was found last. Used
 * by the exporting thread. Allocates at construction and for each template.
 */
final class SpoolReader {
    static final int BUFFER_BYTES = SpoolLayout.MAX_PAYLOAD_BYTES + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
    private static final int CHUNK_BYTES = 32 << 10;

    private final ByteBuffer octets = BufferUtil.allocateDirectAligned(BUFFER_BYTES, CACHE_LINE_LENGTH);
    private final UnsafeBuffer buffer = new UnsafeBuffer(octets);
    private final Int2ObjectHashMap<SpoolTemplate> readTemplates = new Int2ObjectHashMap<>();
    private final Int2ObjectHashMap<Template> sendable = new Int2ObjectHashMap<>();
    private final SpoolTemplates templates;
    private SpoolSegment segment;
    private long offset;
    private long loadedOffset;
    private int loadedBytes;
    private boolean hasLoaded;
    private long skipToOffset;
    private long unreleased;
    private boolean hasRecord;
    private int recordFrame;
    private SpoolTemplate recordTemplate;

    /** Stands in no file yet; the templates are those of the session that records are for. */
    SpoolReader(final SpoolTemplates templates) {
        this.templates = templates;
    }

    /** {@return holds any frame; the record found, while there is one} */
    UnsafeBuffer buffer() {
        return buffer;
    }

    /** {@return of {@link #buffer()}} */
    ByteBuffer octets() {
        return octets;
    }

    /** {@return the file that is read, or null} */
    SpoolSegment segment() {
        return segment;
    }

    /** {@return where the next frame begins} */
    long offset() {
        return offset;
    }

    /** {@return up to where the file is in memory, so that records may have been handed on} */
    long handedOffset() {
        return loadedOffset + loadedBytes;
    }

    boolean isAtEnd() {
        return offset >= segment.lengthBytes;
    }

    boolean hasRecord() {
        return hasRecord;
    }

    /** {@return records that were consumed and not released} */
    long unreleased() {
        return unreleased;
    }

    /** Goes to the beginning of a file; records that end at or before an offset are passed over. */
    void begin(final SpoolSegment next, final long fromOffset) {
        segment = next;
        offset = SpoolLayout.HEADER_LENGTH_BYTES;
        skipToOffset = fromOffset;
        loadedBytes = 0;
        readTemplates.clear();
        sendable.clear();
    }

    /** Goes to the end of the file that is read. */
    void skipRest() {
        offset = segment.lengthBytes;
    }

    /** Goes to the end of a file of which all was read. */
    void beginAtEnd(final SpoolSegment other) {
        begin(other, 0);
        skipRest();
        loadedOffset = offset;
    }

    /** Leaves the current file. */
    void leave() {
        segment = null;
        hasRecord = false;
    }

    /** What was consumed and not released is read again. */
    void rewind() {
        if (segment != null) {
            segment.close();
        }
        unreleased = 0;
        leave();
    }

    /** The record found has been taken. */
    void consume() {
        hasRecord = false;
        segment.readRecords++;
        unreleased++;
    }

    void onReleased() {
        unreleased--;
    }

    /** {@return whether octets were read from the file since that was last asked} */
    boolean takeLoaded() {
        final boolean hadLoaded = hasLoaded;
        hasLoaded = false;
        return hadLoaded;
    }

    /**
     * Reads a frame; the file is not at its end.
     *
     * @return false if this frame, and so the rest of the file, cannot be trusted.
     * @throws IOException if the file cannot be read now; it can be tried again.
     */
    boolean readFrame() throws IOException {
        if (!load(SpoolLayout.FRAME_HEADER_LENGTH_BYTES)) {
            return false;
        }
        final int payloadBytes = SpoolLayout.payloadBytes(buffer, (int)(offset - loadedOffset));
        if (payloadBytes < Integer.BYTES || payloadBytes > SpoolLayout.MAX_PAYLOAD_BYTES ||
            !load(SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes)) {
            return false;
        }
        final int frame = (int)(offset - loadedOffset);
        if (!SpoolLayout.isSound(buffer, frame, segment.number)) {
            return false;
        }
        return SpoolLayout.kind(buffer, frame) == SpoolLayout.TEMPLATE_KIND ?
            onTemplate(frame, payloadBytes) : onRecord(frame, payloadBytes);
    }

    private boolean onTemplate(final int frame, final int payloadBytes) {
        final int payload = frame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES;
        final SpoolTemplate found = SpoolTemplate.read(buffer, payload, payloadBytes);
        if (found == null) {
            return false;
        }
        readTemplates.put(buffer.getInt(payload, LITTLE_ENDIAN), found);
        offset += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        return true;
    }

    private boolean onRecord(final int frame, final int payloadBytes) {
        final int key = buffer.getInt(frame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, LITTLE_ENDIAN);
        final SpoolTemplate template = readTemplates.get(key);
        if (template == null || payloadBytes != SpoolLayout.RECORD_OFFSET + template.recordLengthBytes()) {
            return false;
        }
        offset += SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes;
        if (offset > skipToOffset) {
            recordFrame = frame;
            recordTemplate = template;
            hasRecord = true;
        }
        return true;
    }

    /** Has so many octets from the offset on in memory; false if the file has not so many. */
    private boolean load(final int neededBytes) throws IOException {
        if (offset >= loadedOffset && offset + neededBytes <= loadedOffset + loadedBytes) {
            return true;
        }
        final long left = segment.lengthBytes - offset;
        if (neededBytes > left) {
            return false;
        }
        final int wantedBytes = (int)Math.min(left, Math.max(CHUNK_BYTES, neededBytes));
        loadedOffset = offset;
        loadedBytes = 0;
        try {
            octets.clear().limit(wantedBytes);
            while (octets.hasRemaining()) {
                if (segment.channel().read(octets, loadedOffset + octets.position()) < 0) {
                    return false;
                }
            }
        } finally {
            octets.clear();
        }
        loadedBytes = wantedBytes;
        hasLoaded = true;
        return true;
    }

    /** {@return the template of the record found, or null if the session cannot send such a record} */
    Template template() {
        final int key = buffer.getInt(recordFrame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES, LITTLE_ENDIAN);
        final Template known = sendable.get(key);
        if (known != null) {
            return known;
        }
        final Template template = templates.template(
            recordTemplate.elementIds(), recordTemplate.lengthsBytes(), recordTemplate.enterpriseNumbers());
        if (template == null || template.recordLengthBytes() != recordTemplate.recordLengthBytes()) {
            return null;
        }
        sendable.put(key, template);
        return template;
    }

    /** {@return where the record found begins in {@link #buffer()}} */
    int recordOffset() {
        return recordFrame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET;
    }

    /** {@return octets of the record found} */
    int recordLengthBytes() {
        return recordTemplate.recordLengthBytes();
    }

    /** {@return packets that the record found stands for} */
    long recordPackets() {
        return recordTemplate.packets(buffer, recordOffset());
    }

    /** {@return octets that the record found stands for} */
    long recordOctets() {
        return recordTemplate.octets(buffer, recordOffset());
    }
}
