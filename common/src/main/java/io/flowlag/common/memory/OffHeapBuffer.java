package io.flowlag.common.memory;

import org.agrona.BitUtil;
import org.agrona.BufferUtil;
import org.agrona.UnsafeApi;
import org.agrona.concurrent.UnsafeBuffer;

import java.lang.ref.Cleaner;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.concurrent.atomic.AtomicLong;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * The process's own memory on the packet path: tables, descriptors and sketches, whose offsets this program computes. Bytes of
 * others are read through an {@link UnsafeBuffer} or a {@link CheckedBuffer}, which check every access.
 * <p>
 * Accesses to a single number are not checked, unless assertions are on (java -ea), as in the tests. All others (copies, fills,
 * accesses with acquire or release) are checked as in an {@link UnsafeBuffer}. The memory is never a heap array. With a buffer
 * that may be either, the compiler must assume that an access changes any field of any object and reload them all; here it
 * need not.
 * <p>
 * The caller keeps wrapped memory reachable while the buffer is used; allocated memory is freed with the buffer. One thread at a
 * time, except for accesses with acquire and release. Allocates at construction.
 */
public final class OffHeapBuffer extends UnsafeBuffer {
    private static final boolean IS_CHECKED = OffHeapBuffer.class.desiredAssertionStatus();
    private static final Cleaner CLEANER = Cleaner.create();
    private static final AtomicLong UNTOUCHED_BYTES = new AtomicLong();
    private static final ByteOrder NATIVE_ORDER = ByteOrder.nativeOrder();

    private Cleaner.Cleanable memory;

    /**
     * Wraps memory at an address.
     *
     * @param address     of the first octet.
     * @param lengthBytes how many octets.
     */
    public OffHeapBuffer(final long address, final int lengthBytes) {
        super(address, lengthBytes);
    }

    /**
     * Wraps a part of a direct buffer.
     *
     * @param buffer      off the heap.
     * @param offset      of the first octet.
     * @param lengthBytes how many octets.
     */
    public OffHeapBuffer(final ByteBuffer buffer, final int offset, final int lengthBytes) {
        super(requireDirect(buffer), offset, lengthBytes);
    }

    /**
     * Allocates zeroed memory that begins on a cache line.
     *
     * @param lengthBytes how many octets.
     * @return a buffer over it.
     */
    public static OffHeapBuffer allocate(final int lengthBytes) {
        return new OffHeapBuffer(BufferUtil.allocateDirectAligned(lengthBytes, CACHE_LINE_LENGTH), 0, lengthBytes);
    }

    /**
     * Allocates memory that begins on a cache line and whose content is undefined. It is not zeroed, so start-up does not pay for
     * it, and the system provides a page only when it is written. Freed by {@link #free}, or when the buffer is no longer
     * reachable.
     *
     * @param lengthBytes how many octets.
     * @return a buffer over it; views of it must not outlive it.
     */
    public static OffHeapBuffer allocateUntouched(final int lengthBytes) {
        final long address = UnsafeApi.allocateMemory((long)lengthBytes + CACHE_LINE_LENGTH);
        final OffHeapBuffer buffer = new OffHeapBuffer(BitUtil.align(address, CACHE_LINE_LENGTH), lengthBytes);
        UNTOUCHED_BYTES.addAndGet(lengthBytes);
        buffer.memory = CLEANER.register(buffer, () -> {
            UnsafeApi.freeMemory(address);
            UNTOUCHED_BYTES.addAndGet(-lengthBytes);
        });
        return buffer;
    }

    /**
     * Allocates memory as {@link #allocateUntouched} does and zeroes it: for tables that grow, whose old memory is freed.
     *
     * @param lengthBytes how many octets.
     * @return a buffer over it; views of it must not outlive it.
     */
    public static OffHeapBuffer allocateZeroed(final int lengthBytes) {
        final OffHeapBuffer buffer = allocateUntouched(lengthBytes);
        buffer.setMemory(0, lengthBytes, (byte)0);
        return buffer;
    }

    /** {@return octets of {@link #allocateUntouched} that are not freed; the JVM's own statistics exclude them} */
    public static long untouchedBytes() {
        return UNTOUCHED_BYTES.get();
    }

    /** Frees memory of {@link #allocateUntouched} at once; the buffer and views of it must not be used afterwards. */
    public void free() {
        wrap(0, 0);
        memory.clean();
    }

    private static ByteBuffer requireDirect(final ByteBuffer buffer) {
        if (!buffer.isDirect()) {
            throw new IllegalArgumentException("the buffer is on the heap");
        }
        return buffer;
    }

    @Override
    public long getLong(final int index) {
        if (IS_CHECKED) {
            boundsCheck0(index, Long.BYTES);
        }
        return UnsafeApi.getLong(addressOffset + index);
    }

    @Override
    public void putLong(final int index, final long value) {
        if (IS_CHECKED) {
            boundsCheck0(index, Long.BYTES);
        }
        UnsafeApi.putLong(addressOffset + index, value);
    }

    @Override
    public long getLong(final int index, final ByteOrder byteOrder) {
        final long bits = getLong(index);
        return byteOrder == NATIVE_ORDER ? bits : Long.reverseBytes(bits);
    }

    @Override
    public void putLong(final int index, final long value, final ByteOrder byteOrder) {
        putLong(index, byteOrder == NATIVE_ORDER ? value : Long.reverseBytes(value));
    }

    @Override
    public int getInt(final int index) {
        if (IS_CHECKED) {
            boundsCheck0(index, Integer.BYTES);
        }
        return UnsafeApi.getInt(addressOffset + index);
    }

    @Override
    public void putInt(final int index, final int value) {
        if (IS_CHECKED) {
            boundsCheck0(index, Integer.BYTES);
        }
        UnsafeApi.putInt(addressOffset + index, value);
    }

    @Override
    public int getInt(final int index, final ByteOrder byteOrder) {
        final int bits = getInt(index);
        return byteOrder == NATIVE_ORDER ? bits : Integer.reverseBytes(bits);
    }

    @Override
    public void putInt(final int index, final int value, final ByteOrder byteOrder) {
        putInt(index, byteOrder == NATIVE_ORDER ? value : Integer.reverseBytes(value));
    }

    @Override
    public short getShort(final int index) {
        if (IS_CHECKED) {
            boundsCheck0(index, Short.BYTES);
        }
        return UnsafeApi.getShort(addressOffset + index);
    }

    @Override
    public void putShort(final int index, final short value) {
        if (IS_CHECKED) {
            boundsCheck0(index, Short.BYTES);
        }
        UnsafeApi.putShort(addressOffset + index, value);
    }

    @Override
    public short getShort(final int index, final ByteOrder byteOrder) {
        final short bits = getShort(index);
        return byteOrder == NATIVE_ORDER ? bits : Short.reverseBytes(bits);
    }

    @Override
    public void putShort(final int index, final short value, final ByteOrder byteOrder) {
        putShort(index, byteOrder == NATIVE_ORDER ? value : Short.reverseBytes(value));
    }

    @Override
    public byte getByte(final int index) {
        if (IS_CHECKED) {
            boundsCheck0(index, Byte.BYTES);
        }
        return UnsafeApi.getByte(addressOffset + index);
    }

    @Override
    public void putByte(final int index, final byte value) {
        if (IS_CHECKED) {
            boundsCheck0(index, Byte.BYTES);
        }
        UnsafeApi.putByte(addressOffset + index, value);
    }
}
