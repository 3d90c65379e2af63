package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.CellsMessage;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchImage;
import org.agrona.DirectBuffer;
import org.agrona.ExpandableArrayBuffer;
import org.agrona.concurrent.NanoClock;
import org.agrona.concurrent.UnsafeBuffer;

/**
 * Encodes a sender's interval as messages: begin, then drops and the data, then end. Each piece of a sketch takes the shorter
 * encoding. One thread; allocates per interval.
 */
public final class IntervalEncoder {
    private final ExpandableArrayBuffer buffer = new ExpandableArrayBuffer(ExchangeHeader.MAX_MESSAGE_BYTES);
    private final UnsafeBuffer list = new UnsafeBuffer(0, 0);
    private final NanoClock clock;
    private final ExchangeCounters counters;
    private long number;
    private long beganNs;
    private int position;
    private int messageCount;
    private int sketchCount;

    /**
     * An encoder.
     *
     * @param clock    to measure the time of encoding.
     * @param counters of the sender's end; this is the writer of the encoding counters.
     */
    public IntervalEncoder(final NanoClock clock, final ExchangeCounters counters) {
        this.clock = clock;
        this.counters = counters;
    }

    /**
     * Begins an interval; drops one that was not ended.
     *
     * @param drops this point's losses in it.
     */
    public IntervalEncoder begin(final long intervalNumber, final HeldSettings held, final PointDrops drops) {
        beganNs = clock.nanoTime();
        number = intervalNumber;
        sketchCount = 0;
        messageCount = 1;
        position = IntervalBeginMessage.encode(buffer, number, held.settings(), held.receiverInstance());
        position += DropsMessage.encode(buffer, position, number, drops);
        return this;
    }

    /**
     * Sets the error estimate of this point's clock.
     *
     * @param errorEstimate 16 bits as in RFC 4656 section 4.1.2; 0 if unknown.
     */
    public IntervalEncoder errorEstimate(final int errorEstimate) {
        IntervalBeginMessage.errorEstimate(buffer, errorEstimate);
        return this;
    }

    /** Marks that packets of the interval may be among those that this point lost, in this interval or another. */
    public IntervalEncoder damaged() {
        IntervalBeginMessage.damaged(buffer);
        return this;
    }

    /** Adds the next sketch, in the order of the settings. */
    public IntervalEncoder sketch(final SketchImage image) {
        final int imageBytes = image.length();
        final int before = position;
        for (int offset = 0; offset < imageBytes; offset += CellsMessage.pieceBytes(imageBytes, offset)) {
            position += CellsMessage.encode(buffer, position, number, sketchCount, image.buffer(), offset);
            messageCount++;
        }
        IntervalBeginMessage.count(buffer, MessageType.CELLS, ++sketchCount);
        counters.add(ExchangeCounter.CELL_OCTETS, position - before);
        counters.add(ExchangeCounter.IMAGE_OCTETS, imageBytes);
        return this;
    }

    /**
     * Adds a list: the digests of packets that may be in flight, the sums of all flows, or those of witness flows.
     *
     * @param type    IN_FLIGHT, FLOW_SUMS or WITNESS.
     * @param entries of a {@link IntervalListMessage}, one behind the other.
     */
    public IntervalEncoder list(final MessageType type, final DirectBuffer entries, final int count) {
        list.wrap(entries, 0, count * IntervalListMessage.entryBytes(type));
        for (int first = 0; first < count; first += IntervalListMessage.mostEntries(type)) {
            position += IntervalListMessage.encode(buffer, position, type, number, list, first);
            messageCount++;
        }
        IntervalBeginMessage.count(buffer, type, count);
        return this;
    }

    /** Ends the interval. Returns its messages, independent of this encoder. */
    public EncodedInterval end() {
        position += IntervalEndMessage.encode(buffer, position, number, messageCount);
        final byte[] messages = new byte[position];
        buffer.getBytes(0, messages);
        counters.add(ExchangeCounter.ENCODING_NS, clock.nanoTime() - beganNs);
        return new EncodedInterval(number, new UnsafeBuffer(messages));
    }
}
