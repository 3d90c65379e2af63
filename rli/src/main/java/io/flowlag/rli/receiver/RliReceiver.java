package io.flowlag.rli.receiver;

import io.flowlag.common.counter.CounterSet;

/**
 * Estimates the delay of regular packets from references (RLI paper, sections III-B2 and III-C), for several streams of
 * references: one for each sender and class. The caller passes accepted references (see {@link
 * io.flowlag.rli.reference.ReferenceVerifier}), their effective send times when known, and regular packets, roughly in order of
 * arrival. Samples go to the {@link SampleHandler} during these calls.
 *
 * <p>A stream without a left reference gives no estimates. Delays are never estimated across a silence, a restart of the sender
 * or a step of a clock. {@link ReceiverCounter} accounts for each packet and reference.
 *
 * <p>One thread; counters may be read by any. Allocates at construction.
 */
public final class RliReceiver {
    private final CounterSet<ReceiverCounter> counters;
    private final ReferenceStream[] streams;
    private final ClassStatistics[] statistics;

    /** A receiver in its initial state. */
    public RliReceiver(final ReceiverSettings settings, final SampleHandler handler) {
        counters = new CounterSet<>(ReceiverCounter.class, settings.streamCount());
        statistics = new ClassStatistics[settings.classCount()];
        for (int i = 0; i < statistics.length; i++) {
            statistics[i] = new ClassStatistics(
                ReceiverSettings.HIGHEST_TRACKABLE_NS, settings.histograms().significantDigits(),
                settings.histograms().heldOutPeriods());
        }
        streams = new ReferenceStream[settings.streamCount()];
        for (int i = 0; i < streams.length; i++) {
            streams[i] = new ReferenceStream(i, settings, counters, statistics, handler);
        }
    }

