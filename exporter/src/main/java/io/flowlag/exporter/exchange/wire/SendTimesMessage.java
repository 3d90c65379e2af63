package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * SEND_TIMES: effective send times of references, as soon as they are known; not part of an interval.
 * <pre>
 *   0  firstIndex   8   of the first entry, counted over the sender's run, to 2^48: a gap is a loss
 *   8  count        4   1-{@value #MAX_COUNT}
 *  12  reserved     4   0
 *  16  entries          24 each
 *
 * entry
 *   0  key          8   kind 1: stream * 2^32 + sequence number, both unsigned; kind 2: packet digest
 *   8  sentNs       8   since the epoch, signed
 *  16  kind         1   1 injected reference, 2 regular packet as passive reference
 *  17  method       1   STAMP timestamping method (RFC 8972 section 5.5): 1-3
 *  18  reserved     6   0
 * </pre>
 */
public final class SendTimesMessage extends MessageFlyweight<SendTimesMessage> {
    public static final int INJECTED = 1;
    public static final int PASSIVE = 2;
    public static final int MAX_COUNT = 1024;
    private static final int FIRST_OFFSET = 0;
    private static final int COUNT_OFFSET = FIRST_OFFSET + 8;
    private static final int RESERVED_OFFSET = COUNT_OFFSET + 4;
    private static final int ENTRIES_OFFSET = RESERVED_OFFSET + 4;
    private static final int ENTRY_KEY_OFFSET = 0;
    private static final int ENTRY_SENT_OFFSET = ENTRY_KEY_OFFSET + 8;
    private static final int ENTRY_KIND_OFFSET = ENTRY_SENT_OFFSET + 8;
    private static final int ENTRY_METHOD_OFFSET = ENTRY_KIND_OFFSET + 1;
    private static final int ENTRY_RESERVED_OFFSET = ENTRY_METHOD_OFFSET + 1;
    private static final int ENTRY_BYTES = ENTRY_RESERVED_OFFSET + 6;
    private static final int LAST_METHOD = 3;
    /** Of an entry: a million references a second for nine years. */
    private static final long MAX_INDEX = 1L << 48;

    /** Writes one entry of a message at the buffer's begin that {@link #encode} closes. */
    public static void encodeEntry(
        final MutableDirectBuffer buffer, final int index, final int kind, final long key, final long sentNs, final int method) {
        final int entry = ExchangeHeader.LENGTH_BYTES + entry(index);
        buffer.putLong(entry + ENTRY_KEY_OFFSET, key, BYTE_ORDER);
        buffer.putLong(entry + ENTRY_SENT_OFFSET, sentNs, BYTE_ORDER);
        buffer.setMemory(entry + ENTRY_KIND_OFFSET, ENTRY_BYTES - ENTRY_KIND_OFFSET, (byte)0);
        buffer.putByte(entry + ENTRY_KIND_OFFSET, (byte)kind);
        buffer.putByte(entry + ENTRY_METHOD_OFFSET, (byte)method);
    }

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(final MutableDirectBuffer buffer, final long firstIndex, final int count) {
        final int body = ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        buffer.putInt(body + COUNT_OFFSET, count, BYTE_ORDER);
        buffer.putInt(body + RESERVED_OFFSET, 0, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, 0, MessageType.SEND_TIMES, entry(count));
    }

    /** Whether a sender can have counted so far. */
    static boolean isIndex(final long index) {
        return index >= 0 && index <= MAX_INDEX;
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < ENTRIES_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int count = buffer.getInt(body + COUNT_OFFSET, BYTE_ORDER);
        if (!isWithin(count, 1, MAX_COUNT) || !isIndex(buffer.getLong(body + FIRST_OFFSET, BYTE_ORDER))) {
            return ExchangeResult.COUNT;
        }
        if (entry(count) != bodyBytes) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 4)) {
            return ExchangeResult.RESERVED;
        }
        for (int entry = body + ENTRIES_OFFSET; entry < body + bodyBytes; entry += ENTRY_BYTES) {
            final int method = buffer.getByte(entry + ENTRY_METHOD_OFFSET);
            if (isNeither(buffer, entry + ENTRY_KIND_OFFSET, INJECTED, PASSIVE) || method < 1 || method > LAST_METHOD) {
                return ExchangeResult.VALUE;
            }
            if (!isZero(buffer, entry + ENTRY_RESERVED_OFFSET, 6)) {
                return ExchangeResult.RESERVED;
            }
        }
        return ExchangeResult.ACCEPTED;
    }

    public long firstIndex() {
        return longInteger(FIRST_OFFSET);
    }

    public int count() {
        return integer(COUNT_OFFSET);
    }

    public int kind(final int index) {
        return octet(entry(index) + ENTRY_KIND_OFFSET);
    }

    public int method(final int index) {
        return octet(entry(index) + ENTRY_METHOD_OFFSET);
    }

    public long key(final int index) {
        return longInteger(entry(index) + ENTRY_KEY_OFFSET);
    }

    public long sentNs(final int index) {
        return longInteger(entry(index) + ENTRY_SENT_OFFSET);
    }

    private static int entry(final int index) {
        return ENTRIES_OFFSET + index * ENTRY_BYTES;
    }
}
