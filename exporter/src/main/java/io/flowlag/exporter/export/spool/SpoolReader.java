package io.flowlag.exporter.export.spool;

import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.CloseHelper;
import org.agrona.collections.Int2ObjectHashMap;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;

import static java.nio.ByteOrder.LITTLE_ENDIAN;
import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * Reads the files of a spool frame by frame, verifies each checksum, and holds the current record. Used by one thread at a time.
 * Allocates at construction and for each template.
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
    /** Closed when another file begins. */
    private SpoolSegment left;
    private long offset;
    private long loadedOffset;
    private int loadedBytes;
    private boolean hasLoaded;
    private long skipToOffset;
    private long unreleased;
    private boolean hasRecord;
    private int recordFrame;
    private SpoolTemplate recordTemplate;

    /** Starts without a file; the templates are the session's. */
    SpoolReader(final SpoolTemplates templates) {
        this.templates = templates;
    }

    /** {@return the buffer of a frame; holds the current record} */
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

    /** {@return offset of the next frame} */
    long offset() {
        return offset;
    }

    /** {@return end of the file's part in memory, whose records may have been sent} */
    long handedOffset() {
        return loadedOffset + loadedBytes;
    }

    boolean isAtEnd() {
        return offset >= segment.lengthBytes;
    }

    boolean hasRecord() {
        return hasRecord;
    }

    /** {@return records consumed but not released} */
    long unreleased() {
        return unreleased;
    }

    /** Goes to the start of a file; skips records that end at or before an offset. */
    void begin(final SpoolSegment next, final long fromOffset) {
        segment = next;
        offset = SpoolLayout.HEADER_LENGTH_BYTES;
        skipToOffset = fromOffset;
        loadedBytes = 0;
        CloseHelper.quietClose(left);
        left = null;
        readTemplates.clear();
        sendable.clear();
    }

    /** Goes to the end of the current file. */
    void skipRest() {
        offset = segment.lengthBytes;
    }

    /** Goes to the end of a file that was read completely. */
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

    /** Reads consumed but unreleased records again. */
    void rewind() {
        left = segment == null ? left : segment;
        unreleased = 0;
        leave();
    }

    /** Marks the current record as consumed. */
    void consume() {
        hasRecord = false;
        segment.readRecords++;
        unreleased++;
    }

    void onReleased() {
        unreleased--;
    }

    /** {@return whether octets were read from the file since the last call} */
    boolean takeLoaded() {
        final boolean hadLoaded = hasLoaded;
        hasLoaded = false;
        return hadLoaded;
    }

    /** Reads a frame that is in memory. Returns false if none is there, or a damaged one. */
    boolean readLoaded() {
        if (segment == null || isAtEnd() || !isLoaded(SpoolLayout.FRAME_HEADER_LENGTH_BYTES)) {
            return false;
        }
        final int frame = (int)(offset - loadedOffset);
        final int payloadBytes = SpoolLayout.payloadBytes(buffer, frame);
        if (!isPossible(payloadBytes) || !isLoaded(SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes) ||
            !SpoolLayout.isSound(buffer, frame, segment.number)) {
            return false;
        }
        return SpoolLayout.kind(buffer, frame) == SpoolLayout.TEMPLATE_KIND ?
            onTemplate(frame, payloadBytes) : onRecord(frame, payloadBytes);
    }

    private static boolean isPossible(final int payloadBytes) {
        return payloadBytes >= Integer.BYTES && payloadBytes <= SpoolLayout.MAX_PAYLOAD_BYTES;
    }

    private boolean isLoaded(final int neededBytes) {
        return offset >= loadedOffset && offset + neededBytes <= loadedOffset + loadedBytes;
    }

    /**
     * Reads a frame, not at the end of the file.
     *
     * @return false if this frame is damaged, and so the rest of the file.
     * @throws IOException if the file cannot be read now; a retry is possible.
     */
    boolean readFrame() throws IOException {
        if (!load(SpoolLayout.FRAME_HEADER_LENGTH_BYTES)) {
            return false;
        }
        final int payloadBytes = SpoolLayout.payloadBytes(buffer, (int)(offset - loadedOffset));
        return isPossible(payloadBytes) && load(SpoolLayout.FRAME_HEADER_LENGTH_BYTES + payloadBytes) && readLoaded();
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

    /** Loads so many octets from the offset on; false if the file is shorter. */
    private boolean load(final int neededBytes) throws IOException {
        if (isLoaded(neededBytes)) {
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

    /** {@return the template of the current record, or null if the session cannot send it} */
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

    /** {@return offset of the current record in {@link #buffer()}} */
    int recordOffset() {
        return recordFrame + SpoolLayout.FRAME_HEADER_LENGTH_BYTES + SpoolLayout.RECORD_OFFSET;
    }

    int recordLengthBytes() {
        return recordTemplate.recordLengthBytes();
    }

    /** {@return packets counted by the current record} */
    long recordPackets() {
        return recordTemplate.packets(buffer, recordOffset());
    }

    /** {@return octets counted by the current record} */
    long recordOctets() {
        return recordTemplate.octets(buffer, recordOffset());
    }
}
