package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * Walks the packets of one capture, through any kind of window. {@link #next()} moves to the next packet; the accessors then
 * return its fields, and its octets are valid until the next move. One thread owns a reader; the reader owns its window. Never
 * allocates per packet.
 * <p>
 * A capture ends at an impossible record: {@link #next()} returns false, and {@link #damage()} has the reason and the position.
 */
abstract class CaptureReader extends CapturedPacket implements AutoCloseable {
    /** The most octets of one packet that are accepted; libpcap's bound for the supported link types. */
    static final int MAX_CAPTURED_LENGTH_BYTES = 262_144;

    /** The input. */
    protected final ByteWindow window;
    /** Of the file's fields. */
    protected ByteOrder order = ByteOrder.BIG_ENDIAN;
    /** Position of the next octet to be read. */
    protected long position;

    private final String name;
    private long timestampClampedCount;
    private String damage;

    /** A reader at the start of its input, which has a name for messages; the window is closed with the reader. */
    protected CaptureReader(final String name, final ByteWindow window) {
        super(window.buffer(), 0, 0);
        this.name = name;
        this.window = window;
    }

    protected final int uint16(final DirectBuffer buffer, final int index) {
        return buffer.getShort(index, order) & 0xffff;
    }

    protected final int int32(final DirectBuffer buffer, final int index) {
        return buffer.getInt(index, order);
    }

    protected final long uint32(final DirectBuffer buffer, final int index) {
        return buffer.getInt(index, order) & 0xffff_ffffL;
    }

    /** {@return whether there is a further packet; it is then the current one} */
    abstract boolean next();

    /** {@return whether {@link #next()} need not wait for a writer} */
    final boolean isReady() {
        return window.isReady(position);
    }

    /** Counts the current packet if its time is at a bound, to which times beyond it are clamped. */
    protected final void countClampedTimestamp() {
        if (timestampNs == PacketSource.MAX_TIMESTAMP_NS || timestampNs == PacketSource.MIN_TIMESTAMP_NS) {
            timestampClampedCount++;
        }
    }

    /**
     * Ends the capture because of invalid octets at a position.
     *
     * @param atPosition of the octets that are wrong.
     * @param reason     what is wrong with them.
     * @return false, for {@link #next()} to return.
     */
    protected final boolean damagedAt(final long atPosition, final String reason) {
        if (damage == null) {
            damage = name + ": damaged at octet " + atPosition + ": " + reason;
        }
        return false;
    }

    /** Ends the capture because a piece of it is missing. Returns false, for {@link #next()} to return. */
    protected final boolean cutAt(final long atPosition, final String what, final long lengthBytes) {
        if (window.failure() != null) {
            return damagedAt(atPosition, window.failure());
        }
        final long thereBytes = Math.max(0, window.endPosition() - atPosition);
        return damagedAt(atPosition, what + " is cut: " + thereBytes + " of " + lengthBytes + " octets are there");
    }

    /**
     * Ends the capture at the end of the window: normally at a boundary, else as damage. Returns false, for {@link #next()} to
     * return.
     */
    protected final boolean endsAt(final String what, final int lengthBytes) {
        return window.failure() == null && window.endPosition() == position
            ? false
            : cutAt(position, what, lengthBytes);
    }

    /** A fault occurred while octets in view were read. Returns whether this capture caused it: then it has ended as damaged. */
    final boolean onMemoryFault() {
        return window.isCutBelowView() && !damagedAt(position, "the file was cut while it was read");
    }

    final String name() {
        return name;
    }

    final String damage() {
        return damage;
    }

    final boolean isDamaged() {
        return damage != null;
    }

    final long timestampClampedCount() {
        return timestampClampedCount;
    }

    final long consumedBytes() {
        return window.consumedBytes(position);
    }

    final long totalBytes() {
        return window.totalBytes();
    }

    @Override
    public final void close() {
        window.close();
    }
}
