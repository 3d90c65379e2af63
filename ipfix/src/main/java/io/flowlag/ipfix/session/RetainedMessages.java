package io.flowlag.ipfix.session;

import io.flowlag.ipfix.message.MessageHeader;
import io.flowlag.ipfix.message.SetHeader;
import io.flowlag.ipfix.message.VariableLength;
import io.flowlag.ipfix.template.FieldSpecifier;
import io.flowlag.ipfix.template.Template;
import org.agrona.BufferUtil;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/**
 * Copies of the messages that a transport accepted and has not delivered, oldest first, so that their records can be returned
 * when the connection breaks. A bounded ring of octets; a message is never split. Used by one thread; allocates at construction,
 * frees at {@link #close}.
 */
final class RetainedMessages implements AutoCloseable {
    private final ByteBuffer octets;
    private final UnsafeBuffer buffer;
    private int capacityBytes;
    private final int[] offsets;
    private final int[] lengthsBytes;
    private final long[] endOctets;
    private long head;
    private long tail;
    private int position;

    /** Room for so many octets in so many messages, a power of two. */
    RetainedMessages(final int capacityBytes, final int capacityMessages) {
        this.capacityBytes = capacityBytes;
        octets = ByteBuffer.allocateDirect(capacityBytes);
        buffer = new UnsafeBuffer(octets);
        offsets = new int[capacityMessages];
        lengthsBytes = new int[capacityMessages];
        endOctets = new long[capacityMessages];
    }

    boolean hasRoom(final int lengthBytes) {
        return tail - head < offsets.length && place(lengthBytes) >= 0;
    }

    /** Keeps a message that ends at an octet of the connection; there must be room. */
    void add(final DirectBuffer message, final int lengthBytes, final long messageEndOctets) {
        final int offset = place(lengthBytes);
        buffer.putBytes(offset, message, 0, lengthBytes);
        final int index = index(tail++);
        offsets[index] = offset;
        lengthsBytes[index] = lengthBytes;
        endOctets[index] = messageEndOctets;
        position = offset + lengthBytes;
    }

    /** Drops the messages that end within the delivered octets. */
    void onDelivered(final long deliveredOctets) {
        while (head < tail && endOctets[index(head)] <= deliveredOctets) {
            head++;
        }
    }

    /** Passes on every kept flow record, oldest first. */
    void forEach(final ActiveTemplates templates, final UnsentRecords handler) {
        for (long i = head; i < tail; i++) {
            forEach(buffer, offsets[index(i)], lengthsBytes[index(i)], templates, handler);
        }
    }

    void clear() {
        head = tail;
    }

    /** Frees its memory at once, which the garbage collector may not do for weeks; nothing is kept, and nothing fits. */
    @Override
    public void close() {
        clear();
        if (capacityBytes > 0) {
            capacityBytes = 0;
            buffer.wrap(new byte[0]);
            BufferUtil.free(octets);
        }
    }

    /** Position at which a message fits, or negative; the first free octet never becomes the oldest used one. */
    private int place(final int lengthBytes) {
        if (head == tail) {
            return lengthBytes <= capacityBytes ? 0 : -1;
        }
        final int oldest = offsets[index(head)];
        if (position <= oldest) {
            return oldest - position > lengthBytes ? position : -1;
        }
        if (capacityBytes - position >= lengthBytes) {
            return position;
        }
        return oldest > lengthBytes ? 0 : -1;
    }

    private int index(final long sequence) {
        return (int)sequence & offsets.length - 1;
    }

    /** Passes on every flow record in a message of this process. */
    static void forEach(
        final DirectBuffer message, final int messageOffset, final int lengthBytes, final ActiveTemplates templates,
        final UnsentRecords handler) {
        final int end = messageOffset + lengthBytes;
        int set = messageOffset + MessageHeader.LENGTH_BYTES;
        while (set < end) {
            final int setEnd = set + SetHeader.setLengthBytes(message, set);
            final int setId = SetHeader.setId(message, set);
            final Template template = setId < Template.MIN_TEMPLATE_ID ? null : templates.find(setId);
            if (template != null && !template.isOptions()) {
                forEachInSet(message, set + SetHeader.LENGTH_BYTES, setEnd, template, handler);
            }
            set = setEnd;
        }
    }

    private static void forEachInSet(
        final DirectBuffer message, final int begin, final int end, final Template template, final UnsentRecords handler) {
        int record = begin;
        while (end - record >= template.minLengthBytes()) {
            final int lengthBytes = recordLengthBytes(message, record, template);
            handler.onUnsent(template, message, record, lengthBytes);
            record += lengthBytes;
        }
    }

    private static int recordLengthBytes(final DirectBuffer message, final int record, final Template template) {
        if (!template.isVariableLength()) {
            return template.recordLengthBytes();
        }
        int at = record;
        for (int i = 0; i < template.fieldCount(); i++) {
            final FieldSpecifier field = template.field(i);
            if (field.isVariableLength()) {
                final int first = message.getByte(at) & 0xFF;
                at += first < VariableLength.LONG_FORM ? Byte.BYTES + first :
                    Byte.BYTES + Short.BYTES + (message.getShort(at + Byte.BYTES, ByteOrder.BIG_ENDIAN) & 0xFFFF);
            } else {
                at += field.lengthBytes();
            }
        }
        return at - record;
    }
}
