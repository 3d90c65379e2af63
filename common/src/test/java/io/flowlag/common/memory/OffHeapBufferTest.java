package io.flowlag.common.memory;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class OffHeapBufferTest {
    private static final int LENGTH_BYTES = 64;
    private static final int WORDS = LENGTH_BYTES / Long.BYTES;

    private final OffHeapBuffer buffer = OffHeapBuffer.allocate(LENGTH_BYTES);
    private final UnsafeBuffer model = new UnsafeBuffer(new byte[LENGTH_BYTES]);

    @Property
    void shouldHoldWhatAnUnsafeBufferHolds(@ForAll @IntRange(max = WORDS - 1) final int word, @ForAll final long value) {
        final int at = word * Long.BYTES;
        for (final ByteOrder order : new ByteOrder[] {ByteOrder.LITTLE_ENDIAN, ByteOrder.BIG_ENDIAN}) {
            buffer.putLong(at, value, order);
            model.putLong(at, value, order);
            assertEquals(0, model.compareTo(buffer));
            assertEquals(model.getLong(at, order), buffer.getLong(at, order));
            assertEquals(model.getInt(at, order), buffer.getInt(at, order));
            assertEquals(model.getShort(at, order), buffer.getShort(at, order));
            buffer.putInt(at, (int)value, order);
            model.putInt(at, (int)value, order);
            assertEquals(0, model.compareTo(buffer));
            buffer.putShort(at + 4, (short)value, order);
            model.putShort(at + 4, (short)value, order);
            assertEquals(0, model.compareTo(buffer));
        }
        buffer.putLong(at, ~value);
        model.putLong(at, ~value);
        assertEquals(model.getLong(at), buffer.getLong(at));
        buffer.putInt(at + 4, (int)value);
        model.putInt(at + 4, (int)value);
        assertEquals(model.getInt(at + 4), buffer.getInt(at + 4));
        buffer.putShort(at + 2, (short)value);
        model.putShort(at + 2, (short)value);
        assertEquals(model.getShort(at + 2), buffer.getShort(at + 2));
        buffer.putByte(at + 1, (byte)value);
        model.putByte(at + 1, (byte)value);
        assertEquals(model.getByte(at + 1), buffer.getByte(at + 1));
        assertEquals(0, model.compareTo(buffer));
    }

    @Test
    void shouldRefuseWhatLiesOutside() {
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getLong(LENGTH_BYTES - 7));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.putLong(-8, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getInt(LENGTH_BYTES - 3));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.putInt(LENGTH_BYTES, 1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getShort(-1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.putShort(LENGTH_BYTES - 1, (short)1));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.getByte(LENGTH_BYTES));
        assertThrows(IndexOutOfBoundsException.class, () -> buffer.putByte(-1, (byte)1));
    }

    @Test
    void shouldRefuseMemoryOfTheHeap() {
        final ByteBuffer onHeap = ByteBuffer.allocate(LENGTH_BYTES);
        assertThrows(IllegalArgumentException.class, () -> new OffHeapBuffer(onHeap, 0, LENGTH_BYTES));
    }
}
