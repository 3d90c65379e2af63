package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

/** Adds packets up as the manifest of the shared captures does. */
final class PacketTotals implements PacketHandler {
    private static final int PACKET_LIMIT = 64;

    private long packetCount;
    private long wireBytes;
    private long firstNs = Long.MAX_VALUE;
    private long lastNs = Long.MIN_VALUE;

    @Override
    public void onPacket(final CapturedPacket packet) {
        packet.buffer().boundsCheck(packet.offset(), packet.capturedLengthBytes());
        packetCount++;
        wireBytes += packet.wireLengthBytes();
        firstNs = Math.min(firstNs, packet.timestampNs());
        lastNs = Math.max(lastNs, packet.timestampNs());
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
