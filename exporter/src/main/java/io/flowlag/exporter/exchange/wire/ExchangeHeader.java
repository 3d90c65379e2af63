package io.flowlag.exporter.exchange.wire;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import java.nio.ByteOrder;

/**
 * What every message begins with, little-endian like all of the exchange.
 * <pre>
 *   0  magic       4   "FLGX" as octets
 *   4  version     1   5; 4 is taken from senders too
 *   5  type        1   {@link MessageType}
 *   6  flags       2   bit 0: a trailer of 16 octets authenticates the message
 *   8  length      4   of the whole message in octets, header and trailer included
 *  12  reserved    4   0
 *  16  body
 * </pre>
 * Stateless, any thread; allocates never.
 */
public final class ExchangeHeader {
    static final ByteOrder BYTE_ORDER = ByteOrder.LITTLE_ENDIAN;
    public static final int LENGTH_BYTES = 16;
    public static final int TRAILER_BYTES = 16;
    static final int MAGIC = 'F' | 'L' << 8 | 'G' << 16 | 'X' << 24;
    public static final int VERSION = 5;
    /**
     * Version that a receiver still accepts from senders, for upgrades host by host; its HELLO has this version, so that they can
     * read it.
     */
    public static final int OLDEST_VERSION = 4;
    static final int FLAG_AUTHENTICATED = 1;
    /** Longest message; longer lists are split. */
    public static final int MAX_MESSAGE_BYTES = 64 * 1024;
    /** Limit of a list or a chunk of cells in one message. */
    static final int MAX_PAYLOAD_BYTES = 32 * 1024;
    public static final int VERSION_OFFSET = 4;
    static final int TYPE_OFFSET = VERSION_OFFSET + 1;
    static final int FLAGS_OFFSET = TYPE_OFFSET + 1;
    public static final int LENGTH_OFFSET = FLAGS_OFFSET + 2;
    static final int RESERVED_OFFSET = LENGTH_OFFSET + 4;

    private ExchangeHeader() {
    }

    /** Writes a header and returns the length of the message. */
    public static int encode(final MutableDirectBuffer buffer, final int offset, final MessageType type, final int bodyBytes) {
        final int lengthBytes = LENGTH_BYTES + bodyBytes;
        buffer.putInt(offset, MAGIC, BYTE_ORDER);
        buffer.putByte(offset + VERSION_OFFSET, (byte)VERSION);
        buffer.putByte(offset + TYPE_OFFSET, (byte)type.code());
        buffer.putShort(offset + FLAGS_OFFSET, (short)0, BYTE_ORDER);
        buffer.putInt(offset + LENGTH_OFFSET, lengthBytes, BYTE_ORDER);
        buffer.putInt(offset + RESERVED_OFFSET, 0, BYTE_ORDER);
        return lengthBytes;
    }

    /** Adds room for a trailer to a message, and returns the new length. */
    public static int addTrailer(final MutableDirectBuffer buffer, final int offset, final int bareBytes) {
        buffer.putShort(offset + FLAGS_OFFSET, (short)FLAG_AUTHENTICATED, BYTE_ORDER);
        buffer.putInt(offset + LENGTH_OFFSET, bareBytes + TRAILER_BYTES, BYTE_ORDER);
        return bareBytes + TRAILER_BYTES;
    }

    public static MessageType type(final DirectBuffer buffer, final int offset) {
        return MessageType.of(buffer.getByte(offset + TYPE_OFFSET) & 0xff);
    }

    public static int version(final DirectBuffer buffer, final int offset) {
        return buffer.getByte(offset + VERSION_OFFSET) & 0xff;
    }

    public static void version(final MutableDirectBuffer buffer, final int offset, final int version) {
        buffer.putByte(offset + VERSION_OFFSET, (byte)version);
    }

    static int flags(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + FLAGS_OFFSET, BYTE_ORDER) & 0xffff;
    }

    public static boolean isAuthenticated(final DirectBuffer buffer, final int offset) {
        return (flags(buffer, offset) & FLAG_AUTHENTICATED) != 0;
    }

    public static int lengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + LENGTH_OFFSET, BYTE_ORDER);
    }

    static int bodyBytes(final DirectBuffer buffer, final int offset) {
        return lengthBytes(buffer, offset) - LENGTH_BYTES - (isAuthenticated(buffer, offset) ? TRAILER_BYTES : 0);
    }
}
