package io.flowlag.exporter.capture.file;

import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A packet that is kept while its reader moves to the next one. One thread owns it. Allocates where a packet is longer than all
 * before it, at most {@link CaptureReader#MAX_CAPTURED_LENGTH_BYTES}.
 */
final class HeldPacket extends CapturedPacket {
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[0]);

    /**
     * Takes a copy.
     *
     * @param packet to be kept.
     */
    void hold(final CapturedPacket packet) {
        if (packet.capturedLengthBytes > octets.capacity()) {
            octets.wrap(new byte[Math.min(2 * packet.capturedLengthBytes, CaptureReader.MAX_CAPTURED_LENGTH_BYTES)]);
        }
        octets.putBytes(0, packet.buffer(), packet.packetIndex, packet.capturedLengthBytes);
        capturedLengthBytes = packet.capturedLengthBytes;
        wireLengthBytes = packet.wireLengthBytes;
        timestampNs = packet.timestampNs;
        linkType = packet.linkType;
        interfaceId = packet.interfaceId;
    }

    @Override
    DirectBuffer buffer() {
        return octets;
    }
}
