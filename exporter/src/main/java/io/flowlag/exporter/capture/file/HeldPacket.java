package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CapturedPacket;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A packet that is kept while its reader moves to the next one. One thread owns it. Allocates where a packet is longer than all
 * before it, at most {@link CaptureReader#MAX_CAPTURED_LENGTH_BYTES}.
 */
final class HeldPacket extends CapturedPacket {
    private final UnsafeBuffer octets;

    HeldPacket() {
        this(new UnsafeBuffer(new byte[0]));
    }

    private HeldPacket(final UnsafeBuffer octets) {
        super(octets, 0, 0);
        this.octets = octets;
    }

    /** Takes a copy of a packet. */
    void hold(final CapturedPacket packet) {
        if (packet.capturedLengthBytes() > octets.capacity()) {
            octets.wrap(new byte[Math.min(2 * packet.capturedLengthBytes(), CaptureReader.MAX_CAPTURED_LENGTH_BYTES)]);
        }
        octets.putBytes(0, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
        copy(packet, 0);
    }
}
