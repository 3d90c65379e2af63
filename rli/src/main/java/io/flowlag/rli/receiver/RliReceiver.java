package io.flowlag.rli.receiver;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.rli.path.FlowPaths;

/**
 * Estimates the delay of regular packets from references (RLI paper, sections III-B2 and III-C), for several streams of
 * references: one for each sender and class. The caller passes to each {@link #stream} its accepted references (see {@link
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

    private RliReceiver() {
        counters = new CounterSet<>(ReceiverCounter.class);
        statistics = new ClassStatistics[0];
        streams = new ReferenceStream[0];
    }

    /** {@return a receiver without streams: its counters are 0, and time, clock steps and settings have no effect} */
    public static RliReceiver none() {
        return new RliReceiver();
    }

    /** A receiver in its initial state. */
    public RliReceiver(final ReceiverSettings settings, final SampleHandler handler) {
        this(settings, handler, new FlowPaths(settings.pathFlows()));
    }

    /** The same with paths of flows in memory of the caller. */
    public RliReceiver(final ReceiverSettings settings, final SampleHandler handler, final FlowPaths flowPaths) {
        counters = new CounterSet<>(ReceiverCounter.class, settings.streamCount());
        statistics = new ClassStatistics[settings.classCount()];
        for (int i = 0; i < statistics.length; i++) {
            statistics[i] = new ClassStatistics(
                ReceiverSettings.HIGHEST_TRACKABLE_NS, settings.histograms().significantDigits(),
                settings.histograms().heldOutPeriods());
        }
        streams = new ReferenceStream[settings.streamCount()];
        for (int i = 0; i < streams.length; i++) {
            streams[i] = new ReferenceStream(i, settings, counters, statistics, handler, flowPaths);
        }
    }

    /** A stream of references, with the packets that took its way. */
    public ReferenceStream stream(final int streamIndex) {
        return streams[streamIndex];
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

    /** Changes the longest time, above 0, between two references over which delays are estimated. */
    public void maximumGapNs(final long maximumGapNs) {
        for (final ReferenceStream stream : streams) {
            stream.maximumGapNs(maximumGapNs);
        }
    }

    /** Changes the capacity of the link, above 0 bits/s where {@link SerialisationMode#CAPACITY} uses it. */
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
        for (final ReferenceStream stream : streams) {
            stream.rotate();
        }
    }

    public int streamCount() {
        return streams.length;
    }

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
}
