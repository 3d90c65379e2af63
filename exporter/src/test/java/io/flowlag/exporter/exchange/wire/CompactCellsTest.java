package io.flowlag.exporter.exchange.wire;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.Tuple;
import org.agrona.concurrent.UnsafeBuffer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Compact cells decode to what they were, and to nothing else. */
class CompactCellsTest {
    @Property(tries = 200)
    void shouldDecodeToTheSameCells(@ForAll("cells") final long[] fields) {
        final int cellCount = fields.length / 4;
        final UnsafeBuffer cells = cells(fields, cellCount);
        final UnsafeBuffer encoded = new UnsafeBuffer(new byte[cellCount * CompactCells.MAX_CELL_BYTES + 2]);
        final int lengthBytes = CompactCells.encode(cells, 0, cellCount, encoded, 0);
        assertTrue(CompactCells.verify(encoded, 0, lengthBytes, cellCount));
        assertFalse(CompactCells.verify(encoded, 0, lengthBytes - 1, cellCount));
        final UnsafeBuffer decoded = new UnsafeBuffer(new byte[cellCount * CompactCells.CELL_BYTES]);
        decoded.setMemory(0, decoded.capacity(), (byte)0x55);
        CompactCells.decode(encoded, 0, lengthBytes, decoded, 0, cellCount);
        assertEquals(0, cells.compareTo(decoded));
    }

    private static UnsafeBuffer cells(final long[] fields, final int cellCount) {
        final UnsafeBuffer cells = new UnsafeBuffer(new byte[cellCount * CompactCells.CELL_BYTES]);
        for (int i = 0; i < 4 * cellCount; i++) {
            cells.putLong(8 * i, fields[i], ExchangeHeader.BYTE_ORDER);
        }
        return cells;
    }

    /** What verifies has one meaning and is the only way to write it. */
    @Property(tries = 1000)
    void shouldTakeNothingButTheShortestForm(@ForAll("octets") final byte[] octets) {
        final int cellCount = 3;
        final UnsafeBuffer source = new UnsafeBuffer(octets);
        if (CompactCells.verify(source, 0, octets.length, cellCount)) {
            final UnsafeBuffer cells = new UnsafeBuffer(new byte[cellCount * CompactCells.CELL_BYTES]);
            CompactCells.decode(source, 0, octets.length, cells, 0, cellCount);
            final UnsafeBuffer again = new UnsafeBuffer(new byte[cellCount * CompactCells.MAX_CELL_BYTES + 2]);
            final int lengthBytes = CompactCells.encode(cells, 0, cellCount, again, 0);
            assertEquals(0, source.compareTo(new UnsafeBuffer(again, 0, lengthBytes)));
        }
    }

    @Example
    void shouldPackEmptyCells() {
        final int cellCount = 1024;
        final UnsafeBuffer encoded = new UnsafeBuffer(new byte[64]);
        final UnsafeBuffer cells = new UnsafeBuffer(new byte[cellCount * CompactCells.CELL_BYTES]);
        assertEquals(8, CompactCells.encode(cells, 0, cellCount, encoded, 0));
        assertTrue(CompactCells.verify(encoded, 0, 8, cellCount));
        assertFalse(CompactCells.verify(encoded, 0, 8, cellCount - 1));
    }

    @Provide
    Arbitrary<long[]> cells() {
        final Arbitrary<Long> field = Arbitraries.frequencyOf(Tuple.of(3, Arbitraries.just(0L)),
            Tuple.of(1, Arbitraries.longs()), Tuple.of(1, Arbitraries.longs().between(0, 70_000)));
        return field.array(long[].class).ofMinSize(4).ofMaxSize(400);
    }

    @Provide
    Arbitrary<byte[]> octets() {
        final Arbitrary<Byte> octet = Arbitraries.frequencyOf(Tuple.of(3, Arbitraries.of((byte)0, (byte)1, (byte)2)),
            Tuple.of(2, Arbitraries.of((byte)0x80, (byte)0x81, (byte)0x91)), Tuple.of(1, Arbitraries.bytes()));
        return octet.array(byte[].class).ofMinSize(2).ofMaxSize(40);
    }
}
