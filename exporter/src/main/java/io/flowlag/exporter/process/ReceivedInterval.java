package io.flowlag.exporter.process;

import io.flowlag.exporter.exchange.SenderInterval;
import io.flowlag.exporter.sketching.FlowSums;
import io.flowlag.exporter.sketching.SenderAnswer;
import io.flowlag.sketch.image.ImageDescriptor;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A copy of a sender's interval, on its way from the exchange to the metering thread and back. It belongs to whoever holds it.
 * Allocates at construction.
 */
final class ReceivedInterval implements SenderAnswer {
    private final UnsafeBuffer[] buffers;
    private final SketchImage[] images;
    private final long[] inFlight;
    private long intervalNumber;
    private int inFlightCount;
    private boolean isInFlightComplete;

    /**
     * An empty copy.
     *
     * @param geometries      of the sketches, in order: of all flows, then of each class.
     * @param inFlightPackets that fit.
     */
    ReceivedInterval(final SketchGeometry[] geometries, final int inFlightPackets) {
        buffers = new UnsafeBuffer[geometries.length];
        images = new SketchImage[geometries.length];
        for (int i = 0; i < geometries.length; i++) {
            buffers[i] = new UnsafeBuffer(new byte[geometries[i].imageLength()]);
            images[i] = new SketchImage();
        }
        inFlight = new long[inFlightPackets];
    }

    /**
     * Copies an interval.
     *
     * @param interval verified, with sketches of these geometries.
     */
    void copy(final SenderInterval interval) {
        intervalNumber = interval.number();
        for (int i = 0; i < images.length; i++) {
            final SketchImage image = interval.sketch(i);
            final DirectBuffer octets = image.buffer();
            buffers[i].putBytes(0, octets, 0, image.length());
            if (interval.isDamaged()) {
                final int flags = buffers[i].getByte(ImageDescriptor.FLAGS_OFFSET) | ImageDescriptor.FLAG_DAMAGED;
                buffers[i].putByte(ImageDescriptor.FLAGS_OFFSET, (byte)flags);
            }
            images[i].wrap(buffers[i], 0, image.length());
        }
        isInFlightComplete = interval.inFlightCount() <= inFlight.length;
        inFlightCount = isInFlightComplete ? interval.inFlightCount() : 0;
        for (int i = 0; i < inFlightCount; i++) {
            inFlight[i] = interval.inFlight(i);
        }
    }

    @Override
    public long intervalNumber() {
        return intervalNumber;
    }

    @Override
    public boolean isInFlightComplete() {
        return isInFlightComplete;
    }

    @Override
    public int inFlightCount() {
        return inFlightCount;
    }

    @Override
    public long inFlight(final int index) {
        return inFlight[index];
    }

    @Override
    public FlowSums witnesses() {
        return null;
    }

    @Override
    public SketchImage sketch() {
        return images[0];
    }

    @Override
    public SketchImage aggregator(final int classIndex) {
        return images[1 + classIndex];
    }
}