    /**
     * A regular packet.
     *
     * @param streamIndex    of the references that took its way.
     * @param classIndex     of the packet, for the statistics.
     * @param intervalNumber of the packet, handed through to its sample.
     * @param lengthBytes    of the packet, counted as references are.
     */
    public void onPacket(
        final int streamIndex, final int slot, final int generation, final int classIndex, final long intervalNumber,
        final int lengthBytes, final long arrivalNs) {
        streams[streamIndex].onPacket(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
    }

    /**
     * Whether regular packets would only wait for the next reference. They may then go to {@link #onBufferedPacket}, with no
     * other call in between.
     *
     * @param streamIndex of the references that took their way.
     * @param packets     how many.
     * @param earliestNs  the first arrival.
     * @param latestNs    the last one.
     */
    public boolean wouldBuffer(final int streamIndex, final int packets, final long earliestNs, final long latestNs) {
        return streams[streamIndex].wouldBuffer(packets, earliestNs, latestNs);
    }

    /**
     * A regular packet that waits for the next reference: as {@link #onPacket}, except for the counters, which {@link
     * #onBuffered} updates.
     *
     * @param streamIndex    of the references that took its way.
     * @param classIndex     of the packet, for the statistics.
     * @param intervalNumber of the packet, handed through to its sample.
     * @param lengthBytes    of the packet, counted as references are.
     */
    public void onBufferedPacket(
        final int streamIndex, final int slot, final int generation, final int classIndex, final long intervalNumber,
        final int lengthBytes, final long arrivalNs) {
        streams[streamIndex].onBufferedPacket(slot, generation, classIndex, intervalNumber, lengthBytes, arrivalNs);
    }

    /**
     * Counts packets that were given to {@link #onBufferedPacket}.
     *
     * @param streamIndex of the references that took their way.
     * @param packets     how many.
     */
    public void onBuffered(final int streamIndex, final int packets) {
        streams[streamIndex].onBuffered(packets);
    }

    /**
     * A reference.
     *
     * @param lengthBytes of the reference, counted as packets are.
     */
    public void onReference(
        final int streamIndex, final int sequenceNumber, final long stampNs, final long arrivalNs, final int lengthBytes) {
        streams[streamIndex].onReference(sequenceNumber, stampNs, arrivalNs, lengthBytes);
    }

    /**
     * An effective send time, before or after its reference. Ignored if send times are those of the stamps.
     *
     * @param sentNs when it passed the sender's observation point.
     */
    public void onSendTime(final int streamIndex, final int sequenceNumber, final long sentNs) {
        streams[streamIndex].onSendTime(sequenceNumber, sentNs);
    }

    /**
     * Advances time: streams without a reference for too long become silent, and their waiting packets are given up.
     *
     * @param nowNs the time, as packets are stamped.
     */
    public void onTime(final long nowNs) {
        for (final ReferenceStream stream : streams) {
            stream.onTime(nowNs);
        }
    }

    /** A clock is known to have been set: nothing is estimated between references before and after. */
    public void onClockStep() {
        for (final ReferenceStream stream : streams) {
            stream.onClockStep();
        }
    }

    /**
     * Changes the longest time between two references over which delays are estimated.
     *
     * @param maximumGapNs more than 0.
     */
    public void maximumGapNs(final long maximumGapNs) {
        for (final ReferenceStream stream : streams) {
            stream.maximumGapNs(maximumGapNs);
        }
    }

    /**
     * Changes the capacity of the link, used by {@link SerialisationMode#CAPACITY}.
     *
     * @param capacityBps bits/s, more than 0 with that mode.
     */
    public void capacityBps(final long capacityBps) {
        for (final ReferenceStream stream : streams) {
            stream.capacityBps(capacityBps);
        }
    }

    /**
     * Changes for how long errors of held-out references are gathered, from the end of the present period on.
     *
     * @param heldOutPeriods see {@link ReceiverSettings.Histograms#heldOutPeriods}; 1 or more.
     */
    public void heldOutPeriods(final int heldOutPeriods) {
        for (final ClassStatistics each : statistics) {
            each.heldOutPeriods(heldOutPeriods);
        }
    }

    /** Ends the input: waiting packets are settled, or given up as after silence. */
    public void onEnd() {
        for (final ReferenceStream stream : streams) {
            stream.abandon(ReceiverCounter.SILENCE);
        }
    }

    /** Begins a new period of the statistics of all classes; drift and counters go on. */
    public void rotate() {
        for (final ClassStatistics each : statistics) {
            each.rotate();
        }
    }

    /** {@return how many streams of references there are} */
    public int streamCount() {
        return streams.length;
    }

    /** The statistics of a class. */
    public ClassStatistics statistics(final int classIndex) {
        return statistics[classIndex];
    }

    /** Reads a counter; safe from any thread. */
    public long counter(final int streamIndex, final ReceiverCounter counter) {
        return counters.get(streamIndex, counter);
    }

    /** Adds a counter up over all streams; safe from any thread. */
    public long counter(final ReceiverCounter counter) {
        return counters.sum(counter);
    }

    /** The drift of the clocks as a stream sees it. */
    public DriftEstimator drift(final int streamIndex) {
        return streams[streamIndex].drift();
    }

    /** Average lag of effective send times behind stamps. Returns ns, signed; 0 while no effective send time was seen. */
    public long stampCorrectionNs(final int streamIndex) {
        return streams[streamIndex].stampCorrectionNs();
    }

    /**
     * Error of a send time without an effective one: the mean deviation from the average difference. Returns ns; 0 while no
     * effective send time was seen.
     */
    public long stampErrorNs(final int streamIndex) {
        return streams[streamIndex].stampErrorNs();
    }

    /** The time that an octet adds to a packet's delay, as it is used now. Returns ns. */
    public double serialisationNsPerByte(final int streamIndex) {
        return streams[streamIndex].serialisationNsPerByte();
    }

    /** Whether references arrive: false before the first, and after a silence. */
    public boolean isHeard(final int streamIndex) {
        return streams[streamIndex].isHeard();
    }
}
