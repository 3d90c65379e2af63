package io.flowlag.common.memory;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class CheckedBufferTest {
    private static final int LENGTH_BYTES = 16;

    private final ByteBuffer memory = ByteBuffer.allocateDirect(LENGTH_BYTES);
    private final CheckedBuffer buffer = new CheckedBuffer(BufferUtil.address(memory), LENGTH_BYTES);

    @Property
    void shouldReadWhatAnUnsafeBufferReads(
        @ForAll @Size(LENGTH_BYTES) final byte[] octets, @ForAll @IntRange(max = LENGTH_BYTES - Long.BYTES) final int at) {
        buffer.putBytes(0, octets);
        final UnsafeBuffer model = new UnsafeBuffer(octets);
        for (final ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            final int aligned = at & -Long.BYTES;
            assertEquals(model.getLong(aligned, order), buffer.getLong(aligned, order));
            assertEquals(model.getInt(aligned, order), buffer.getInt(aligned, order));
            assertEquals(model.getShort(aligned, order), buffer.getShort(aligned, order));
        }
        assertEquals(model.getByte(at), buffer.getByte(at));
    }

    @Test
    void shouldRefuseReadsOutside() {
        for (final int index : new int[] {Integer.MIN_VALUE, -1, LENGTH_BYTES, Integer.MAX_VALUE}) {
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(index));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getShort(index));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getInt(index));
            assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(index));
        }
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getShort(LENGTH_BYTES - 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getInt(LENGTH_BYTES - 3));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(LENGTH_BYTES - 7));
    }

    @Test
    void shouldRefuseNumbersLongerThanTheMemory() {
        buffer.wrap(BufferUtil.address(memory), 1);
        assertEquals(0, buffer.getByte(0));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getShort(0));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(0));
        buffer.wrap(0, 0);
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(0));
    }
}
