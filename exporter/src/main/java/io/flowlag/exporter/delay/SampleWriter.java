package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.flow.FlowCache;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.DelaySamples;
import io.flowlag.rli.receiver.SampleHandler;

/**
 * Writes samples into the state of living flows, and passes them to the sketches. The metering thread owns it. Allocates at
 * construction.
 */
final class SampleWriter implements SampleHandler {
    private final FlowCache cache;
    private final OffHeapBuffer entries;
    private final FlowDistributions distributions;
    private final boolean isDistributed;
    private final int classCount;
    private final int[] offsets = new int[DelaySamples.LIMIT];
    /** Those that take estimates, by sender. */
    private IntervalStage[] sketching = {};

    /** Writes for a receiver of references; the distributions take each sample, or the delays of another estimator. */
    SampleWriter(
        final FlowCache cache, final FlowDistributions distributions, final boolean isDistributed, final int classCount) {
        this.cache = cache;
        entries = cache.entries();
        this.distributions = distributions;
        this.isDistributed = isDistributed;
        this.classCount = classCount;
    }

    /** Passes estimates by references to sketches from now on. */
    void tell(final SenderSketches sketches) {
        sketching = sketches.all();
    }

    @Override
    public int onSamples(final DelaySamples samples) {
        final int count = samples.count();
        for (int i = 0; sketching.length > 0 && i < count; i++) {
            sketching[samples.classIndex(i) / classCount].onEstimate(
                samples.intervalNumber(i), samples.delayNs(i), samples.spanNumber(), samples.errorScaleNs(i));
        }
        // A loop that only reads, as in the cache: its cache misses overlap.
        int liveCount = 0;
        for (int i = 0; i < count; i++) {
            final int slot = samples.slot(i);
            offsets[i] = cache.isCurrent(slot, samples.generation(i)) ? cache.stateOffset(slot) : -1;
            liveCount += offsets[i] < 0 ? 0 : 1;
        }
        for (int i = 0; i < count; i++) {
            if (offsets[i] >= 0) {
                write(offsets[i], samples.spanNumber(), samples.errorScaleNs(i), samples.delayNs(i));
            }
        }
        return count - liveCount;
    }

    private void write(final int offset, final long spanNumber, final float errorScaleNs, final long delayNs) {
        FlowDelay.countInSpan(entries, offset, spanNumber, errorScaleNs);
        DelayCounters.record(entries, offset, delayNs);
        if (isDistributed) {
            distributions.record(entries, offset, DelayCounters.count(entries, offset), delayNs);
        }
    }
}
