package io.flowlag.ipfix.session;

import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.message.TemplateRecordEncoder;
import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * One message under construction (RFC 7011 section 3.3): Template Sets, then Data Sets, one kind of record in each. Zero octets
 * between two Data Sets align the next to a multiple of four, if they are fewer than any record of the Set has (section 3.3.1).
 * Template Sets are not padded. Used by one thread; allocates at construction.
 */
final class MessageBuilder {
    static final int NO_ROOM = -1;

    private static final int ALIGNMENT_BYTES = 4;
    private static final int NO_SET = -1;
    private static final int NEVER_PADDED = 0;

    private final UnsafeBuffer buffer;
    private final int limit;
    private int position = MessageHeader.LENGTH_BYTES;
    private int setOffset = NO_SET;
    private int setId;
    private int shortestRecordBytes;
    private int claimedSetOffset;
    private int claimedOffset;

    /** An empty message; a trailer is kept free at its end. */
    MessageBuilder(final int maxMessageBytes, final int trailerBytes) {
        buffer = new UnsafeBuffer(BufferUtil.allocateDirectAligned(maxMessageBytes, CACHE_LINE_LENGTH));
        limit = maxMessageBytes - trailerBytes;
    }

    UnsafeBuffer buffer() {
        return buffer;
    }

    int lengthBytes() {
        return position;
    }

    boolean isEmpty() {
        return position == MessageHeader.LENGTH_BYTES;
    }

    /** The longest record that fits an otherwise empty message. */
    int maxRecordBytes() {
        return limit - MessageHeader.LENGTH_BYTES - SetHeader.LENGTH_BYTES;
    }

    void clear() {
        position = MessageHeader.LENGTH_BYTES;
        setOffset = NO_SET;
    }

    /** Adds a template if this many octets are left after it; Template Sets come before all others in a message. */
    boolean offer(final Template template, final int reserveBytes) {
        final int id = template.isOptions() ? SetHeader.OPTIONS_TEMPLATE_SET_ID : SetHeader.TEMPLATE_SET_ID;
        final boolean opensSet = setOffset == NO_SET || setId != id || template.isOptions();
        final int headerBytes = opensSet ? SetHeader.LENGTH_BYTES : 0;
        if (position + headerBytes + TemplateRecordEncoder.lengthBytes(template) + reserveBytes > limit) {
            return false;
        }
        if (opensSet) {
            closeSet();
            openSet(position, id, NEVER_PADDED);
        }
        position += TemplateRecordEncoder.put(buffer, position, template);
        return true;
    }

    /** Finds room for a record; nothing changes before {@link #commit}. */
    int claim(final Template template, final int lengthBytes) {
        if (setOffset != NO_SET && setId == template.templateId()) {
            claimedSetOffset = setOffset;
            claimedOffset = position;
        } else {
            claimedSetOffset = position + paddingBytes();
            claimedOffset = claimedSetOffset + SetHeader.LENGTH_BYTES;
        }
        return claimedOffset + lengthBytes <= limit ? claimedOffset : NO_ROOM;
    }

    void commit(final Template template, final int lengthBytes) {
        if (claimedSetOffset != setOffset) {
            pad(claimedSetOffset);
            closeSet();
            openSet(claimedSetOffset, template.templateId(), template.minLengthBytes());
        }
        position = claimedOffset + lengthBytes;
    }

    /** Writes all lengths; may be repeated, and more records may follow. */
    void finish(
        final int lengthBytes, final long exportTimeSeconds, final long sequenceNumber, final int observationDomainId) {
        closeSet();
        MessageHeader.put(buffer, 0, lengthBytes, exportTimeSeconds, sequenceNumber, observationDomainId);
    }

    private int paddingBytes() {
        final int paddingBytes = -position & ALIGNMENT_BYTES - 1;
        return setOffset == NO_SET || paddingBytes >= shortestRecordBytes ? 0 : paddingBytes;
    }

    private void pad(final int end) {
        while (position < end) {
            buffer.putByte(position++, (byte)0);
        }
    }

    private void openSet(final int offset, final int id, final int newShortestRecordBytes) {
        setOffset = offset;
        setId = id;
        shortestRecordBytes = newShortestRecordBytes;
        position = offset + SetHeader.LENGTH_BYTES;
    }

    private void closeSet() {
        if (setOffset != NO_SET) {
            SetHeader.put(buffer, setOffset, setId, position - setOffset);
        }
    }
}
