package io.flowlag.rli.receiver;

import io.flowlag.rli.path.FlowPaths;
import io.flowlag.rli.reference.SequenceWindow;

import java.util.List;

/**
 * Settings of an {@link RliReceiver}: {@link #defaults()}, with parts replaced. Each part checks its ranges. Immutable; any
 * thread.
 *
 * @param classCount    traffic classes, 1 or more.
 * @param streamClasses class of each stream of references, in the order of the stream indexes. There is one stream for each
 *                      sender and class, 4096 at most.
 * @param pathFlows     slots of flows whose paths are kept where references of several ports find several; 0 for none, and
 *                      then references of all ports are of one path.
 */
public record ReceiverSettings(
    int classCount, List<Integer> streamClasses, Estimation estimation, Limits limits, Histograms histograms, Drift drift,
    int pathFlows) {
    /** The largest delay that histograms distinguish from larger ones, ns. */
    static final long HIGHEST_TRACKABLE_NS = 60_000_000_000L;

    private static final int MAXIMUM_STREAMS = 4096;
    private static final ReceiverSettings DEFAULTS = new ReceiverSettings(
        1, List.of(0), new Estimation(Estimator.LINEAR, SendTimes.FOLLOW_UP, false, SerialisationMode.NONE, 0),
        new Limits(64 * 1024, 1_000_000_000, Long.MAX_VALUE, 200_000_000), new Histograms(3, 1),
        new Drift(10_000_000_000L, false), 0);

    /**
     * How delays are estimated.
     *
     * @param sendTimes          where send times come from.
     * @param isReferenceRegular whether references are regular traffic too, which gets samples; those are exact.
     * @param serialisation      how a packet's own octets count.
     * @param capacityBps        rate of the bottleneck queue, bits/s; 0 for unknown.
     */
    public record Estimation(
        Estimator estimator, SendTimes sendTimes, boolean isReferenceRegular, SerialisationMode serialisation, long capacityBps) {
        /** Checks that the capacity is known where it is needed. */
        public Estimation {
            check(
                serialisation != SerialisationMode.CAPACITY || capacityBps > 0,
                "capacityBps=" + capacityBps + ", and serialisation=" + serialisation + " needs it");
        }
    }

    /**
     * What a stream waits for, and how long.
     *
     * @param bufferPackets  packets that may wait for their right reference: as many as arrive in two or three of the policy's
     *                       longest gaps. 1 or more; rounded up to a power of two.
     * @param silentAfterNs  silence of the sender after which estimates stop, above 0: several of its maximum gaps.
     * @param maximumGapNs   longest time between two references over which delays are estimated, above 0. Passive references can
     *                       be far apart and arrive late, so silence alone would not detect the gap in time.
     * @param maximumDelayNs longest that a packet may be under way, above 0, without the clocks' difference. Delays of
     *                       neighbouring references that differ by more are a step of a clock.
     */
    public record Limits(int bufferPackets, long silentAfterNs, long maximumGapNs, long maximumDelayNs) {
        /** Checks ranges. */
        public Limits {
            checkAtLeast("bufferPackets", bufferPackets, 1);
            check(
                bufferPackets <= InterpolationBuffer.MAXIMUM_PACKETS,
                "bufferPackets=" + bufferPackets + " is above " + InterpolationBuffer.MAXIMUM_PACKETS);
            checkAtLeast("silentAfterNs", silentAfterNs, 1);
            checkAtLeast("maximumGapNs", maximumGapNs, 1);
            checkAtLeast("maximumDelayNs", maximumDelayNs, 1);
        }
    }

    /**
     * Statistics of a class.
     *
     * @param significantDigits decimal digits that histograms keep, 1 to 5. A class has seven histograms, of about 230 kB each
     *                          with 3 digits and 30 kB with 2.
     * @param heldOutPeriods    periods (see {@link RliReceiver#rotate}) for which errors of held-out references are gathered, 1
     *                          or more. A bound rests on this time and as much before it, so it should be as long as a flow
     *                          whose mean is to have the bound.
     */
    public record Histograms(int significantDigits, int heldOutPeriods) {
        /** Checks ranges. */
        public Histograms {
            checkAtLeast("significantDigits", significantDigits, 1);
            check(significantDigits <= 5, "significantDigits=" + significantDigits + " is above 5");
            checkAtLeast("heldOutPeriods", heldOutPeriods, 1);
        }
    }

    /**
     * The clocks' drift.
     *
     * @param windowNs  of which the estimate takes the smallest delay, above 0; it keeps 64 of them.
     * @param isApplied whether the estimate is taken out of the delays, from the first one on, or only reported.
     */
    public record Drift(long windowNs, boolean isApplied) {
        /** Checks the range. */
        public Drift {
            checkAtLeast("driftWindowNs", windowNs, 1);
        }
    }

    /**
     * Checks classes and streams.
     *
     * @throws IllegalArgumentException with the name and the value at fault, as all parts do.
     */
    public ReceiverSettings {
        streamClasses = List.copyOf(streamClasses);
        checkAtLeast("classCount", classCount, 1);
        checkAtLeast("streamCount", streamClasses.size(), 1);
        checkAtLeast("pathFlows", pathFlows, 0);
        check(streamClasses.size() <= MAXIMUM_STREAMS, "streamCount=" + streamClasses.size() + " is above " + MAXIMUM_STREAMS);
        for (final int streamClass : streamClasses) {
            check(
                streamClass >= 0 && streamClass < classCount,
                "streamClass=" + streamClass + " is not below classCount=" + classCount);
        }
    }

    /**
     * {@return the product's defaults: one stream of one class, linear estimates, send times by follow-up, 64 Ki packets
     * waiting, 1 s of silence, delays up to 200 ms}
     */
    public static ReceiverSettings defaults() {
        return DEFAULTS;
    }

    /** The same with other streams and their classes. */
    public ReceiverSettings withStreams(final int newClassCount, final List<Integer> newStreamClasses) {
        return new ReceiverSettings(newClassCount, newStreamClasses, estimation, limits, histograms, drift, pathFlows);
    }

    /** The same with send times from elsewhere. */
    public ReceiverSettings withSendTimes(final SendTimes sendTimes) {
        return withEstimation(new Estimation(
            estimation.estimator, sendTimes, estimation.isReferenceRegular, estimation.serialisation, estimation.capacityBps));
    }

    /** The same with another estimation. */
    public ReceiverSettings withEstimation(final Estimation newEstimation) {
        return new ReceiverSettings(classCount, streamClasses, newEstimation, limits, histograms, drift, pathFlows);
    }

    /** The same with other limits. */
    public ReceiverSettings withLimits(final Limits newLimits) {
        return new ReceiverSettings(classCount, streamClasses, estimation, newLimits, histograms, drift, pathFlows);
    }

    /** The same with other statistics. */
    public ReceiverSettings withHistograms(final Histograms newHistograms) {
        return new ReceiverSettings(classCount, streamClasses, estimation, limits, newHistograms, drift, pathFlows);
    }

    /** The same with another use of the clocks' drift. */
    public ReceiverSettings withDrift(final Drift newDrift) {
        return new ReceiverSettings(classCount, streamClasses, estimation, limits, histograms, newDrift, pathFlows);
    }

    /** The same with paths of so many slots of flows. */
    public ReceiverSettings withPathFlows(final int slots) {
        return new ReceiverSettings(classCount, streamClasses, estimation, limits, histograms, drift, slots);
    }

    public int streamCount() {
        return streamClasses.size();
    }

    /**
     * {@return the memory of a receiver, octets on and off the heap, by formula: the buffers of its streams and the distributions
     * of its classes}
     */
    public long memoryBytes() {
        final long streamBytes = WaitingReferences.MEMORY_BYTES + DelaySamples.MEMORY_BYTES +
            SequenceWindow.WIDTH / Byte.SIZE +
            InterpolationBuffer.memoryBytes(estimation.estimator == Estimator.LINEAR ? limits.bufferPackets : 1) +
            (pathFlows > 0 ? PathSplit.MEMORY_BYTES : 0);
        return streamCount() * streamBytes + FlowPaths.memoryBytes(pathFlows) +
            classCount * ClassStatistics.memoryBytes(HIGHEST_TRACKABLE_NS, histograms.significantDigits);
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
