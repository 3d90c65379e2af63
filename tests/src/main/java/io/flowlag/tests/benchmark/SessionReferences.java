package io.flowlag.tests.benchmark;

import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceEncoder;
import io.flowlag.rli.reference.TimestampMethod;
import org.agrona.MutableDirectBuffer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/**
 * Frames of reference packets of one session: Ethernet, IPv4 and UDP without checksums, which are never verified. One thread uses
 * an instance; it allocates at construction.
 */
public final class SessionReferences {
    /** The UDP port of references, the default of the program. */
    static final int PORT = 8620;

    private static final int HEADERS_BYTES = 42;
    private static final int IP_OFFSET = 14;
    private static final int UDP_OFFSET = 34;
    private static final int CLOCK_ERROR_NS = 1_000;

    private final ReferenceEncoder encoder = new ReferenceEncoder();
    private final int session;

    /** Frames of a session. */
    public SessionReferences(final int session) {
        this.session = session;
    }

    /** Writes a frame. Returns this, for {@link #followUp}, then {@link #end}. */
    public SessionReferences begin(
        final MutableDirectBuffer buffer, final int offset, final int sequenceNumber, final long sentNs) {
        encoder.wrap(buffer, offset + HEADERS_BYTES, false)
            .sequenceNumber(sequenceNumber)
            .stampNs(sentNs)
            .errorEstimate(ErrorEstimate.of(CLOCK_ERROR_NS, true))
            .ssid(session);
        return this;
    }

    /** Appends the send time of an earlier reference. */
    public SessionReferences followUp(final int sequenceNumber, final long sentNs) {
        encoder.followUp(sequenceNumber, sentNs, TimestampMethod.SOFTWARE_LOCAL);
        return this;
    }

    /**
     * Writes the headers.
     *
     * @param buffer as in {@link #begin}.
     * @param offset as in {@link #begin}.
     * @return octets of the frame.
     */
    public int end(final MutableDirectBuffer buffer, final int offset) {
        final int frameBytes = HEADERS_BYTES + encoder.encodedLength();
        putHeaders(buffer, offset, frameBytes);
        return frameBytes;
    }

    /** Writes headers alone. */
    static void putHeaders(final MutableDirectBuffer buffer, final int offset, final int frameBytes) {
        buffer.setMemory(offset, HEADERS_BYTES, (byte)0);
        buffer.putInt(offset + 12, 0x0800_4500, BIG_ENDIAN);
        buffer.putShort(offset + 16, (short)(frameBytes - IP_OFFSET), BIG_ENDIAN);
        buffer.putShort(offset + 22, (short)(64 << 8 | 17), BIG_ENDIAN);
        buffer.putInt(offset + 26, 0xC000_0201, BIG_ENDIAN);
        buffer.putInt(offset + 30, 0xC633_6401, BIG_ENDIAN);
        buffer.putShort(offset + UDP_OFFSET, (short)49_152, BIG_ENDIAN);
        buffer.putShort(offset + UDP_OFFSET + 2, (short)PORT, BIG_ENDIAN);
        buffer.putShort(offset + UDP_OFFSET + 4, (short)(frameBytes - UDP_OFFSET), BIG_ENDIAN);
    }
}
