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
    private final int classCount;
    private final int[] offsets = new int[DelaySamples.LIMIT];
    private SenderSketches sketching;

    /**
     * Writes for a receiver of references.
     *
     * @param distributions take each sample; null where those of other delays are kept.
     */
    SampleWriter(final FlowCache cache, final FlowDistributions distributions, final int classCount) {
        this.cache = cache;
        entries = cache.entries();
        this.distributions = distributions;
        this.classCount = classCount;
    }

    /** Passes estimates by references to sketches from now on. */
    void tell(final SenderSketches sketches) {
        sketching = sketches;
    }

    @Override
    public int onSamples(final DelaySamples samples) {
        final int count = samples.count();
        for (int i = 0; sketching != null && i < count; i++) {
            sketching.of(samples.classIndex(i) / classCount).onEstimate(
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
        if (distributions != null) {
            distributions.record(entries, offset, DelayCounters.count(entries, offset), delayNs);
        }
    }
}
