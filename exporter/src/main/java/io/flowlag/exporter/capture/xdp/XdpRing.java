package io.flowlag.exporter.capture.xdp;

import io.flowlag.common.memory.CheckedBuffer;
import org.agrona.DirectBuffer;

import java.nio.ByteOrder;

/**
 * A ring that the kernel shares with the process: an index for each side, which runs freely, and entries, a power of two. A side
 * publishes its index with a release. One thread; allocates at construction.
 * <pre>
 *   entry of a fill ring     address 8
 *   entry of a receive ring  address 8, length 4, options 4
 * </pre>
 * An address counts from the first frame.
 */
final class XdpRing {
    static final int FILL_ENTRY_LENGTH_BYTES = 8;
    static final int RECEIVE_ENTRY_LENGTH_BYTES = 16;

    private static final int LENGTH_OFFSET = 8;
    private static final int OPTIONS_OFFSET = LENGTH_OFFSET + 4;
    /** The next descriptor has more octets of the packet. */
    private static final int OPTION_CONTINUES = 1;
    private static final ByteOrder ORDER = ByteOrder.nativeOrder();

    private final CheckedBuffer memory;
    private final int producerOffset;
    private final int consumerOffset;
    private final int entriesOffset;
    private final int flagsOffset;
    private final int entryCount;

    /**
     * A view of a ring.
     *
     * @param memory  that holds it.
     * @param offsets where its parts are in the memory, as the kernel gives them.
     * @param offset  of the first of them.
     */
    XdpRing(final CheckedBuffer memory, final DirectBuffer offsets, final int offset, final int entryCount) {
        this.memory = memory;
        producerOffset = (int)offsets.getLong(offset, ORDER);
        consumerOffset = (int)offsets.getLong(offset + 8, ORDER);
        entriesOffset = entriesOffset(offsets, offset);
        flagsOffset = (int)offsets.getLong(offset + 24, ORDER);
        this.entryCount = entryCount;
    }

    static int entriesOffset(final DirectBuffer offsets, final int offset) {
        return (int)offsets.getLong(offset + 16, ORDER);
    }

    int entryCount() {
        return entryCount;
    }

    int producer() {
        return memory.getIntVolatile(producerOffset);
    }

    int consumer() {
        return memory.getIntVolatile(consumerOffset);
    }

    void publishProducer(final int index) {
        memory.putIntRelease(producerOffset, index);
    }

    void publishConsumer(final int index) {
        memory.putIntRelease(consumerOffset, index);
    }

    /** {@return whether the kernel waits to be told of new entries} */
    boolean needsWakeUp() {
        return (memory.getIntVolatile(flagsOffset) & XdpLayout.RING_NEED_WAKEUP) != 0;
    }

    void putAddress(final int index, final long address) {
        memory.putLong(entriesOffset + (index & entryCount - 1) * FILL_ENTRY_LENGTH_BYTES, address, ORDER);
    }

    long address(final int index) {
        return memory.getLong(receiveEntry(index), ORDER);
    }

    int lengthBytes(final int index) {
        return memory.getInt(receiveEntry(index) + LENGTH_OFFSET, ORDER);
    }

    boolean continues(final int index) {
        return (memory.getInt(receiveEntry(index) + OPTIONS_OFFSET, ORDER) & OPTION_CONTINUES) != 0;
    }

    private int receiveEntry(final int index) {
        return entriesOffset + (index & entryCount - 1) * RECEIVE_ENTRY_LENGTH_BYTES;
    }
}
