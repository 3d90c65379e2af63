package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;

/** The packets of one capture, in the order of the file. */
final class SingleFileSource extends CaptureFileSource {
    private final CaptureReader reader;

    /** A source; throws a {@link CaptureException} if the capture cannot be read at all. */
    SingleFileSource(final String path, final CaptureOpener opener, final FilterSupplier filters) {
        super(filters);
        reader = opener.open(path);
    }

    @Override
    boolean deliver(final PacketHandler handler, final int packetLimit) {
        for (int count = 0; count < packetLimit; count++) {
            if (count > 0 && !reader.isReady()) {
                return true;
            }
            if (!reader.next()) {
                return false;
            }
            deliver(reader, handler);
        }
        return true;
    }

    @Override
    boolean hasFaulted() {
        return reader.onMemoryFault();
    }

    @Override
    public String name() {
        return reader.name();
    }

    @Override
    public long consumedBytes() {
        return reader.consumedBytes();
    }

    @Override
    public long totalBytes() {
        return reader.totalBytes();
    }

    @Override
    public long timestampClampedCount() {
        return reader.timestampClampedCount();
    }

    @Override
    public String damage() {
        return reader.damage();
    }

    @Override
    public void close() {
        reader.close();
    }
}
