package io.flowlag.exporter.simulation;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.function.Consumer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/** An interface: packets wait in a bounded buffer of the kernel until they are polled; beyond it they are lost and counted. */
final class SimulatedSource implements PacketSource {
    private static final int CAPACITY_PACKETS = 2048;
    private static final int ETHERNET_BYTES = 14;
    private static final int IP_BYTES = 28 + 40;
    private static final int FRAME_BYTES = ETHERNET_BYTES + IP_BYTES;
    private static final int ADDRESS = 10 << 24;

    private final String name;
    private final Consumer<Passage> onCaptured;
    private final Deque<Passage> waiting = new ArrayDeque<>();
    private final UnsafeBuffer frame = new UnsafeBuffer(new byte[FRAME_BYTES]);
    private final CapturedPacket packet = new CapturedPacket(frame, LinkType.ETHERNET, 1);
    private long captured;
    private long dropped;

    /** A packet at a point, by the clock there. */
    record Passage(Packet packet, long timeNs) {
    }

    SimulatedSource(final String name, final Consumer<Passage> onCaptured) {
        this.name = name;
        this.onCaptured = onCaptured;
        frame.putShort(12, (short)0x0800, BIG_ENDIAN);
        frame.putByte(14, (byte)0x45);
        frame.putShort(16, (short)IP_BYTES, BIG_ENDIAN);
        frame.putByte(22, (byte)64);
        frame.putByte(23, (byte)17);
        frame.putInt(30, ADDRESS | 1 << 16, BIG_ENDIAN);
        frame.putShort(36, (short)53, BIG_ENDIAN);
        frame.putShort(38, (short)(IP_BYTES - 20), BIG_ENDIAN);
    }

    void arrive(final Passage passage) {
        if (waiting.size() == CAPACITY_PACKETS) {
            dropped++;
        } else {
            waiting.add(passage);
        }
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        int count = 0;
        while (count < packetLimit && !waiting.isEmpty()) {
            final Passage passage = waiting.remove();
            captured++;
            count++;
            onCaptured.accept(passage);
            frame.putShort(18, (short)passage.packet().number, BIG_ENDIAN);
            frame.putInt(26, ADDRESS | passage.packet().flow, BIG_ENDIAN);
            frame.putShort(34, (short)(1024 + passage.packet().flow), BIG_ENDIAN);
            frame.putLong(42, passage.packet().number, BIG_ENDIAN);
            handler.onPacket(packet.set(0, FRAME_BYTES, FRAME_BYTES, passage.timeNs()));
        }
        return count;
    }

    @Override
    public String name() {
        return name;
    }

    @Override
    public long capturedCount() {
        return captured;
    }

    @Override
    public long kernelDropCount() {
        return dropped;
    }
}
