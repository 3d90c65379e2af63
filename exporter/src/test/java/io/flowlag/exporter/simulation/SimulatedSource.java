package io.flowlag.exporter.simulation;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.function.Consumer;

import static java.nio.ByteOrder.BIG_ENDIAN;

/** An interface: packets wait in a bounded buffer of the kernel until they are polled; beyond it they are lost and counted. */
final class SimulatedSource extends LivePacketSource {
    private static final int CAPACITY_PACKETS = 2048;
    private static final int ETHERNET_BYTES = 14;
    private static final int IP_BYTES = 28 + 40;
    private static final int FRAME_BYTES = ETHERNET_BYTES + IP_BYTES;
    private static final int ADDRESS = 10 << 24;

    private final Consumer<Passage> onCaptured;
    private final Deque<Passage> waiting = new ArrayDeque<>();
    private final UnsafeBuffer frame;
    private long dropped;
    private boolean isStopped;

    /** A packet at a point, by the clock there. */
    record Passage(Packet packet, long timeNs) {
    }

    SimulatedSource(final String name, final Consumer<Passage> onCaptured) {
        this(name, onCaptured, new UnsafeBuffer(new byte[FRAME_BYTES]));
    }

    private SimulatedSource(final String name, final Consumer<Passage> onCaptured, final UnsafeBuffer frame) {
        super(name, new CapturedPacket(frame, LinkType.ETHERNET, 1), List.of());
        this.onCaptured = onCaptured;
        this.frame = frame;
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
        if (isStopped) {
            return;
        }
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
            count++;
            onCaptured.accept(passage);
            frame.putShort(18, (short)passage.packet().number, BIG_ENDIAN);
            frame.putInt(26, ADDRESS | passage.packet().flow, BIG_ENDIAN);
            frame.putShort(34, (short)(1024 + passage.packet().flow), BIG_ENDIAN);
            frame.putLong(42, passage.packet().number, BIG_ENDIAN);
            handler.onPacket(packet.set(0, FRAME_BYTES, FRAME_BYTES, passage.timeNs()));
        }
        capturedCount += count;
        return count == 0 && isStopped ? END_OF_SOURCE : count;
    }

    @Override
    public void updateKernelDropCount() {
        kernelDropCount = dropped;
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return true;
    }

    @Override
    public void stop() {
        isStopped = true;
    }

    @Override
    public void close() {
        stop();
        updateKernelDropCount();
        waiting.clear();
    }
}
