package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.PacketHandler;

/**
 * The packets of one capture, in the order of the file.
 */
final class SingleFileSource implements CaptureFileSource {
    private final CaptureReader reader;
    private final PacketDelivery delivery;

    /**
     * A source.
     *
     * @param reader closed with the source.
     */
    SingleFileSource(final CaptureReader reader, final PacketDelivery delivery) {
        this.reader = reader;
        this.delivery = delivery;
    }

    @Override
    public int poll(final PacketHandler handler, final int packetLimit) {
        final long before = delivery.capturedCount();
        try {
            deliver(handler, packetLimit);
        } catch (final InternalError ex) {
            if (!reader.onMemoryFault()) {
                throw ex;
            }
        }
        final int count = (int) (delivery.capturedCount() - before);
        return count == 0 && packetLimit > 0 ? END_OF_SOURCE : count;
    }

    private void deliver(final PacketHandler handler, final int packetLimit) {
        int count = 0;
        while (count < packetLimit && (count == 0 || reader.isReady()) && reader.next()) {
            delivery.deliver(reader, handler);
            count++;
        }
    }

    @Override
    public String name() {
        return reader.name();
    }

    @Override
    public long capturedCount() {
        return delivery.capturedCount();
    }

    @Override
    public long filteredCount() {
        return delivery.filteredCount();
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
