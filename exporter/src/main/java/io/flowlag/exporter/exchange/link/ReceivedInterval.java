package io.flowlag.exporter.exchange.link;

import io.flowlag.common.hash.SipHash;
import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.SenderAnswer;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.ImageHeader;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * A sender's interval. {@link IntervalAssembler} fills it on the exchange's thread; the metering thread compares it and gives it
 * back. Its holder owns it. Its room follows from the settings, whatever the sender announces. Allocates at construction, off the
 * heap.
 */
public final class ReceivedInterval implements SenderAnswer {
    private final ExchangeSettings settings;
    private final OffHeapBuffer[] memory;
    /** Views of the memory that check every access: the sender chooses what is written where. */
    private final UnsafeBuffer[] buffers;
    private final SketchImage[] images;
    private final OffHeapBuffer inFlightMemory;
    private final UnsafeBuffer inFlight;
    private final SegmentFlowHash flowHash;
    private final FlowSums flows;
    private final FlowSums witnesses;
    private final UnsafeBuffer key = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
    private final CellEditor editor = new CellEditor();
    private long intervalNumber;
    private int sketchCount;
    private int announcedInFlight;
    private int errorEstimate;
    private boolean hasStragglers;
    private boolean isDamaged;

    /**
     * An empty interval.
     *
     * @param hash         with the key of digests.
     * @param witnessFlows that fit beside sketches; 0 for none.
     */
    public ReceivedInterval(
        final ExchangeSettings settings, final SipHash hash, final int inFlightPackets, final int witnessFlows) {
        this.settings = settings;
        memory = new OffHeapBuffer[settings.sketchCount()];
        buffers = new UnsafeBuffer[memory.length];
        images = new SketchImage[memory.length];
        for (int i = 0; i < memory.length; i++) {
            memory[i] = OffHeapBuffer.allocateUntouched(settings.sketches().get(i).geometry().imageLength());
            buffers[i] = new UnsafeBuffer(memory[i]);
            images[i] = new SketchImage();
        }
        flowHash = new SegmentFlowHash(hash);
        flows = FlowSums.ofAll(settings.mode() == ExchangeSettings.Mode.CELLS ? 0 : settings.content().mostFlows());
        witnesses = FlowSums.ofAll(buffers.length == 0 ? 0 : witnessFlows);
        inFlightMemory = OffHeapBuffer.allocateUntouched(Math.multiplyExact(inFlightPackets, Long.BYTES));
        inFlight = new UnsafeBuffer(inFlightMemory);
    }

    /**
     * Memory of an interval, by formula.
     *
     * @param witnessFlows that fit beside sketches; 0 for none.
     * @return octets, off the heap.
     */
    public static long memoryBytes(final ExchangeSettings settings, final int inFlightPackets, final int witnessFlows) {
        final boolean isSketched = settings.mode() != ExchangeSettings.Mode.FLOWS;
        return (isSketched ? settings.imageBytes() : 0) + (long)inFlightPackets * Long.BYTES +
            (settings.mode() == ExchangeSettings.Mode.CELLS ? 0 : FlowSums.memoryBytes(settings.content().mostFlows())) +
            (isSketched && witnessFlows > 0 ? FlowSums.memoryBytes(witnessFlows) : 0);
    }

    /** Empties it for another interval. */
    void begin(final IntervalBeginMessage begin) {
        intervalNumber = begin.intervalNumber();
        sketchCount = begin.sketchCount();
        announcedInFlight = begin.inFlightCount();
        errorEstimate = begin.errorEstimate();
        flows.clear();
        witnesses.clear();
    }

    /** Frees the memory at once; the interval must not be used afterwards. */
    void free() {
        for (int i = 0; i < memory.length; i++) {
            buffers[i].wrap(0, 0);
            memory[i].free();
        }
        inFlight.wrap(0, 0);
        inFlightMemory.free();
        flows.free();
        witnesses.free();
    }

    /** {@return the octets of a sketch's image, to be filled} */
    UnsafeBuffer octets(final int sketch) {
        return buffers[sketch];
    }

    /** {@return a sketch whose octets are whole and verified} */
    SketchImage wrap(final int sketch) {
        images[sketch].wrap(buffers[sketch], 0, buffers[sketch].capacity());
        return images[sketch];
    }

    void inFlight(final int index, final long digest) {
        if (isInFlightComplete()) {
            inFlight.putLong(index * Long.BYTES, digest);
        }
    }

    /** Adds a flow of FLOW_SUMS or WITNESS, where flows are wanted. */
    void add(final MessageType type, final FlowSum flow) {
        final FlowSums table = type == MessageType.WITNESS ? witnesses : flows;
        flow.copyKey(key, 0);
        final int row =
            table.put(flowHash.hash(key, 0), flow.packets(), flow.timestampSumNs(), flow.digestSum(), flow.bytes());
        if (row != FlowSums.NONE) {
            table.key(row, key, 0);
            table.classIndex(row, flow.classIndex());
        }
    }

    /**
     * Everything has come.
     *
     * @param drops           losses of the sender's point in the interval.
     * @param isMarkedDamaged whether the sender says that packets of the interval may be among its losses.
     */
    void end(final PointDrops drops, final boolean isMarkedDamaged) {
        hasStragglers = drops.latePackets() > 0;
        isDamaged = isMarkedDamaged || !drops.isNone();
        for (int i = 0; i < sketchCount; i++) {
            isDamaged |= images[i].damaged();
        }
        for (int i = 0; isDamaged && i < sketchCount; i++) {
            final int flags = buffers[i].getByte(ImageHeader.FLAGS_OFFSET) | ImageHeader.FLAG_DAMAGED;
            buffers[i].putByte(ImageHeader.FLAGS_OFFSET, (byte)flags);
            wrap(i);
        }
    }

    /** Moves what was sent to the time of this host's clock, once it has ended. */
    void retime(final ClockEstimate clock) {
        final long offsetNs = clock.offsetAtSentNs(intervalNumber * settings.intervalNs());
        for (int i = 0; i < sketchCount; i++) {
            editor.wrap(buffers[i], 0, images[i].length()).retime(offsetNs, clock.senderRate());
        }
        flows.retime(offsetNs, clock.senderRate());
        witnesses.retime(offsetNs, clock.senderRate());
    }

    ExchangeSettings settings() {
        return settings;
    }

    /** {@return error estimate of the sender's clock, as in RFC 4656 section 4.1.2; 0 if unknown} */
    public int errorEstimate() {
        return errorEstimate;
    }

    /** {@return digests that the sender sent, more than {@link #inFlightCount} where they have no room} */
    int announcedInFlight() {
        return announcedInFlight;
    }

    @Override
    public boolean isDamaged() {
        return isDamaged;
    }

    @Override
    public boolean hasSketches() {
        return sketchCount > 0;
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
        return announcedInFlight <= inFlight.capacity() / Long.BYTES;
    }

    @Override
    public boolean hasStragglers() {
        return hasStragglers;
    }

    @Override
    public int inFlightCount() {
        return isInFlightComplete() ? announcedInFlight : 0;
    }

    @Override
    public long inFlight(final int index) {
        return inFlight.getLong(index * Long.BYTES);
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
