package io.flowlag.common.memory;

import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.util.Objects;

/**
 * Memory off the heap with bytes of others, such as captured packets. Reads of a single number are checked whatever the JVM's
 * flags are; all other accesses are those of {@link UnsafeBuffer}. Both ends of a read are compared with the same length: so the
 * compiler can merge the checks of reads that lie next to each other. As in an {@link OffHeapBuffer}, the memory is never a heap
 * array. The caller keeps wrapped memory reachable while the buffer is used. One thread at a time, except for accesses with
 * acquire and release. Allocates nothing after construction.
 */
public final class CheckedBuffer extends UnsafeBuffer {
    private static final ByteOrder NATIVE_ORDER = ByteOrder.nativeOrder();

    /**
     * Wraps memory at an address.
     *
     * @param address     of the first octet.
     * @param lengthBytes how many octets.
     */
    public CheckedBuffer(final long address, final int lengthBytes) {
        super(address, lengthBytes);
    }

    @Override
    public long getLong(final int index) {
        Objects.checkIndex(index + Long.BYTES - 1, capacity());
        return UnsafeApi.getLong(addressOffset + Objects.checkIndex(index, capacity()));
    }

    @Override
    public long getLong(final int index, final ByteOrder byteOrder) {
        final long bits = getLong(index);
        return byteOrder == NATIVE_ORDER ? bits : Long.reverseBytes(bits);
    }

    @Override
    public int getInt(final int index) {
        Objects.checkIndex(index + Integer.BYTES - 1, capacity());
        return UnsafeApi.getInt(addressOffset + Objects.checkIndex(index, capacity()));
    }

    @Override
    public int getInt(final int index, final ByteOrder byteOrder) {
        final int bits = getInt(index);
        return byteOrder == NATIVE_ORDER ? bits : Integer.reverseBytes(bits);
    }

    @Override
    public short getShort(final int index) {
        Objects.checkIndex(index + Short.BYTES - 1, capacity());
        return UnsafeApi.getShort(addressOffset + Objects.checkIndex(index, capacity()));
    }

    @Override
    public short getShort(final int index, final ByteOrder byteOrder) {
        final short bits = getShort(index);
        return byteOrder == NATIVE_ORDER ? bits : Short.reverseBytes(bits);
    }

    @Override
    public byte getByte(final int index) {
        return UnsafeApi.getByte(addressOffset + Objects.checkIndex(index, capacity()));
    }
}
