package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.memory.CheckedBuffer;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/** Rings and frames as the kernel shares them, in ordinary memory, and the kernel's side of them. */
final class XdpMemory {
    static final int FRAMES = 8;
    static final int FRAME_BYTES = 256;
    static final int FRAMES_BYTES = FRAMES * FRAME_BYTES;
    /** Of another queue, before the frames of this one. */
    static final int FIRST_FRAME = 512;
    static final int CONTINUES = 1;
    private static final int ENTRIES_OFFSET = 64;
    private static final int CONSUMER_OFFSET = 16;
    private static final int FLAGS_OFFSET = 32;

    private final List<ByteBuffer> kept = new ArrayList<>();
    final CheckedBuffer frames = memory(FIRST_FRAME + FRAMES_BYTES);
    final CheckedBuffer received = memory(ENTRIES_OFFSET + FRAMES * XdpRing.RECEIVE_ENTRY_LENGTH_BYTES);
    final CheckedBuffer fill = memory(ENTRIES_OFFSET + FRAMES * XdpRing.FILL_ENTRY_LENGTH_BYTES);
    final XdpQueue queue;
    private int filled;

    XdpMemory() {
        final UnsafeBuffer offsets = new UnsafeBuffer(new byte[XdpLayout.RING_OFFSETS_LENGTH_BYTES]);
        offsets.putLong(8, CONSUMER_OFFSET);
        offsets.putLong(16, ENTRIES_OFFSET);
        offsets.putLong(24, FLAGS_OFFSET);
        queue = new XdpQueue(frames, FIRST_FRAME, FRAMES_BYTES, FRAME_BYTES, new XdpRing(received, offsets, 0, FRAMES),
            new XdpRing(fill, offsets, 0, FRAMES));
    }

    private CheckedBuffer memory(final int lengthBytes) {
        final ByteBuffer memory = BufferUtil.allocateDirectAligned(lengthBytes, Long.BYTES);
        kept.add(memory);
        return new CheckedBuffer(BufferUtil.address(memory), lengthBytes);
    }

    /** Takes the address of a free frame, as the kernel does; -1 if there is none. */
    long takeFree() {
        if (filled == fill.getInt(0)) {
            return -1;
        }
        final long address = fill.getLong(ENTRIES_OFFSET + (filled++ & FRAMES - 1) * XdpRing.FILL_ENTRY_LENGTH_BYTES);
        fill.putInt(CONSUMER_OFFSET, filled);
        return address;
    }

    /** Says whether it must be woken for the fill ring. */
    void sleep(final boolean isAsleep) {
        fill.putInt(FLAGS_OFFSET, isAsleep ? XdpLayout.RING_NEED_WAKEUP : 0);
    }

    int freeCount() {
        return fill.getInt(0) - filled;
    }

    int received() {
        return received.getInt(0);
    }

    /** Writes a descriptor, and does not publish it. */
    void describe(final int index, final long address, final int lengthBytes, final int options) {
        final int entry = ENTRIES_OFFSET + (index & FRAMES - 1) * XdpRing.RECEIVE_ENTRY_LENGTH_BYTES;
        received.putLong(entry, address);
        received.putInt(entry + 8, lengthBytes);
        received.putInt(entry + 12, options);
    }

    void publish(final int producer) {
        received.putInt(0, producer);
    }

    /** Receives a packet with a stamp, by as many frames as it takes; publishes it. */
    void receive(final long stampNs, final int lengthBytes) {
        int left = lengthBytes + XdpQueue.STAMP_LENGTH_BYTES;
        int index = received();
        boolean isFirst = true;
        while (left > 0) {
            final long address = takeFree() + FRAME_BYTES / 4;
            final int here = Math.min(left, FRAME_BYTES * 3 / 4);
            if (isFirst) {
                frames.putLong(FIRST_FRAME + (int)address, stampNs);
            }
            left -= here;
            describe(index++, address, here, left > 0 ? CONTINUES : 0);
            isFirst = false;
        }
        publish(index);
    }
}
