package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.sketch.reconcile.PacketCache;

/**
 * What the receiver point asks the sender point about the packets of an interval, of all traffic classes or of one. Reused;
 * belongs to the thread that asks. Allocates at construction.
 */
public final class SynopsisRequest {
    /** Octets of a request, without the identifiers. */
    public static final int FIXED_BYTES = 56;

    /** What is asked for. */
    public enum Kind {
        /** An estimator of the difference. */
        ESTIMATOR,
        /** An aggregator. */
        AGGREGATOR,
        /** Packets that the receiver point does not have. */
        PACKETS,
        /** Keys of flows that the receiver point has no record of. */
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

    /**
     * An empty request.
     *
     * @param capacity most packets or flows that it asks for.
     */
    public SynopsisRequest(final int capacity) {
        identifiers = new long[capacity];
    }

    /**
     * Asks for an estimator.
     *
     * @param ofClass   index of the traffic class, or {@link PacketCache#ANY_CLASS}.
     * @param threshold the flows of this rank and above are not asked for.
     */
    public SynopsisRequest estimator(final long number, final int ofClass, final long threshold) {
        return begin(Kind.ESTIMATOR, number, ofClass, threshold, 0, 0);
    }

    /**
     * Asks for an aggregator.
     *
     * @param ofClass   index of the traffic class, or {@link PacketCache#ANY_CLASS}.
     * @param threshold the flows of this rank and above are not asked for.
     */
    public SynopsisRequest aggregator(
        final long number, final int ofClass, final long threshold, final int bankCount, final int cellCount) {
        return begin(Kind.AGGREGATOR, number, ofClass, threshold, bankCount, cellCount);
    }

    /**
     * Asks for packets; {@link #add} names them.
     *
     * @param ofClass index of the traffic class, or {@link PacketCache#ANY_CLASS}.
     */
    public SynopsisRequest packets(final long number, final int ofClass, final long threshold) {
        return begin(Kind.PACKETS, number, ofClass, threshold, 0, 0);
    }

    /** Asks for keys of flows; {@link #add} names them by their hashes. */
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

    /**
     * Asks for one more packet or flow.
     *
     * @param identifier of the packet; of a flow, its hash.
     * @return whether there was room.
     */
    public boolean add(final long identifier) {
        if (count == identifiers.length) {
            return false;
        }
        identifiers[count++] = identifier;
        return true;
    }

    /** {@return what is asked for} */
    public Kind kind() {
        return kind;
    }

    /** {@return of which interval} */
    public long intervalNumber() {
        return intervalNumber;
    }

    /** {@return of which traffic class; {@link PacketCache#ANY_CLASS}: of all} */
    public int classIndex() {
        return classIndex;
    }

    /** {@return the flows of this rank and above are not asked for} */
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

    /** {@return packets or flows that are asked for} */
    public int count() {
        return count;
    }

    /** One of the packets or flows. Returns the packet's identifier, or the flow's hash. */
    public long identifier(final int index) {
        return identifiers[index];
    }

    /** {@return the same request, with room for no more packets} */
    public SynopsisRequest copy() {
        final SynopsisRequest copy = new SynopsisRequest(count);
        copy.begin(kind, intervalNumber, classIndex, flowThreshold, banks, cells);
        System.arraycopy(identifiers, 0, copy.identifiers, 0, count);
        copy.count = count;
        return copy;
    }

    /** {@return its length on the way to another process, in octets} */
    public int encodedBytes() {
        return FIXED_BYTES + count * Long.BYTES;
    }
}
