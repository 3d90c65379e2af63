package io.flowlag.exporter.delay.interval.records;

import io.flowlag.exporter.delay.interval.repair.FlowKeyTable;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * A closed interval of the sender point, as the receiver point needs it: sketches, what the sender lost itself, and the digests
 * of the packets that may have been under way at the interval's end. It belongs to one thread, and until it is given back.
 */
public interface SenderAnswer {
    /** The interval. */
    long intervalNumber();

    /** Whether the digests are all there: if not, nobody knows which packets belong to the interval. */
    boolean isInFlightComplete();

    /** Packets sent in the last W of the interval, W being the maximum delay. Returns how many. */
    int inFlightCount();

    /**
     * One of those packets.
     *
     * @param index of the packet, in the order of sending.
     */
    long inFlight(int index);

    /** Whether the sender's point lost packets of its own: what is missing may not have been lost on the path. */
    boolean isDamaged();

    /** Whether there are sketches; where there are none, the sums of all flows are there. */
    boolean hasSketches();

    /** The sums of all flows. Returns the table; null if there is none. */
    FlowSums flows();

    /** The sums of witness flows, beside the sketches. Returns the table; null if there is none. */
    FlowSums witnesses();

    /** The sketch of all flows. Returns a verified image of family LDS. */
    SketchImage sketch();

    /**
     * Lets packets be taken out of the sketch of all flows.
     *
     * @param editor to be wrapped around it.
     */
    void edit(CellEditor editor);

    /**
     * The packets of the interval, where the sender point is in this process and remembers them. Returns the cache; null if there
     * is none.
     */
    default PacketCache packets() {
        return null;
    }

    /**
     * The flows of the interval with their keys, where the sender point is in this process and remembers packets. Returns the
     * table; null if there is none.
     */
    default FlowKeyTable keys() {
        return null;
    }

    /** The aggregator of a traffic class. Returns a verified image of family LDA. */
    SketchImage aggregator(int classIndex);

    /**
     * Whether packets of intervals that were answered before turned up at the sender since: what was said of them may be wrong.
     */
    default boolean hasStragglers() {
        return false;
    }
}
