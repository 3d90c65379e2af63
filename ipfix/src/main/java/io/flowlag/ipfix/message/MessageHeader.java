package io.flowlag.ipfix.message;

import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * The Message Header (RFC 7011 section 3.1).
 * <pre>
 *   0                   1                   2                   3
 *   0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
 *  +-------------------------------+-------------------------------+
 *  |        Version Number         |            Length             |
 *  +-------------------------------+-------------------------------+
 *  |                     Export Time (seconds)                     |
 *  +---------------------------------------------------------------+
 *  |                        Sequence Number                        |
 *  +---------------------------------------------------------------+
 *  |                     Observation Domain ID                     |
 *  +---------------------------------------------------------------+
 * </pre>
 * Static access to a header in the caller's buffer; any thread that owns the buffer may call it. Allocates nothing.
 */
public final class MessageHeader {
    /** The version number of IPFIX. */
    public static final int VERSION = 0x000a;
    /** The longest message that the Length field can express. */
    public static final int MAX_MESSAGE_BYTES = 65535;

    private static final int VERSION_OFFSET = 0;
    private static final int LENGTH_OFFSET = VERSION_OFFSET + Short.BYTES;
    private static final int EXPORT_TIME_OFFSET = LENGTH_OFFSET + Short.BYTES;
    private static final int SEQUENCE_OFFSET = EXPORT_TIME_OFFSET + Integer.BYTES;
    private static final int DOMAIN_OFFSET = SEQUENCE_OFFSET + Integer.BYTES;
    /** Octets of the header. */
    public static final int LENGTH_BYTES = DOMAIN_OFFSET + Integer.BYTES;

    private MessageHeader() {
    }

    /**
     * Writes a whole header.
     *
     * @param exportTimeSeconds   since the UNIX epoch, modulo 2^32.
     * @param sequenceNumber      Data Records sent before in this session, modulo 2^32.
     * @param observationDomainId unsigned.
     */
    public static void put(
        final MutableDirectBuffer buffer, final int offset, final int messageLengthBytes, final long exportTimeSeconds,
        final long sequenceNumber, final int observationDomainId) {
        buffer.putShort(offset + VERSION_OFFSET, (short)VERSION, BIG_ENDIAN);
        buffer.putShort(offset + LENGTH_OFFSET, (short)messageLengthBytes, BIG_ENDIAN);
        buffer.putInt(offset + EXPORT_TIME_OFFSET, (int)exportTimeSeconds, BIG_ENDIAN);
        buffer.putInt(offset + SEQUENCE_OFFSET, (int)sequenceNumber, BIG_ENDIAN);
        buffer.putInt(offset + DOMAIN_OFFSET, observationDomainId, BIG_ENDIAN);
    }

    /** Reads the version number. Returns {@link #VERSION} in a message of IPFIX. */
    public static int version(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + VERSION_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    /** Reads the length of the message. Returns octets, with the header. */
    public static int messageLengthBytes(final DirectBuffer buffer, final int offset) {
        return buffer.getShort(offset + LENGTH_OFFSET, BIG_ENDIAN) & 0xFFFF;
    }

    /** Reads the Export Time. Returns seconds since the UNIX epoch, modulo 2^32. */
    public static long exportTimeSeconds(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + EXPORT_TIME_OFFSET, BIG_ENDIAN) & 0xFFFF_FFFFL;
    }

    /** Reads the sequence number. Returns Data Records sent before in this session, modulo 2^32. */
    public static long sequenceNumber(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + SEQUENCE_OFFSET, BIG_ENDIAN) & 0xFFFF_FFFFL;
    }

    /** Reads the Observation Domain. Returns its id; unsigned. */
    public static int observationDomainId(final DirectBuffer buffer, final int offset) {
        return buffer.getInt(offset + DOMAIN_OFFSET, BIG_ENDIAN);
    }
}
