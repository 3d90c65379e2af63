package io.flowlag.exporter.delay.interval.records;

import io.flowlag.exporter.delay.interval.repair.FlowKeyTable;
import io.flowlag.sketch.image.CellEditor;
import io.flowlag.sketch.image.SketchImage;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * A closed interval of the sender point, as the receiver point needs it: sketches, the sender's own losses, and the digests of
 * packets that may have been in flight at the interval's end. One thread owns it until it is given back.
 */
public interface SenderAnswer {
    long intervalNumber();

    /** Whether all digests are present; if not, it is unknown which packets belong to the interval. */
    boolean isInFlightComplete();

    /** Packets sent in the last W of the interval, W being the maximum delay. Returns their number. */
    int inFlightCount();

    /** The digest of one of those packets, in the order of sending. */
    long inFlight(int index);

    /** Whether the sender point lost packets of its own: missing packets were not necessarily lost on the path. */
    boolean isDamaged();

    /** Whether there are sketches; if not, there are the sums of all flows. */
    boolean hasSketches();

    /** The sums of all flows. Returns the table; without room if they are not kept. */
    FlowSums flows();

    /** The sums of witness flows, in addition to the sketches. Returns the table; without room if they are not kept. */
    FlowSums witnesses();

    /** The sketch of all flows. Returns a verified image of family LDS. */
    SketchImage sketch();

    /** Wraps an editor around the sketch of all flows, to remove packets from it. */
    void edit(CellEditor editor);

    /** Whether the point is in this process and keeps packets; if not, there are no {@link #packets} and no {@link #keys}. */
    default boolean keepsPackets() {
        return false;
    }

    /** The packets of the interval. Returns the cache. */
    default PacketCache packets() {
        throw new IllegalStateException("no packets are kept");
    }

    /** The flows of the interval with their keys. Returns the table. */
    default FlowKeyTable keys() {
        throw new IllegalStateException("no packets are kept");
    }

    /** The aggregator of a traffic class. Returns a verified image of family LDA. */
    SketchImage aggregator(int classIndex);

    /** Whether the sender has since seen packets of intervals that were already answered, so that their results may be wrong. */
    default boolean hasStragglers() {
        return false;
    }
}
