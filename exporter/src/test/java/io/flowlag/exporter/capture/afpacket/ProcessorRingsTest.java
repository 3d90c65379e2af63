package io.flowlag.exporter.capture.afpacket;

import io.flowlag.common.memory.CheckedBuffer;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

import static io.flowlag.exporter.capture.afpacket.ProcessorLayout.*;
import static org.junit.jupiter.api.Assertions.*;

/** Rings in ordinary memory, which this test fills as the eBPF program does, or otherwise. */
class ProcessorRingsTest {
    private static final int MOST_BYTES = 256;
    private static final int RING_BYTES = 4096;
    private static final int STRIDE_BYTES = strideBytes(RING_BYTES, MOST_BYTES);
    private static final long SEED = 27;

    private final Random random = new Random(SEED);
    private ByteBuffer octets;
    private CheckedBuffer memory;
    private ProcessorRings rings;
    private CapturedPacket packet;

    private void begin(final int processorCount) {
        octets = BufferUtil.allocateDirectAligned(processorCount * STRIDE_BYTES, 64);
        memory = new CheckedBuffer(new UnsafeBuffer(octets).addressOffset(), octets.capacity());
        rings = new ProcessorRings(memory, processorCount, RING_BYTES, MOST_BYTES);
        packet = new CapturedPacket(memory, LinkType.ETHERNET, 1);
    }

    @Test
    void shouldShowRecordsOfAllRingsByTime() {
        final int processorCount = 3;
        begin(processorCount);
        final List<Long> readNs = new ArrayList<>();
        long timeNs = 0;
        long keptCount = 0;
        for (int round = 0; round < 3_000; round++) {
            final int burst = random.nextInt(12);
            for (int i = 0; i < burst; i++) {
                keptCount += write(random.nextInt(processorCount), ++timeNs, 1 + random.nextInt(MOST_BYTES)) ? 1 : 0;
            }
            final int most = random.nextInt(12);
            for (int i = 0; i < most && rings.advance(); i++) {
                readNs.add(shown());
            }
        }
        while (rings.advance()) {
            readNs.add(shown());
        }
        assertEquals(0, rings.unreadBytes());
        assertEquals(keptCount, readNs.size());
        assertEquals(timeNs - keptCount, rings.lostCount());
        assertTrue(keptCount > 10_000, "kept " + keptCount);
        assertEquals(readNs.stream().sorted().toList(), readNs);
    }

    @Test
    void shouldShowATagAndTheLengthOfTheWire() {
        begin(1);
        write(0, 5, 60);
        memory.putInt(RECORDS_OFFSET + LENGTH_OFFSET, 1_514);
        memory.putShort(RECORDS_OFFSET + VLAN_TCI_OFFSET, (short) 0xe02a);
        memory.putShort(RECORDS_OFFSET + VLAN_TPID_OFFSET, (short) 0xa888);
        memory.putByte(RECORDS_OFFSET + VLAN_PRESENT_OFFSET, (byte) 1);
        assertTrue(rings.advance());
        rings.show(packet, 1_000);
        assertEquals(1_518, packet.wireLengthBytes());
        assertEquals(60, packet.capturedLengthBytes());
        assertEquals(0x88a8e02a, packet.vlanTag());
        assertEquals(1_005, packet.timestampNs());
    }

    @Test
    void shouldRefuseLengthsThatCannotBeAndGoOn() {
        for (final int lie : new int[] {0, -1, Integer.MIN_VALUE, Integer.MAX_VALUE, MOST_BYTES + 1, MOST_BYTES}) {
            begin(2);
            for (int i = 1; i <= 5; i++) {
                write(0, i, 40);
            }
            write(1, 9, 40);
            memory.putInt(RECORDS_OFFSET + 2 * recordBytes(40) + CAPTURED_LENGTH_OFFSET, lie);
            assertEquals(1, next());
            assertEquals(2, next());
            assertEquals(9, next(), "the other ring is whole");
            assertFalse(rings.advance());
            assertEquals(3, rings.lostCount(), "length " + lie);
            write(0, 10, 40);
            assertEquals(10, next());
            assertFalse(rings.advance());
            assertEquals(3, rings.lostCount());
        }
    }

    /** Any octet of the memory may change at any time: no read leaves the memory, and every call ends. */
    @Test
    void shouldSurviveAnyMemory() {
        begin(2);
        long shownCount = 0;
        for (int round = 0; round < 20_000; round++) {
            write(random.nextInt(2), round, 1 + random.nextInt(MOST_BYTES));
            if (random.nextInt(4) == 0) {
                final int ring = random.nextInt(2) * STRIDE_BYTES;
                final int at = random.nextInt(3) == 0 ? random.nextInt(TAIL_OFFSET) : random.nextInt(STRIDE_BYTES);
                memory.putByte(ring + at, (byte) random.nextInt());
            } else if (random.nextInt(50) == 0) {
                memory.putLong(random.nextInt(2) * STRIDE_BYTES + HEAD_OFFSET, random.nextLong());
            }
            final int most = random.nextInt(4);
            for (int i = 0; i < most && rings.advance(); i++) {
                rings.show(packet, 0);
                assertTrue(packet.offset() >= 0 && packet.capturedLengthBytes() > 0 &&
                    packet.offset() + packet.capturedLengthBytes() <= memory.capacity());
                assertTrue(packet.wireLengthBytes() >= packet.capturedLengthBytes());
                rings.packetType();
                shownCount++;
            }
        }
        assertTrue(shownCount > 1_000, "shown " + shownCount);
        assertTrue(rings.lostCount() != 0);
    }

    private long next() {
        assertTrue(rings.advance());
        return shown();
    }

    /** {@return the time of the record, whose octets must be those that were written} */
    private long shown() {
        rings.show(packet, 0);
        for (int i = 0; i < packet.capturedLengthBytes(); i++) {
            assertEquals((byte) packet.timestampNs(), memory.getByte(packet.offset() + i));
        }
        return packet.timestampNs();
    }

    /** As the program does. Returns whether there was room. */
    private boolean write(final int processor, final long timeNs, final int capturedBytes) {
        final int ring = processor * STRIDE_BYTES;
        long head = memory.getLong(ring + HEAD_OFFSET);
        long tail = memory.getLong(ring + TAIL_OFFSET);
        if (head == tail) {
            head = head + RING_BYTES - 1 & -RING_BYTES;
            memory.putLong(ring + BASE_OFFSET, head);
        }
        tail = Math.max(tail, memory.getLong(ring + BASE_OFFSET));
        if (Long.compareUnsigned(head - tail + recordBytes(capturedBytes), RING_BYTES) > 0) {
            memory.putLong(ring + LOST_OFFSET, memory.getLong(ring + LOST_OFFSET) + 1);
            return false;
        }
        final int at = ring + RECORDS_OFFSET + ((int)head & RING_BYTES - 8);
        memory.putLong(at + TIME_OFFSET, timeNs);
        memory.putInt(at + CAPTURED_LENGTH_OFFSET, capturedBytes);
        memory.putInt(at + LENGTH_OFFSET, capturedBytes);
        memory.setMemory(at + OCTETS_OFFSET, capturedBytes, (byte) timeNs);
        memory.putByte(at + VLAN_PRESENT_OFFSET, (byte) 0);
        memory.putLong(ring + WRITTEN_OFFSET, memory.getLong(ring + WRITTEN_OFFSET) + 1);
        memory.putLong(ring + HEAD_OFFSET, ProcessorLayout.next(head, RING_BYTES, capturedBytes));
        return true;
    }
}
