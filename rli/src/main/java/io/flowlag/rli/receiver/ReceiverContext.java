package io.flowlag.rli.receiver;

import java.util.concurrent.TimeUnit;

/**
 * Settings of an {@link RliReceiver}, with the product's defaults. Fluent; the receiver copies its values and checks ranges and
 * relations. For the thread that fills it; holds only values.
 */
public final class ReceiverContext {
    /** The largest delay that histograms distinguish from larger ones. */
    static final long HIGHEST_TRACKABLE_NS = TimeUnit.SECONDS.toNanos(60);
    private static final int MAXIMUM_STREAMS = 4096;

    private int classCount = 1;
    private int[] streamClasses = {0};
    private boolean isReferenceRegular;
    private Estimator estimator = Estimator.LINEAR;
    private SendTimes sendTimes = SendTimes.FOLLOW_UP;
    private SerialisationMode serialisation = SerialisationMode.NONE;
    private long capacityBps;
    private int bufferPackets = 64 * 1024;
    private long silentAfterNs = TimeUnit.SECONDS.toNanos(1);
    private long maximumGapNs = Long.MAX_VALUE;
    private long maximumDelayNs = TimeUnit.MILLISECONDS.toNanos(200);
    private int significantDigits = 3;
    private long driftWindowNs = TimeUnit.SECONDS.toNanos(10);
    private boolean isDriftApplied;
    private int heldOutPeriods = 1;

    /** Defaults: one stream of one class. */
    public ReceiverContext() {
    }

    /** {@return how many traffic classes there are} */
    public int classCount() {
        return classCount;
    }

    /**
     * Sets how many traffic classes there are.
     *
     * @param classCount 1 or more.
     */
    public ReceiverContext classCount(final int classCount) {
        this.classCount = classCount;
        return this;
    }

    /** {@return how many streams of references there are} */
    public int streamCount() {
        return streamClasses.length;
    }

    int streamClass(final int streamIndex) {
        return streamClasses[streamIndex];
    }

    /**
     * Sets the streams of references: one for each sender and class.
     *
     * @param streamClasses class of each stream, in the order of the stream indexes.
     */
    public ReceiverContext streams(final int... streamClasses) {
        this.streamClasses = streamClasses.clone();
        return this;
    }

    /**
     * The memory of a receiver of this context, by formula: the buffers of its streams and the distributions of its classes.
     * Returns octets, on and off the heap.
     */
    public long memoryBytes() {
        final long streamBytes = WaitingReferences.MEMORY_BYTES + DelaySamples.MEMORY_BYTES +
            InterpolationBuffer.memoryBytes(estimator == Estimator.LINEAR ? bufferPackets : 1);
        return streamCount() * streamBytes + classCount * ClassStatistics.memoryBytes(HIGHEST_TRACKABLE_NS, significantDigits);
    }

    /** {@return how delays are estimated} */
    public Estimator estimator() {
        return estimator;
    }

    /** Sets how delays are estimated. */
    public ReceiverContext estimator(final Estimator estimator) {
        this.estimator = estimator;
        return this;
    }

    /** {@return whether references are regular packets too, with samples of their own} */
    public boolean isReferenceRegular() {
        return isReferenceRegular;
    }

    /**
     * Sets whether references are regular traffic, which gets samples too: those are exact. Default false.
     *
     * @param regular whether they are.
     */
    public ReceiverContext referenceRegular(final boolean regular) {
        isReferenceRegular = regular;
        return this;
    }

    /** {@return where send times come from} */
    public SendTimes sendTimes() {
        return sendTimes;
    }

    /** Sets where send times come from. */
    public ReceiverContext sendTimes(final SendTimes sendTimes) {
        this.sendTimes = sendTimes;
        return this;
    }

    /** {@return how a packet's own octets count} */
    public SerialisationMode serialisation() {
        return serialisation;
    }

    /** Sets how a packet's own octets count. */
    public ReceiverContext serialisation(final SerialisationMode serialisation) {
        this.serialisation = serialisation;
        return this;
    }

    /** {@return the rate of the bottleneck queue, bits/s; 0 for unknown} */
    public long capacityBps() {
        return capacityBps;
    }

    /**
     * Sets the rate of the bottleneck queue.
     *
     * @param capacityBps bits/s; 0 for unknown.
     */
    public ReceiverContext capacityBps(final long capacityBps) {
        this.capacityBps = capacityBps;
        return this;
    }

    /** {@return how many packets of a stream may wait} */
    public int bufferPackets() {
        return bufferPackets;
    }

    /**
     * Sets how many packets of a stream may wait for their right reference: as many as arrive in two or three of the policy's
     * longest gaps.
     *
     * @param bufferPackets 1 or more; rounded up to a power of two.
     */
    public ReceiverContext bufferPackets(final int bufferPackets) {
        this.bufferPackets = bufferPackets;
        return this;
    }

    /** {@return the longest time between two references over which delays are estimated, ns} */
    public long maximumGapNs() {
        return maximumGapNs;
    }

