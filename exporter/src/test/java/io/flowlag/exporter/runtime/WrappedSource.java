package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

/** Another source, of which a subclass changes a little. Owns it. */
public class WrappedSource implements PacketSource {
    private final PacketSource source;

    public WrappedSource(final PacketSource source) {
        this.source = source;
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
    public void updateKernelDropCount() {
        source.updateKernelDropCount();
    }

    @Override
    public long timestampClampedCount() {
        return source.timestampClampedCount();
    }

    @Override
    public long kernelStampedCount() {
        return source.kernelStampedCount();
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
    public void close() {
        source.close();
    }
}
