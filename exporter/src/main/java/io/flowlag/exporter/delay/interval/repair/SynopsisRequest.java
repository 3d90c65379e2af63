package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketCache;

/**
 * A request of the receiver point to the sender point about the packets of an interval, of all traffic classes or of one. Reused;
 * owned by the requesting thread. Allocates at construction.
 */
public final class SynopsisRequest {
    /** Octets of a request, without the identifiers. */
    public static final int FIXED_BYTES = 56;

    /** The subject of a request. */
    public enum Kind {
        /** An estimator of the difference. */
        ESTIMATOR,
        /** An aggregator. */
        AGGREGATOR,
        /** Packets that the receiver point lacks. */
        PACKETS,
        /** Keys of flows without a record at the receiver point. */
        FLOWS
    }

    private final long[] identifiers;
    private Kind kind = Kind.ESTIMATOR;
    private long intervalNumber;
    private int classIndex = PacketCache.ANY_CLASS;
    private long flowThreshold;
    private int banks;
    private int cells;
    private int count;

    /** Creates an empty request of at most so many packets or flows. */
    public SynopsisRequest(final int capacity) {
        identifiers = new long[capacity];
    }

    /** Requests an estimator of a class or {@link PacketCache#ANY_CLASS}, of flows below a rank. */
    public SynopsisRequest estimator(final long number, final int ofClass, final long threshold) {
        return begin(Kind.ESTIMATOR, number, ofClass, threshold, 0, 0);
    }

    /** Requests an aggregator, as {@link #estimator}. */
    public SynopsisRequest aggregator(
        final long number, final int ofClass, final long threshold, final int bankCount, final int cellCount) {
        return begin(Kind.AGGREGATOR, number, ofClass, threshold, bankCount, cellCount);
    }

    /** Requests packets, as {@link #estimator}; {@link #add} names them. */
    public SynopsisRequest packets(final long number, final int ofClass, final long threshold) {
        return begin(Kind.PACKETS, number, ofClass, threshold, 0, 0);
    }

    /** Requests keys of flows; {@link #add} names them by their hashes. */
    public SynopsisRequest flows(final long number, final long threshold) {
        return begin(Kind.FLOWS, number, PacketCache.ANY_CLASS, threshold, 0, 0);
    }

    private SynopsisRequest begin(
        final Kind newKind, final long number, final int ofClass, final long threshold, final int bankCount,
        final int cellCount) {
        kind = newKind;
        intervalNumber = number;
        classIndex = ofClass;
        flowThreshold = threshold;
        banks = bankCount;
        cells = cellCount;
        count = 0;
        return this;
    }

    /** Adds the identifier of a packet, or the hash of a flow. Returns whether there was room. */
    public boolean add(final long identifier) {
        if (count == identifiers.length) {
            return false;
        }
        identifiers[count++] = identifier;
        return true;
    }

    public Kind kind() {
        return kind;
    }

    public long intervalNumber() {
        return intervalNumber;
    }

    /** {@return index of the traffic class, or {@link PacketCache#ANY_CLASS}} */
    public int classIndex() {
        return classIndex;
    }

    /** {@return rank from which on flows are excluded} */
    public long flowThreshold() {
        return flowThreshold;
    }

    /** {@return banks of the aggregator} */
    public int banks() {
        return banks;
    }

    /** {@return cells of each bank} */
    public int cells() {
        return cells;
    }

    /** {@return number of requested packets or flows} */
    public int count() {
        return count;
    }

    /** Reads a requested item. Returns the packet's identifier, or the flow's hash. */
    public long identifier(final int index) {
        return identifiers[index];
    }

    /** {@return a copy without spare capacity} */
    public SynopsisRequest copy() {
        final SynopsisRequest copy = new SynopsisRequest(count);
        copy.begin(kind, intervalNumber, classIndex, flowThreshold, banks, cells);
        System.arraycopy(identifiers, 0, copy.identifiers, 0, count);
        copy.count = count;
        return copy;
    }

    /** {@return encoded length, in octets} */
    public int encodedBytes() {
        return FIXED_BYTES + count * Long.BYTES;
    }
}
