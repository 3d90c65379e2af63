package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

import java.util.function.LongUnaryOperator;

/** The packets of another source as a second point sees them: each a little later. */
final class DelayedSource extends WrappedSource implements PacketHandler {
    private final LongUnaryOperator delayNsOfPacket;
    private PacketHandler handler;
    private long packetCount;

    DelayedSource(final PacketSource source, final LongUnaryOperator delayNsOfPacket) {
        super(source);
        this.delayNsOfPacket = delayNsOfPacket;
    }

    @Override
    public int poll(final PacketHandler next, final int packetLimit) {
        handler = next;
        return super.poll(this, packetLimit);
    }

    @Override
    public void onPacket(final CapturedPacket packet) {
        packet.timestampNs(packet.timestampNs() + delayNsOfPacket.applyAsLong(packetCount++));
        handler.onPacket(packet);
    }
}