    /**
     * Sets the longest time between two references over which delays are estimated. Passive references can be far apart and
     * arrive late, so silence alone would not detect the gap in time.
     *
     * @param maximumGapNs more than 0; the default is no limit.
     */
    public ReceiverContext maximumGapNs(final long maximumGapNs) {
        this.maximumGapNs = maximumGapNs;
        return this;
    }

    /** {@return the silence after which estimates stop, ns} */
    public long silentAfterNs() {
        return silentAfterNs;
    }

    /**
     * Sets the silence of the sender after which estimates stop.
     *
     * @param silentAfterNs more than 0: several of the sender's maximum gaps.
     */
    public ReceiverContext silentAfterNs(final long silentAfterNs) {
        this.silentAfterNs = silentAfterNs;
        return this;
    }

    /** {@return the longest that a packet may be under way, ns} */
    public long maximumDelayNs() {
        return maximumDelayNs;
    }

    /**
     * Sets the longest that a packet may be under way, without the clocks' difference. Delays of neighbouring references that
     * differ by more are a step of a clock.
     *
     * @param maximumDelayNs more than 0.
     */
    public ReceiverContext maximumDelayNs(final long maximumDelayNs) {
        this.maximumDelayNs = maximumDelayNs;
        return this;
    }

    /** {@return decimal digits that histograms keep} */
    public int significantDigits() {
        return significantDigits;
    }

    /**
     * Sets the decimal digits that histograms keep. A class has seven histograms, of about 230 kB each with 3 digits and 30 kB
     * with 2.
     *
     * @param significantDigits 1 to 5.
     */
    public ReceiverContext significantDigits(final int significantDigits) {
        this.significantDigits = significantDigits;
        return this;
    }

    /** {@return the window of which the drift estimate takes the smallest delay, ns} */
    public long driftWindowNs() {
        return driftWindowNs;
    }

    /**
     * Sets the window of which the drift estimate takes the smallest delay; it keeps 64 of them.
     *
     * @param driftWindowNs more than 0.
     */
    public ReceiverContext driftWindowNs(final long driftWindowNs) {
        this.driftWindowNs = driftWindowNs;
        return this;
    }

    /** {@return true if the estimated drift is taken out of the delays} */
    public boolean isDriftApplied() {
        return isDriftApplied;
    }

    /**
     * Sets whether the estimated drift is taken out of the delays, from the first estimate on.
     *
     * @param isDriftApplied or only reported.
     */
    public ReceiverContext driftApplied(final boolean isDriftApplied) {
        this.isDriftApplied = isDriftApplied;
        return this;
    }

    /** {@return for how many periods of the statistics errors of held-out references are gathered before they are replaced} */
    public int heldOutPeriods() {
        return heldOutPeriods;
    }

    /**
     * Sets for how long errors of held-out references are gathered. A bound rests on this time and as much before it, so it
     * should be as long as a flow whose mean is to have the bound.
     *
     * @param heldOutPeriods periods of the statistics, see {@link RliReceiver#rotate}; 1 or more.
     */
    public ReceiverContext heldOutPeriods(final int heldOutPeriods) {
        this.heldOutPeriods = heldOutPeriods;
        return this;
    }

    /** Checks ranges and relations. */
    public ReceiverContext conclude() {
        checkAtLeast("classCount", classCount, 1);
        checkAtLeast("streamCount", streamClasses.length, 1);
        check(streamClasses.length <= MAXIMUM_STREAMS, "streamCount=" + streamClasses.length + " is above " + MAXIMUM_STREAMS);
        for (final int streamClass : streamClasses) {
            check(
                streamClass >= 0 && streamClass < classCount,
                "streamClass=" + streamClass + " is not below classCount=" + classCount);
        }
        check(
            serialisation != SerialisationMode.CAPACITY || capacityBps > 0,
            "capacityBps=" + capacityBps + ", and serialisation=" + serialisation + " needs it");
        checkAtLeast("bufferPackets", bufferPackets, 1);
        check(
            bufferPackets <= InterpolationBuffer.MAXIMUM_PACKETS,
            "bufferPackets=" + bufferPackets + " is above " + InterpolationBuffer.MAXIMUM_PACKETS);
        checkAtLeast("silentAfterNs", silentAfterNs, 1);
        checkAtLeast("maximumGapNs", maximumGapNs, 1);
        checkAtLeast("maximumDelayNs", maximumDelayNs, 1);
        checkAtLeast("significantDigits", significantDigits, 1);
        check(significantDigits <= 5, "significantDigits=" + significantDigits + " is above 5");
        checkAtLeast("driftWindowNs", driftWindowNs, 1);
        checkAtLeast("heldOutPeriods", heldOutPeriods, 1);
        return this;
    }

    private static void checkAtLeast(final String name, final long value, final long least) {
        check(value >= least, name + "=" + value + " is below " + least);
    }

    private static void check(final boolean isGood, final String message) {
        if (!isGood) {
            throw new IllegalArgumentException(message);
        }
    }
}
