package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static io.flowlag.exporter.exchange.wire.ExchangeHeader.BYTE_ORDER;

/**
 * A piece of one of an interval's lists. IN_FLIGHT: digests of packets that the sender sent in the last W of the interval, and
 * that may arrive after its end. FLOW_SUMS: all flows of the interval. WITNESS: a sample of them, chosen by flow hash.
 * <pre>
 *   0  intervalNumber   8   signed
 *   8  firstIndex       4   of the first entry within the interval's list
 *  12  count            4   1-{@value #MAX_DIGESTS} digests, 1-{@value #MAX_FLOWS} flows
 *  16  entries              8 for each digest, 72 for each flow: {@link FlowSum}
 * </pre>
 */
public final class IntervalListMessage extends MessageFlyweight<IntervalListMessage> {
    /** Octets of a digest. */
    public static final int DIGEST_BYTES = 8;
    static final int MAX_DIGESTS = ExchangeHeader.MAX_PAYLOAD_BYTES / DIGEST_BYTES;
    static final int MAX_FLOWS = ExchangeHeader.MAX_PAYLOAD_BYTES / FlowSum.LENGTH_BYTES;
    private static final int NUMBER_OFFSET = 0;
    private static final int FIRST_OFFSET = NUMBER_OFFSET + 8;
    private static final int COUNT_OFFSET = FIRST_OFFSET + 4;
    private static final int ENTRIES_OFFSET = COUNT_OFFSET + 4;

    /**
     * Writes the piece of a list that begins at an entry.
     *
     * @param list all entries, and nothing else.
     */
    public static int encode(
        final MutableDirectBuffer buffer, final int offset, final MessageType type, final long intervalNumber,
        final DirectBuffer list, final int firstIndex) {
        final int body = offset + ExchangeHeader.LENGTH_BYTES;
        final int entryBytes = entryBytes(type);
        final int count = Math.min(mostEntries(type), list.capacity() / entryBytes - firstIndex);
        buffer.putLong(body + NUMBER_OFFSET, intervalNumber, BYTE_ORDER);
        buffer.putInt(body + FIRST_OFFSET, firstIndex, BYTE_ORDER);
        buffer.putInt(body + COUNT_OFFSET, count, BYTE_ORDER);
        buffer.putBytes(body + ENTRIES_OFFSET, list, firstIndex * entryBytes, count * entryBytes);
        return ExchangeHeader.encode(buffer, offset, type, ENTRIES_OFFSET + count * entryBytes);
    }

    /** Writes a digest of a list at the buffer's begin. */
    public static void encodeDigest(final MutableDirectBuffer buffer, final int index, final long digest) {
        buffer.putLong(index * DIGEST_BYTES, digest, BYTE_ORDER);
    }

    /** {@return octets of an entry of a list} */
    public static int entryBytes(final MessageType type) {
        return type == MessageType.IN_FLIGHT ? DIGEST_BYTES : FlowSum.LENGTH_BYTES;
    }

    /** {@return most entries of one message} */
    public static int mostEntries(final MessageType type) {
        return type == MessageType.IN_FLIGHT ? MAX_DIGESTS : MAX_FLOWS;
    }

    static ExchangeResult verifyDigests(final DirectBuffer buffer, final int body, final int bodyBytes) {
        return verify(buffer, body, bodyBytes, MessageType.IN_FLIGHT);
    }

    static ExchangeResult verifyFlows(final DirectBuffer buffer, final int body, final int bodyBytes) {
        ExchangeResult result = verify(buffer, body, bodyBytes, MessageType.FLOW_SUMS);
        for (int at = ENTRIES_OFFSET; result == ExchangeResult.ACCEPTED && at < bodyBytes; at += FlowSum.LENGTH_BYTES) {
            result = FlowSum.verify(buffer, body + at);
        }
        return result;
    }

    private static ExchangeResult verify(
        final DirectBuffer buffer, final int body, final int bodyBytes, final MessageType type) {
        if (bodyBytes < ENTRIES_OFFSET) {
            return ExchangeResult.LENGTH;
        }
        final int count = buffer.getInt(body + COUNT_OFFSET, BYTE_ORDER);
        if (!isWithin(count, 1, mostEntries(type)) || buffer.getInt(body + FIRST_OFFSET, BYTE_ORDER) < 0) {
            return ExchangeResult.COUNT;
        }
        return ENTRIES_OFFSET + count * entryBytes(type) == bodyBytes ? ExchangeResult.ACCEPTED : ExchangeResult.LENGTH;
    }

    public long intervalNumber() {
        return longInteger(NUMBER_OFFSET);
    }

    public int firstIndex() {
        return integer(FIRST_OFFSET);
    }

    public int count() {
        return integer(COUNT_OFFSET);
    }

    /** {@return a digest of IN_FLIGHT} */
    public long digest(final int index) {
        return longInteger(ENTRIES_OFFSET + index * DIGEST_BYTES);
    }

    /** {@return a flow of FLOW_SUMS or WITNESS, wrapped} */
    public FlowSum flow(final int index, final FlowSum flow) {
        return flow.wrap(body(), ENTRIES_OFFSET + index * FlowSum.LENGTH_BYTES);
    }
}
