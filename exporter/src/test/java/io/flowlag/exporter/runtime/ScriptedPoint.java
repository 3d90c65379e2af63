package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.reference.TimestampMethod;
import io.flowlag.rli.sender.ReferenceSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Frames at a receiver point, in the order of the script, with what is true of the delay of each flow. */
public final class ScriptedPoint implements PacketSource {
    static final int PORT = 8620;
    /** By how much references leave later than their stamp says. */
    static final long STAMP_ERROR_NS = 10_000;

    private static final int HEADERS_BYTES = 14 + 20 + 8;
    private static final int ETHERNET = 1;
    private static final int PAYLOAD_BYTES = 400;

    /** A frame and when it is seen. */
    record Frame(long arrivalNs, byte[] octets) {
    }

    /** Delays of the packets of a flow, as they truly were. */
    static final class Truth {
        long count;
        long sumNs;
        long minimumNs = Long.MAX_VALUE;
        long maximumNs = Long.MIN_VALUE;
    }

    final Map<Integer, Truth> truthByPort = new HashMap<>();
    private final List<Frame> frames = new ArrayList<>();
    private int position;

    ScriptedPoint add(final long arrivalNs, final byte[] octets) {
        frames.add(new Frame(arrivalNs, octets));
        return this;
    }

    void packet(final int source, final int port, final long arrivalNs, final long delayNs) {
        add(arrivalNs, frame(source, port, 53, new byte[PAYLOAD_BYTES]));
        final Truth truth = truthByPort.computeIfAbsent(port, (key) -> new Truth());
        truth.count++;
        truth.sumNs += delayNs;
        truth.minimumNs = Math.min(truth.minimumNs, delayNs);
        truth.maximumNs = Math.max(truth.maximumNs, delayNs);
    }

    /** In the order of time, as a point sees them while its clock is not set. */
    void sort() {
        frames.sort((a, b) -> Long.compare(a.arrivalNs, b.arrivalNs));
    }

    int count() {
        return frames.size();
    }

    public static byte[] frame(final int source, final int sourcePort, final int destinationPort, final byte[] payload) {
        final UnsafeBuffer frame = new UnsafeBuffer(new byte[HEADERS_BYTES + payload.length]);
        frame.putShort(12, (short)0x0800, ByteOrder.BIG_ENDIAN);
        frame.putByte(14, (byte)0x45);
        frame.putShort(16, (short)(28 + payload.length), ByteOrder.BIG_ENDIAN);
        frame.putByte(22, (byte)64);
        frame.putByte(23, (byte)17);
        frame.putInt(26, source, ByteOrder.BIG_ENDIAN);
        frame.putInt(30, 0xC633_6401, ByteOrder.BIG_ENDIAN);
        frame.putShort(34, (short)sourcePort, ByteOrder.BIG_ENDIAN);
        frame.putShort(36, (short)destinationPort, ByteOrder.BIG_ENDIAN);
        frame.putShort(38, (short)(8 + payload.length), ByteOrder.BIG_ENDIAN);
        frame.putBytes(HEADERS_BYTES, payload);
        return frame.byteArray();
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        if (position == frames.size()) {
            return END_OF_SOURCE;
        }
        int count = 0;
        while (count < packetLimit && position < frames.size()) {
            final Frame frame = frames.get(position++);
            handler.onPacket(new CapturedPacket(new UnsafeBuffer(frame.octets), ETHERNET, 1)
                .set(0, frame.octets.length, frame.octets.length, frame.arrivalNs));
            count++;
        }
        return count;
    }

    @Override
    public String name() {
        return "script";
    }

    @Override
    public long capturedCount() {
        return position;
    }

    @Override
    public long consumedBytes() {
        return position;
    }

    @Override
    public long totalBytes() {
        return frames.size();
    }

    /** A sender of references, which stamps each one a little before it leaves. */
    static final class Sender {
        private final ReferenceSource source;
        private final int address;
        private final UnsafeBuffer buffer = new UnsafeBuffer(new byte[512]);

        Sender(final ReferenceSession session, final int address) {
            source = new ReferenceSource(session, 0);
            this.address = address;
        }

        byte[] reference(final long sentNs) {
            final int lengthBytes = source.encode(buffer, 0, sentNs - STAMP_ERROR_NS);
            final byte[] payload = new byte[lengthBytes];
            buffer.getBytes(0, payload);
            source.onObserved(source.onSent(), sentNs, TimestampMethod.SOFTWARE_LOCAL);
            return frame(address, PORT, PORT, payload);
        }
    }
}
