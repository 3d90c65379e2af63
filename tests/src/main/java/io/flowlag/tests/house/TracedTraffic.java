package io.flowlag.tests.house;

import io.flowlag.tests.benchmark.SessionReferences;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Captures of the same UDP packets at two points, with reference packets. Each packet is delayed by 1 to 2 ms, one in 37 is lost.
 * Packets are 1 ms apart and go in turns to one of a few flows, of which some end before others begin.
 */
final class TracedTraffic {
    /** When the first packet is sent, ns since the epoch. */
    static final long FIRST_NS = 1_700_000_000_000_000_000L;
    /** Of the reference packets. */
    static final int SESSION = 1;

    private static final long GAP_NS = 1_000_000;
    private static final int LOST = 37;
    private static final int REFERENCE = 20;
    private static final int FLOWS = 40;
    private static final int FLOWS_AT_ONCE = 8;
    private static final int FRAME_BYTES = 120;
    private static final int IP_OFFSET = 14;
    private static final int UDP_OFFSET = 34;
    private static final int PAYLOAD_OFFSET = 42;
    private static final int GLOBAL_HEADER_BYTES = 24;
    private static final int RECORD_HEADER_BYTES = 16;
    private static final int SNAP_LENGTH = 65_535;
    private static final int NANOSECOND_MAGIC = 0xA1B2_3C4D;

    private final ByteBuffer sent;
    private final ByteBuffer received;
    private final UnsafeBuffer frame = new UnsafeBuffer(new byte[2 * FRAME_BYTES]);
    private final SessionReferences references = new SessionReferences(SESSION);
    private int referenceCount;
    private long lastReferenceNs;

    private TracedTraffic(final int packets) {
        sent = capture(packets);
        received = capture(packets);
        for (int i = 0; i < packets; i++) {
            final long sentNs = FIRST_NS + i * GAP_NS;
            final long delayNs = GAP_NS + GAP_NS * (i % 50) / 50;
            final boolean isReference = i % REFERENCE == 0;
            final int length = isReference ? reference(sentNs) : packet(i, packets);
            add(sent, sentNs, length);
            if (isReference || i % LOST != 0) {
                add(received, sentNs + delayNs, length);
            }
        }
    }

    /**
     * Writes both captures.
     *
     * @param packets  with references.
     * @param sent     file of the sender point.
     * @param received file of the receiver point.
     * @throws IOException if they cannot be written.
     */
    static void write(final int packets, final Path sent, final Path received) throws IOException {
        final TracedTraffic traffic = new TracedTraffic(packets);
        write(traffic.sent, sent);
        write(traffic.received, received);
    }

    private static void write(final ByteBuffer capture, final Path file) throws IOException {
        final byte[] octets = new byte[capture.position()];
        capture.flip().get(octets);
        Files.write(file, octets);
    }

    private static ByteBuffer capture(final int packets) {
        return ByteBuffer.allocate(GLOBAL_HEADER_BYTES + packets * (RECORD_HEADER_BYTES + 2 * FRAME_BYTES))
            .order(ByteOrder.LITTLE_ENDIAN)
            .putInt(NANOSECOND_MAGIC).putShort((short)2).putShort((short)4).putInt(0).putInt(0).putInt(SNAP_LENGTH).putInt(1);
    }

    private void add(final ByteBuffer capture, final long timeNs, final int length) {
        capture.putInt((int)(timeNs / 1_000_000_000)).putInt((int)(timeNs % 1_000_000_000)).putInt(length).putInt(length)
            .put(frame.byteArray(), 0, length);
    }

    private int reference(final long sentNs) {
        references.begin(frame, 0, referenceCount, sentNs);
        if (referenceCount > 0) {
            references.followUp(referenceCount - 1, lastReferenceNs);
        }
        referenceCount++;
        lastReferenceNs = sentNs;
        return references.end(frame, 0);
    }

    private int packet(final int number, final int packets) {
        final int flow = number * (FLOWS - FLOWS_AT_ONCE) / packets + number % FLOWS_AT_ONCE;
        frame.setMemory(0, FRAME_BYTES, (byte)0);
        frame.putShort(12, (short)0x0800, ByteOrder.BIG_ENDIAN);
        frame.putShort(IP_OFFSET, (short)0x4500, ByteOrder.BIG_ENDIAN);
        frame.putShort(IP_OFFSET + 2, (short)(FRAME_BYTES - IP_OFFSET), ByteOrder.BIG_ENDIAN);
        frame.putShort(IP_OFFSET + 4, (short)number, ByteOrder.BIG_ENDIAN);
        frame.putShort(IP_OFFSET + 8, (short)(64 << 8 | 17), ByteOrder.BIG_ENDIAN);
        frame.putInt(IP_OFFSET + 12, 0x0A00_0001 + flow, ByteOrder.BIG_ENDIAN);
        frame.putInt(IP_OFFSET + 16, 0xAC10_0001, ByteOrder.BIG_ENDIAN);
        frame.putShort(UDP_OFFSET, (short)(1024 + flow), ByteOrder.BIG_ENDIAN);
        frame.putShort(UDP_OFFSET + 2, (short)443, ByteOrder.BIG_ENDIAN);
        frame.putShort(UDP_OFFSET + 4, (short)(FRAME_BYTES - UDP_OFFSET), ByteOrder.BIG_ENDIAN);
        frame.putLong(PAYLOAD_OFFSET, number * 0x9E37_79B9_7F4A_7C15L);
        frame.putLong(PAYLOAD_OFFSET + 8, number);
        return FRAME_BYTES;
    }
}
