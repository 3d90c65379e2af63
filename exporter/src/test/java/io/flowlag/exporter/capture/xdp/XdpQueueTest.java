package io.flowlag.exporter.capture.xdp;

import io.flowlag.exporter.capture.PacketSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.SplittableRandom;

import static io.flowlag.exporter.capture.xdp.XdpMemory.*;
import static org.junit.jupiter.api.Assertions.*;

/** The rings of a queue, with the kernel's side played by the test, which tells the truth or lies. */
class XdpQueueTest {
    private final XdpMemory kernel = new XdpMemory();
    private final XdpQueue queue = kernel.queue;

    @Test
    void shouldHandOverPacketsOfOneAndOfSeveralFramesRoundAndRound() {
        queue.begin();
        for (int i = 0; i < 100; i++) {
            final int lengthBytes = 1 + i * 37 % 700;
            kernel.receive(i, lengthBytes);
            assertFalse(queue.isEmpty());
            assertTrue(queue.advance());
            assertTrue(queue.advance(), "until it is taken");
            assertEquals(i, queue.stampNs());
            assertEquals(lengthBytes, queue.wireLengthBytes());
            assertEquals(Math.min(lengthBytes, FRAME_BYTES * 3 / 4 - XdpQueue.STAMP_LENGTH_BYTES), queue.capturedLengthBytes());
            assertTrue(queue.offset() + queue.capturedLengthBytes() <= kernel.frames.capacity());
            queue.take();
            assertTrue(queue.isEmpty());
            assertFalse(queue.advance());
            assertFalse(queue.publish());
            assertEquals(FRAMES, kernel.freeCount());
        }
        assertEquals(0, queue.refusedCount());
    }

    @Test
    void shouldKeepAPacketWhileItIsRead() {
        queue.begin();
        kernel.receive(1, 10);
        kernel.receive(2, 10);
        assertTrue(queue.advance());
        queue.take();
        queue.publish();
        assertEquals(FRAMES - 2, kernel.freeCount());
        assertTrue(queue.advance());
        queue.publish();
        assertEquals(FRAMES - 1, kernel.freeCount());
        assertEquals(2, queue.stampNs());
    }

    @Test
    void shouldWaitForTheRestOfAPacket() {
        queue.begin();
        kernel.describe(0, kernel.takeFree(), 100, CONTINUES);
        kernel.publish(1);
        assertFalse(queue.advance());
        assertFalse(queue.isEmpty());
        kernel.describe(1, kernel.takeFree(), 50, 0);
        kernel.publish(2);
        assertTrue(queue.advance());
        assertEquals(150 - XdpQueue.STAMP_LENGTH_BYTES, queue.wireLengthBytes());
    }

    @ParameterizedTest
    @CsvSource({
        "-1, 60, 0", "2048, 60, 0", "9223372036854775807, 60, 0", "-9223372036854775808, 60, 0", "4294967296, 60, 0",
        "0, -1, 0", "0, 2147483647, 0", "0, -2147483648, 0", "0, 257, 0", "255, 9, 0", "0, 8, 0", "0, 0, 0"})
    void shouldRefuseADescriptorThatLies(final long address, final int lengthBytes, final int options) {
        queue.begin();
        kernel.takeFree();
        kernel.describe(0, address, lengthBytes, options);
        kernel.publish(1);
        kernel.receive(7, 20);
        assertTrue(queue.advance());
        assertEquals(7, queue.stampNs(), "the packet behind it comes");
        assertEquals(1, queue.refusedCount());
    }

    @Test
    void shouldRefuseAStampThatIsNoTime() {
        queue.begin();
        kernel.receive(-1, 20);
        kernel.receive(PacketSource.MAX_TIMESTAMP_NS, 20);
        assertFalse(queue.advance());
        queue.publish();
        assertEquals(2, queue.refusedCount());
        assertEquals(FRAMES, kernel.freeCount());
    }

    @Test
    void shouldRefuseAPacketWithoutEnd() {
        queue.begin();
        for (int i = 0; i < FRAMES; i++) {
            kernel.describe(i, kernel.takeFree(), FRAME_BYTES, CONTINUES);
        }
        kernel.publish(FRAMES);
        assertFalse(queue.advance());
        queue.publish();
        assertEquals(1, queue.refusedCount());
        assertEquals(FRAMES, kernel.freeCount());
    }

    @Test
    void shouldSkipWhatAWrongIndexClaims() {
        queue.begin();
        for (final int producer : new int[] {FRAMES + 1, -5, Integer.MAX_VALUE, Integer.MIN_VALUE}) {
            kernel.publish(producer);
            assertFalse(queue.advance());
            assertFalse(queue.advance());
        }
        assertEquals(4, queue.refusedCount());
    }

    /** Whatever is in the shared memory: an end, octets within the frames, and no more free frames than there are. */
    @Test
    void shouldSurviveAnything() {
        final long seed = System.nanoTime();
        final SplittableRandom random = new SplittableRandom(seed);
        queue.begin();
        for (int round = 0; round < 200_000; round++) {
            scramble(random);
            int count = 0;
            while (count < 3 * FRAMES && queue.advance()) {
                assertTrue(queue.offset() >= FIRST_FRAME + XdpQueue.STAMP_LENGTH_BYTES && queue.capturedLengthBytes() > 0 &&
                    queue.offset() + queue.capturedLengthBytes() <= FIRST_FRAME + FRAMES_BYTES, () -> "seed " + seed);
                assertTrue(queue.wireLengthBytes() >= queue.capturedLengthBytes(), () -> "seed " + seed);
                queue.take();
                count++;
            }
            assertTrue(count <= FRAMES, () -> "seed " + seed);
            queue.publish();
        }
        assertTrue(queue.refusedCount() > 0);
    }

    private void scramble(final SplittableRandom random) {
        final int producer = kernel.received() + random.nextInt(-1, FRAMES + 2);
        for (int i = 0; i < FRAMES; i++) {
            final boolean isPlausible = random.nextInt(4) > 0;
            kernel.describe(random.nextInt(), isPlausible ? random.nextInt(FRAMES_BYTES) : random.nextLong(),
                isPlausible ? random.nextInt(FRAME_BYTES) : random.nextInt(), random.nextInt(2));
        }
        kernel.frames.putLong(FIRST_FRAME + random.nextInt(FRAMES_BYTES / 8) * 8, random.nextLong() >>> random.nextInt(64));
        kernel.fill.putInt(16, kernel.fill.getInt(0) - random.nextInt(-1, FRAMES + 2));
        kernel.publish(producer);
    }
}
