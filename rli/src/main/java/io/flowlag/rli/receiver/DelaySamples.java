package io.flowlag.rli.receiver;

/**
 * Estimated delays of several packets, oldest first, for a {@link SampleHandler}. The content is valid only during the call. One
 * thread. Allocates at construction.
 */
public final class DelaySamples {
    /** How many there are at once, at most. */
    public static final int LIMIT = 64;

    private static final float LEAST_SCALE_NS = 1;

    static final int MEMORY_BYTES = LIMIT * (Long.BYTES + Float.BYTES);

    private final InterpolationBuffer packets;
    private final long[] delaysNs;
    private int count;
    private long octets;
    private long spanNumber;
    private float errorScaleNs;
    private long exactArrivalNs;
    private int exactLengthBytes;
    private final float[] scalesNs;
    private boolean isScaled;

    /** No samples; at most the limit of the oldest packets in a buffer. */
    DelaySamples(final InterpolationBuffer packets, final int limit) {
        this.packets = packets;
        delaysNs = new long[limit];
        scalesNs = new float[limit];
    }

    /** Takes the delay of the oldest packet. */
    void take(final long delayNs, final long gapsSpanNumber, final float gapsErrorScaleNs) {
        count = 1;
        isScaled = false;
        exactLengthBytes = 0;
        spanNumber = gapsSpanNumber;
        errorScaleNs = gapsErrorScaleNs;
        delaysNs[0] = delayNs;
    }

    /** Estimates the delays of the oldest packets. Returns how many are negative. */
    int estimate(
        final int packetCount, final Interpolation interpolation, final long gapsSpanNumber, final float gapsErrorScaleNs) {
        begin(packetCount, gapsSpanNumber, gapsErrorScaleNs);
        isScaled = false;
        octets = 0;
        int negativeCount = 0;
        for (int i = 0; i < packetCount; i++) {
            final long delayNs = interpolation.delayNs(packets.arrivalNs(i), packets.lengthBytes(i));
            delaysNs[i] = delayNs;
            octets += packets.lengthBytes(i);
            negativeCount += (int)(delayNs >>> Long.SIZE - 1);
        }
        return negativeCount;
    }

    /** {@return octets of the packets that were estimated last} */
    long octets() {
        return octets;
    }

    /** Begins samples of the oldest packets, each with a scale of its own, up to the largest one. */
    void begin(final int packetCount, final long gapsSpanNumber, final float largestScaleNs) {
        count = packetCount;
        isScaled = true;
        exactLengthBytes = 0;
        spanNumber = gapsSpanNumber;
        errorScaleNs = largestScaleNs;
    }

    void put(final int index, final long delayNs, final float scaleNs) {
        delaysNs[index] = delayNs;
        scalesNs[index] = scaleNs;
    }

    /** Adds the delays to the distribution of each packet's class; the errors of samples of different spans are independent. */
    void record(final ClassStatistics[] statistics, final long ofSpan) {
        int from = 0;
        while (from < count) {
            final int classIndex = packets.classIndex(from);
            long lengthBytes = packets.lengthBytes(from);
            int to = from + 1;
            while (to < count && packets.classIndex(to) == classIndex) {
                lengthBytes += packets.lengthBytes(to++);
            }
            statistics[classIndex].estimates().record(delaysNs, from, to);
            statistics[classIndex].onEstimates(to - from, lengthBytes, ofSpan, errorScaleNs);
            from = to;
        }
    }

    /** {@return how many samples there are, 1 to {@link #LIMIT}} */
    public int count() {
        return count;
    }

    /** Returns the flow's slot. */
    public int slot(final int index) {
        return packets.slot(index);
    }

    /** Returns the generation of the slot when the packet came. */
    public int generation(final int index) {
        return packets.generation(index);
    }

    /** The class of a packet. Returns as it was given. */
    public int classIndex(final int index) {
        return packets.classIndex(index);
    }

    /** The interval of a packet. Returns as it was given. */
    public long intervalNumber(final int index) {
        return packets.intervalNumber(index);
    }

    /** The length of a packet. Returns octets, as they were given. */
    public int lengthBytes(final int index) {
        return packets.lengthBytes(index);
    }

    /** When a packet arrived. Returns ns, as it was given. */
    public long arrivalNs(final int index) {
        return packets.arrivalNs(index);
    }

    /** {@return the number of the span of two gaps between references that all packets lie in; each stream numbers its own} */
    public long spanNumber() {
        return spanNumber;
    }

    /** Marks the packet of this length and arrival as the right reference itself. */
    void exact(final long arrivalNs, final int lengthBytes) {
        exactArrivalNs = arrivalNs;
        exactLengthBytes = lengthBytes;
    }

    /** The scale of a sample's error. Returns ns; 0 while it is not known. */
    public float errorScaleNs(final int index) {
        return packets.lengthBytes(index) == exactLengthBytes && packets.arrivalNs(index) == exactArrivalNs ?
            LEAST_SCALE_NS : isScaled ? scalesNs[index] : errorScaleNs;
    }

    /** The estimated delay of a packet. Returns ns, signed. */
    public long delayNs(final int index) {
        return delaysNs[index];
    }
}
