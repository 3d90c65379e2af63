package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.CellsMessage;
import io.flowlag.exporter.exchange.wire.CompactCells;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.FlowSumsMessage;
import io.flowlag.exporter.exchange.wire.InFlightMessage;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.NanoClock;

/**
 * Encodes a sender's interval as messages: begin, then drops and the data, then end. Each piece of a sketch takes the shorter
 * encoding. One thread; allocates per interval.
 */
public final class IntervalEncoder {
    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(ExchangeHeader.MAX_MESSAGE_BYTES);
    private final NanoClock clock;
    private final ExchangeCounters counters;
    private final int beginBytes;
    private HeldSettings held;
    private long number;
    private long beganNs;
    private int position;
    private int messageCount;
    private int sketchCount;
    private int inFlightCount;
    private int flowCount;
    private int witnessCount;
    private int errorEstimate;
    private boolean isDamaged;

    /**
     * An encoder.
     *
     * @param clock    to measure the time of encoding.
     * @param counters of the sender's end; this is the writer of the encoding counters.
     */
    public IntervalEncoder(final NanoClock clock, final ExchangeCounters counters) {
        this.clock = clock;
        this.counters = counters;
        beginBytes = IntervalBeginMessage.encode(buffer, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0, false);
    }

    /**
     * Begins an interval; drops one that was not ended.
     *
     * @param drops this point's losses in it.
     */
    public IntervalEncoder begin(final long intervalNumber, final HeldSettings heldSettings, final PointDrops drops) {
        beganNs = clock.nanoTime();
        number = intervalNumber;
        held = heldSettings;
        sketchCount = 0;
        inFlightCount = 0;
        flowCount = 0;
        witnessCount = 0;
        errorEstimate = 0;
        isDamaged = false;
        messageCount = 1;
        position = beginBytes;
        position += DropsMessage.encode(buffer, position, number, drops);
        return this;
    }

    /**
     * Sets the error estimate of this point's clock.
     *
     * @param newErrorEstimate 16 bits as in RFC 4656 section 4.1.2; 0 if unknown.
     */
    public IntervalEncoder errorEstimate(final int newErrorEstimate) {
        errorEstimate = newErrorEstimate;
        return this;
    }

    /** Marks that packets of the interval may be among those that this point lost, in this interval or another. */
    public IntervalEncoder damaged() {
        isDamaged = true;
        return this;
    }

    /** Adds the next sketch, in the order of the settings. */
    public IntervalEncoder sketch(final SketchImage image) {
        final DirectBuffer octets = image.buffer();
        final int imageBytes = image.length();
        final int before = position;
        sketchPiece(octets, 0, CellsMessage.PREAMBLE_BYTES);
        final int pieceBytes = CellsMessage.MAX_CELLS * CompactCells.CELL_BYTES;
        for (int offset = CellsMessage.PREAMBLE_BYTES; offset < imageBytes; offset += pieceBytes) {
            sketchPiece(octets, offset, Math.min(pieceBytes, imageBytes - offset));
        }
        sketchCount++;
        counters.add(ExchangeCounter.CELL_OCTETS, position - before);
        counters.add(ExchangeCounter.IMAGE_OCTETS, imageBytes);
        return this;
    }

    private void sketchPiece(final DirectBuffer image, final int offset, final int lengthBytes) {
        position += CellsMessage.encode(buffer, position, number, sketchCount, true, image, offset, lengthBytes);
        messageCount++;
    }

    /**
     * Adds the digests of packets that may be in flight.
     *
     * @param digests of the last W of the interval.
     * @param count   how many of them.
     */
    public IntervalEncoder inFlight(final long[] digests, final int count) {
        for (int first = 0; first < count; first += InFlightMessage.MAX_COUNT) {
            position += InFlightMessage.encode(
                buffer, position, number, digests, first, Math.min(InFlightMessage.MAX_COUNT, count - first));
            messageCount++;
        }
        inFlightCount = count;
        return this;
    }

    /**
     * Adds the sums of all flows.
     *
     * @param flows holds {@link FlowSum}s, one behind the other.
     */
    public IntervalEncoder flowSums(final DirectBuffer flows, final int count) {
        flows(MessageType.FLOW_SUMS, flows, count);
        flowCount = count;
        return this;
    }

    /**
     * Adds the sums of witness flows.
     *
     * @param flows holds {@link FlowSum}s, one behind the other.
     */
    public IntervalEncoder witnesses(final DirectBuffer flows, final int count) {
        flows(MessageType.WITNESS, flows, count);
        witnessCount = count;
        return this;
    }

    private void flows(final MessageType type, final DirectBuffer flows, final int count) {
        for (int first = 0; first < count; first += FlowSumsMessage.MAX_COUNT) {
            position += FlowSumsMessage.encode(
                buffer, position, type, number, flows, first, Math.min(FlowSumsMessage.MAX_COUNT, count - first));
            messageCount++;
        }
    }

    /** Ends the interval. Returns its messages, independent of this encoder. */
    public EncodedInterval end() {
        position += IntervalEndMessage.encode(buffer, position, number, messageCount);
        IntervalBeginMessage.encode(buffer, 0, number, held.settings().intervalNs(), held.receiverInstance(),
            held.settings().number(), sketchCount, inFlightCount, flowCount, witnessCount, errorEstimate, isDamaged);
        final byte[] messages = new byte[position];
        buffer.getBytes(0, messages);
        counters.add(ExchangeCounter.ENCODING_NS, clock.nanoTime() - beganNs);
        return new EncodedInterval(number, messages);
    }
}
