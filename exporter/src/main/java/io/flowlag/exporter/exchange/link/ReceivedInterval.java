package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A copy of a sender's interval, passed from the exchange to the metering thread and back. Its holder owns it. Allocates at
 * construction.
 */
public final class ReceivedInterval implements SenderAnswer {
    private final UnsafeBuffer[] buffers;
    private final SketchImage[] images;
    private final long[] inFlight;
    private final SegmentFlowHash flowHash;
    private final FlowSums flows;
    private final FlowSums witnesses;
    private final FlowSum sum = new FlowSum();
    private final UnsafeBuffer key = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
    private long intervalNumber;
    private int inFlightCount;
    private boolean isInFlightComplete;
    private boolean hasStragglers;
    private boolean isDamaged;
    private boolean hasSketches;

    /**
     * An empty copy.
     *
     * @param hash         with the key of digests.
     * @param witnessFlows that fit beside sketches; 0 for none.
     */
    public ReceivedInterval(
        final ExchangeSettings settings, final SipHash hash, final int inFlightPackets, final int witnessFlows) {
        final int sketchCount = settings.mode() == ExchangeSettings.Mode.FLOWS ? 0 : settings.sketches().size();
        buffers = new UnsafeBuffer[sketchCount];
        images = new SketchImage[sketchCount];
        for (int i = 0; i < sketchCount; i++) {
            buffers[i] = new UnsafeBuffer(new byte[settings.sketches().get(i).geometry().imageLength()]);
            images[i] = new SketchImage();
        }
        flowHash = new SegmentFlowHash(hash);
        flows = settings.mode() == ExchangeSettings.Mode.CELLS ? null : FlowSums.ofAll(settings.mostFlows());
        witnesses = witnessFlows == 0 || sketchCount == 0 ? null : FlowSums.ofAll(witnessFlows);
        inFlight = new long[inFlightPackets];
    }

    /**
     * Memory of a copy, by formula.
     *
     * @param witnessFlows that fit beside sketches; 0 for none.
     * @return octets, on and off the heap.
     */
    public static long memoryBytes(final ExchangeSettings settings, final int inFlightPackets, final int witnessFlows) {
        final boolean isSketched = settings.mode() != ExchangeSettings.Mode.FLOWS;
        return (isSketched ? settings.imageBytes() : 0) + (long)inFlightPackets * Long.BYTES +
            (settings.mode() == ExchangeSettings.Mode.CELLS ? 0 : FlowSums.memoryBytes(settings.mostFlows())) +
            (isSketched && witnessFlows > 0 ? FlowSums.memoryBytes(witnessFlows) : 0);
    }

    /** Copies an interval. */
    void copy(final SenderInterval interval) {
        intervalNumber = interval.number();
        hasStragglers = interval.drops().latePackets() > 0;
        isDamaged = interval.isDamaged();
        hasSketches = interval.sketchCount() > 0;
        for (int i = 0; i < interval.sketchCount(); i++) {
            final SketchImage image = interval.sketch(i);
            final DirectBuffer octets = image.buffer();
            buffers[i].putBytes(0, octets, 0, image.length());
            if (interval.isDamaged()) {
                final int flags = buffers[i].getByte(ImageHeader.FLAGS_OFFSET) | ImageHeader.FLAG_DAMAGED;
                buffers[i].putByte(ImageHeader.FLAGS_OFFSET, (byte)flags);
            }
            images[i].wrap(buffers[i], 0, image.length());
        }
        if (flows != null) {
            flows.clear();
            for (int i = 0; i < interval.flowCount(); i++) {
                put(interval.flow(i, sum), flows);
            }
        }
        if (witnesses != null) {
            witnesses.clear();
            for (int i = 0; i < interval.witnessCount(); i++) {
                put(interval.witness(i, sum), witnesses);
            }
        }
        isInFlightComplete = interval.inFlightCount() <= inFlight.length;
        inFlightCount = isInFlightComplete ? interval.inFlightCount() : 0;
        for (int i = 0; i < inFlightCount; i++) {
            inFlight[i] = interval.inFlight(i);
        }
    }

    private void put(final FlowSum from, final FlowSums table) {
        final long hash = flowHash.flow(from.family(), from.protocol(), from.sourcePort(), from.destinationPort()).hash(
            from.sourceHigh(), from.sourceLow(), from.destinationHigh(), from.destinationLow());
        final int row = table.put(hash, from.packets(), from.timestampSumNs(), from.digestSum(), from.bytes());
        if (row != FlowSums.NONE) {
            FlowKeyLayout.sourceHigh(key, 0, from.sourceHigh());
            FlowKeyLayout.sourceLow(key, 0, from.sourceLow());
            FlowKeyLayout.destinationHigh(key, 0, from.destinationHigh());
            FlowKeyLayout.destinationLow(key, 0, from.destinationLow());
            FlowKeyLayout.sourcePort(key, 0, from.sourcePort());
            FlowKeyLayout.destinationPort(key, 0, from.destinationPort());
            FlowKeyLayout.protocol(key, 0, from.protocol());
            FlowKeyLayout.ipVersion(key, 0, from.family());
            table.key(row, key, 0);
            table.classIndex(row, from.classIndex());
        }
    }

    @Override
    public boolean isDamaged() {
        return isDamaged;
    }

    @Override
    public boolean hasSketches() {
        return hasSketches;
    }

    @Override
    public FlowSums flows() {
        return flows;
    }

    @Override
    public FlowSums witnesses() {
        return witnesses;
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
    public boolean hasStragglers() {
        return hasStragglers;
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
    public void edit(final CellEditor editor) {
        editor.wrap(buffers[0], 0, images[0].length());
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
