package io.flowlag.exporter.exchange.link;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The memory for answers is what it was at construction, however many and however long they are. */
class SynopsisAssemblerTest {
    private static final int CAPACITY_BYTES = 300_000;
    private static final int ANSWERS = 200;

    private final SynopsisAssembler assembler = new SynopsisAssembler(CAPACITY_BYTES);
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[ExchangeHeader.MAX_MESSAGE_BYTES]);
    private final SynopsisMessage piece = new SynopsisMessage();

    private boolean add(final UnsafeBuffer image, final int imageOffset) {
        SynopsisMessage.encode(message, 0, 1, image, imageOffset);
        return assembler.add(piece.wrap(message, 0));
    }

    @Test
    void shouldTakeNoHeapForAnswers() {
        final UnsafeBuffer image = new UnsafeBuffer(new byte[CAPACITY_BYTES]);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        final long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < ANSWERS; i++) {
            image.putLong(CAPACITY_BYTES - Long.BYTES, i);
            assembler.expect();
            for (int offset = 0; offset < CAPACITY_BYTES; offset += SynopsisMessage.pieceBytes(CAPACITY_BYTES, offset)) {
                assertNull(assembler.takeWhole());
                assertTrue(add(image, offset));
            }
            final UnsafeBuffer whole = assembler.takeWhole();
            assertEquals(CAPACITY_BYTES, whole.capacity());
            assertEquals(i, whole.getLong(CAPACITY_BYTES - Long.BYTES));
            assertNull(assembler.takeWhole());
        }
        final long grownBytes = threads.getCurrentThreadAllocatedBytes() - before;
        assertTrue(grownBytes < 10L * CAPACITY_BYTES, grownBytes + " octets");
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        assembler.expect();
        assertFalse(add(new UnsafeBuffer(new byte[CAPACITY_BYTES + 1]), 0));
        assertNull(assembler.takeWhole());
        assembler.expect();
        assertTrue(add(new UnsafeBuffer(new byte[CAPACITY_BYTES]), 0));
        assertFalse(add(new UnsafeBuffer(new byte[CAPACITY_BYTES]), 0), "the same piece again");
        assertNull(assembler.takeWhole());
    }
}
