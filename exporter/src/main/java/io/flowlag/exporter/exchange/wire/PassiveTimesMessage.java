package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * PASSIVE_TIMES: when regular packets that stand in for references passed the sender point; not part of an interval.
 * <pre>
 *   0  firstIndex   8   of the first entry, counted over the sender's run with those of SEND_TIMES: a gap is a loss
 *   8  count        4   1-{@value #MAX_COUNT}
 *  12  method       1   of all entries, as in SEND_TIMES
 *  13  reserved     3   0
 *  16  baseNs       8   since the epoch, signed
 *  24  entries          8 each
 *
 * entry: the last {@value #DIGEST_BITS} bits of the packet digest * 2^{@value #DISTANCE_BITS} + ns since the entry before, the
 * first since baseNs, signed, modulo 2^{@value #DISTANCE_BITS}
 * </pre>
 */
public final class PassiveTimesMessage extends MessageFlyweight<PassiveTimesMessage> {
    public static final int MAX_COUNT = 1024;
    /** So many bits of a digest tell packets apart that are under way. */
    static final int DIGEST_BITS = 40;
    private static final int DISTANCE_BITS = Long.SIZE - DIGEST_BITS;
    private static final int FIRST_OFFSET = 0;
    private static final int COUNT_OFFSET = FIRST_OFFSET + 8;
    private static final int METHOD_OFFSET = COUNT_OFFSET + 4;
    private static final int RESERVED_OFFSET = METHOD_OFFSET + 1;
    private static final int BASE_OFFSET = RESERVED_OFFSET + 3;
    private static final int ENTRIES_OFFSET = BASE_OFFSET + 8;
    private static final int ENTRY_BYTES = 8;
    private static final int LAST_METHOD = 3;
    /** The longest message with its trailer. */
    public static final int MAX_BYTES =
        ExchangeHeader.LENGTH_BYTES + ENTRIES_OFFSET + MAX_COUNT * ENTRY_BYTES + ExchangeHeader.TRAILER_BYTES;

    /** {@return what is left of a digest} */
    public static long shortDigest(final long digest) {
        return digest & (1L << DIGEST_BITS) - 1;
    }

    /** {@return whether an entry can tell a time that follows, or precedes, another by so much} */
    public static boolean isNear(final long distanceNs) {
        return distanceNs << DIGEST_BITS >> DIGEST_BITS == distanceNs;
    }

    /** Writes one entry of a message at the buffer's begin that {@link #encode} closes. */
    public static void encodeEntry(
        final MutableDirectBuffer buffer, final int index, final long digest, final long distanceNs) {
        buffer.putLong(ExchangeHeader.LENGTH_BYTES + entry(index),
            digest << DISTANCE_BITS | distanceNs & (1L << DISTANCE_BITS) - 1, BYTE_ORDER);
    }

    /** Writes a message without its trailer. Returns its length in octets. */
    public static int encode(
        final MutableDirectBuffer buffer, final long firstIndex, final int count, final int method, final long baseNs) {
        final int body = ExchangeHeader.LENGTH_BYTES;
        buffer.putLong(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        buffer.putInt(body + COUNT_OFFSET, count, BYTE_ORDER);
        buffer.putInt(body + METHOD_OFFSET, method, BYTE_ORDER);
        buffer.putLong(body + BASE_OFFSET, baseNs, BYTE_ORDER);
        return ExchangeHeader.encode(buffer, 0, MessageType.PASSIVE_TIMES, entry(count));
    }

    static ExchangeResult verify(final DirectBuffer buffer, final int body, final int bodyBytes) {
        if (bodyBytes < ENTRIES_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int count = buffer.getInt(body + COUNT_OFFSET, BYTE_ORDER);
        if (!isWithin(count, 1, MAX_COUNT) || !SendTimesMessage.isIndex(buffer.getLong(body + FIRST_OFFSET, BYTE_ORDER))) {
            return ExchangeResult.COUNT;
        }
        if (entry(count) != bodyBytes) {
            return ExchangeResult.LENGTH;
        }
        if (!isZero(buffer, body + RESERVED_OFFSET, 3)) {
            return ExchangeResult.RESERVED;
        }
        final int method = buffer.getByte(body + METHOD_OFFSET);
        return method < 1 || method > LAST_METHOD ? ExchangeResult.VALUE : ExchangeResult.ACCEPTED;
    }

    public long firstIndex() {
        return longInteger(FIRST_OFFSET);
    }

    public int count() {
        return integer(COUNT_OFFSET);
    }

    public int method() {
        return octet(METHOD_OFFSET);
    }

    public long baseNs() {
        return longInteger(BASE_OFFSET);
    }

    /** {@return the last bits of a packet's digest} */
    public long digest(final int index) {
        return longInteger(entry(index)) >>> DISTANCE_BITS;
    }

    /** {@return ns since the entry before, or since {@link #baseNs}} */
    public long distanceNs(final int index) {
        return longInteger(entry(index)) << DIGEST_BITS >> DIGEST_BITS;
    }

    private static int entry(final int index) {
        return ENTRIES_OFFSET + index * ENTRY_BYTES;
    }
}
