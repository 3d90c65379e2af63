package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.DirectBuffer;

/** Adds packets up as the manifest of the shared captures does. */
final class PacketTotals implements PacketHandler {
    private static final int PACKET_LIMIT = 64;

    private long packetCount;
    private long wireBytes;
    private long firstNs = Long.MAX_VALUE;
    private long lastNs = Long.MIN_VALUE;

    @Override
    public void onPacket(
        final DirectBuffer buffer,
        final int offset,
        final int capturedLengthBytes,
        final int wireLengthBytes,
        final long timestampNs,
        final int linkType,
        final int interfaceId,
        final int vlanTag) {
        buffer.boundsCheck(offset, capturedLengthBytes);
        packetCount++;
        wireBytes += wireLengthBytes;
        firstNs = Math.min(firstNs, timestampNs);
        lastNs = Math.max(lastNs, timestampNs);
    }

    void drain(final PacketSource source) {
        int count = source.poll(this, PACKET_LIMIT);
        while (count != PacketSource.END_OF_SOURCE) {
            count = source.poll(this, PACKET_LIMIT);
        }
    }

    long packetCount() {
        return packetCount;
    }

    @Override
    public String toString() {
        return packetCount + "," + wireBytes + "," + (packetCount == 0 ? "," : firstNs + "," + lastNs);
    }
}
