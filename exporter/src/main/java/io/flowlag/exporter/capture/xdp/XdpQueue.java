package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.PacketSource;

/**
 * The packets of one receive queue: frames that go round between kernel and process, by way of a fill ring and a receive ring.
 * One thread; allocates at construction.
 * <p>
 * What the kernel writes into the rings is checked: a packet whose descriptors point outside of the frames or beyond one,
 * or have no end, whose stamp is no time, or that is empty, is refused and counted. So are all that a wrong index claims.
 * <pre>
 *   frame   free, stamp 8 (ns since 1970 by TAI, by the XDP program), octets of the packet
 * </pre>
 * A packet may be longer than a frame; its other frames count for its length only.
 */
final class XdpQueue {
    /** Length of the stamp that the XDP program puts in front of a packet. */
    static final int STAMP_LENGTH_BYTES = 8;

    private final CheckedBuffer frames;
    private final int firstFrame;
    private final int framesBytes;
    private final int frameBytes;
    private final XdpRing received;
    private final XdpRing fill;

    private int consumed;
    private int producer;
    private int filled;
    private int fillConsumer;
    /** Of the packet at hand; 0 if there is none. */
    private int descriptorCount;
    private boolean isTaken;
    private int offset;
    private int capturedLengthBytes;
    private int wireLengthBytes;
    private long stampNs;
    private long refusedCount;

    /**
     * A queue whose frames all belong to the process.
     *
     * @param frames      memory with the frames of this queue.
     * @param firstFrame  offset of its first frame.
     * @param framesBytes length of all its frames.
     * @param frameBytes  length of a frame, a power of two.
     * @param fill        with as many entries as there are frames, or more.
     */
    XdpQueue(
        final CheckedBuffer frames, final int firstFrame, final int framesBytes, final int frameBytes, final XdpRing received,
        final XdpRing fill) {
        this.frames = frames;
        this.firstFrame = firstFrame;
        this.framesBytes = framesBytes;
        this.frameBytes = frameBytes;
        this.received = received;
        this.fill = fill;
    }

    /** Gives all frames to the kernel; once. */
    void begin() {
        for (int frame = 0; frame < framesBytes; frame += frameBytes) {
            fill.putAddress(filled++, frame);
        }
        fill.publishProducer(filled);
    }

    /** Goes to the next packet, unless the one at hand was not taken. Returns whether there is one. */
    boolean advance() {
        if (isTaken) {
            giveBack();
        }
        while (descriptorCount == 0) {
            if (consumed == producer && !hasMore() || !position() && !hasMore()) {
                return false;
            }
        }
        return true;
    }

    /** Reads how far the kernel is. Returns whether it went on. */
    private boolean hasMore() {
        final int before = producer;
        producer = received.producer();
        if (producer - consumed < 0 || producer - consumed > received.entryCount()) {
            refusedCount++;
            consumed = producer;
            return false;
        }
        return producer != before;
    }

    /** Reads the descriptors of a packet. Returns false if some are still to come. */
    private boolean position() {
        final int available = producer - consumed;
        final long address = received.address(consumed);
        final int firstLengthBytes = received.lengthBytes(consumed);
        boolean isSound = isSound(address, firstLengthBytes, STAMP_LENGTH_BYTES + 1);
        boolean continues = received.continues(consumed);
        long lengthBytes = firstLengthBytes;
        int count = 1;
        while (continues && count < available) {
            final int length = received.lengthBytes(consumed + count);
            isSound &= isSound(received.address(consumed + count), length, 0);
            lengthBytes += length;
            continues = received.continues(consumed + count);
            count++;
        }
        if (continues && count < received.entryCount()) {
            return false;
        }
        descriptorCount = count;
        if (isSound && !continues && lengthBytes <= Integer.MAX_VALUE) {
            final int first = firstFrame + (int)address;
            offset = first + STAMP_LENGTH_BYTES;
            capturedLengthBytes = firstLengthBytes - STAMP_LENGTH_BYTES;
            wireLengthBytes = (int)lengthBytes - STAMP_LENGTH_BYTES;
            stampNs = frames.getLong(first);
            isSound = stampNs >= 0 && stampNs < PacketSource.MAX_TIMESTAMP_NS;
        }
        if (!isSound || continues) {
            refusedCount++;
            giveBack();
        }
        return true;
    }

    /** Whether octets are in the frames and within one. */
    private boolean isSound(final long address, final int lengthBytes, final int leastBytes) {
        return isInFrames(address) && lengthBytes >= leastBytes && (address & frameBytes - 1) + lengthBytes <= frameBytes;
    }

    private boolean isInFrames(final long address) {
        return address >= 0 && address < framesBytes;
    }

    /** Returns the frames of the packet at hand to the kernel, unless their addresses are wrong or there are too many. */
    private void giveBack() {
        for (int i = 0; i < descriptorCount; i++) {
            final long address = received.address(consumed + i);
            if (filled - fillConsumer >= fill.entryCount()) {
                fillConsumer = fill.consumer();
            }
            if (isInFrames(address) && filled - fillConsumer < fill.entryCount() && filled - fillConsumer >= 0) {
                fill.putAddress(filled++, address & -frameBytes);
            }
        }
        consumed += descriptorCount;
        descriptorCount = 0;
        isTaken = false;
    }

    /** The packet at hand goes to its reader; its frames go back to the kernel at the next {@link #advance}. */
    void take() {
        isTaken = true;
    }

    /** Lets the kernel have what was given back. Returns whether it waits to be told. */
    boolean publish() {
        fill.publishProducer(filled);
        received.publishConsumer(consumed);
        return fill.needsWakeUp();
    }

    /** {@return whether the kernel has no packet for the process, but for one that was taken} */
    boolean isEmpty() {
        return received.producer() == consumed + (isTaken ? descriptorCount : 0);
    }

    /** {@return where the first octet of the packet at hand is in the memory of the frames} */
    int offset() {
        return offset;
    }

    int capturedLengthBytes() {
        return capturedLengthBytes;
    }

    int wireLengthBytes() {
        return wireLengthBytes;
    }

    /** {@return when the XDP program saw the packet, ns since 1970 by TAI} */
    long stampNs() {
        return stampNs;
    }

    /** {@return packets whose descriptors or stamp were wrong, and wrong indices} */
    long refusedCount() {
        return refusedCount;
    }
}
