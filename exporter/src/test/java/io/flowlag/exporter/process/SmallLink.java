package io.flowlag.exporter.process;

import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

import java.util.List;

/** Another source's packets as of an interface with a small MTU. */
final class SmallLink implements LivePacketSource {
    private final PacketSource source;
    private final int mtuBytes;

    SmallLink(final PacketSource source, final int mtuBytes) {
        this.source = source;
        this.mtuBytes = mtuBytes;
    }

    @Override
    public int mtuBytes() {
        return mtuBytes;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        return source.poll(handler, packetLimit);
    }

    @Override
    public String name() {
        return source.name();
    }

    @Override
    public long capturedCount() {
        return source.capturedCount();
    }

    @Override
    public long filteredCount() {
        return source.filteredCount();
    }

    @Override
    public long kernelDropCount() {
        return source.kernelDropCount();
    }

    @Override
    public long timestampClampedCount() {
        return source.timestampClampedCount();
    }

    @Override
    public long consumedBytes() {
        return source.consumedBytes();
    }

    @Override
    public long totalBytes() {
        return source.totalBytes();
    }

    @Override
    public String damage() {
        return source.damage();
    }

    @Override
    public int interfaceId() {
        return 1;
    }

    @Override
    public int linkType() {
        return 1;
    }

    @Override
    public long hardwareTimestampCount() {
        return 0;
    }

    @Override
    public List<String> notices() {
        return List.of();
    }

    @Override
    public boolean awaitArrival(final int timeoutMs) {
        return true;
    }

    @Override
    public void stop() {
        source.close();
    }

    @Override
    public void close() {
        source.close();
    }
}
