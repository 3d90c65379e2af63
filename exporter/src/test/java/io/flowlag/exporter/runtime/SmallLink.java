package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.List;

/** Another source's packets as of an interface with a small MTU. */
final class SmallLink extends LivePacketSource {
    private final PacketSource source;

    SmallLink(final PacketSource source, final int mtuBytes) {
        super(source.name(), new CapturedPacket(new UnsafeBuffer(0, 0), 1, 1), List.of());
        this.source = source;
        this.mtuBytes = mtuBytes;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        return source.poll(handler, packetLimit);
    }

    @Override
    public long capturedCount() {
        return source.capturedCount();
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return true;
    }

    @Override
    public void stop() {
        close();
    }

    @Override
    public void close() {
        source.close();
    }
}
