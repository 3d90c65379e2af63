package io.flowlag.exporter.delay;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.sketch.quantile.QuantileSketch;
import org.agrona.DirectBuffer;
import org.agrona.MutableDirectBuffer;
import org.agrona.collections.IntArrayList;

/**
 * The delay distributions of flows. A flow gets one at its configured number of delays, and one at the first sampled packet with
 * a send time, first come, first served, while there is room; its end frees them. The metering thread owns it; counters may be
 * read by any. Allocates the configured memory at construction, off the heap, and 4 octets for each distribution.
 */
final class FlowDistributions {
    private static final int CHUNK_SHIFT = 12;
    private static final int CHUNK = 1 << CHUNK_SHIFT;

    private final OffHeapBuffer[] chunks;
    private final IntArrayList free;
    private final int fromPackets;
    private volatile long given;
    private volatile long refused;
    private volatile long sampled;

    /** No flow has one; the settings have the memory, and the number of delays that gives a flow a distribution. */
    FlowDistributions(final ExporterConfig.Quantiles settings) {
        final int capacity = capacity(settings);
        fromPackets = settings.fromPackets();
        chunks = new OffHeapBuffer[(capacity + CHUNK - 1) / CHUNK];
        for (int i = 0; i < chunks.length; i++) {
            final int count = Math.min(CHUNK, capacity - i * CHUNK);
            chunks[i] = OffHeapBuffer.allocateUntouched(count * QuantileSketch.LENGTH_BYTES);
        }
        free = new IntArrayList(capacity, IntArrayList.DEFAULT_NULL_VALUE);
        for (int i = capacity - 1; i >= 0; i--) {
            free.addInt(i);
        }
    }

    private FlowDistributions(final FlowDistributions other) {
        chunks = other.chunks;
        free = other.free;
        fromPackets = other.fromPackets;
    }

    /** {@return distributions in the same memory, with counters of their own} */
    FlowDistributions shared() {
        return new FlowDistributions(this);
    }

    private static int capacity(final ExporterConfig.Quantiles settings) {
        return (int)(settings.memoryBytes() / QuantileSketch.LENGTH_BYTES);
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final ExporterConfig.Quantiles settings) {
        return (long)capacity(settings) * (QuantileSketch.LENGTH_BYTES + Integer.BYTES);
    }

    /** Prefetches the part of a flow's distribution that a delay needs. */
    long touch(final DirectBuffer entry, final int offset) {
        final int place = FlowDelay.distribution(entry, offset);
        return place < 0 ? 0 : QuantileSketch.count(buffer(place), at(place));
    }

    /** A flow has a further delay, of so many. */
    void record(final MutableDirectBuffer entry, final int offset, final long delayCount, final long delayNs) {
        int place = FlowDelay.distribution(entry, offset);
        if (place < 0) {
            if (delayCount != fromPackets) {
                return;
            }
            place = take();
            if (place < 0) {
                return;
            }
            FlowDelay.distribution(entry, offset, place);
        }
        QuantileSketch.record(buffer(place), at(place), delayNs);
    }

    private int take() {
        if (free.isEmpty()) {
            refused++;
            return -1;
        }
        final int place = free.popInt();
        given++;
        QuantileSketch.clear(buffer(place), at(place));
        return place;
    }

    private void free(final int place) {
        free.pushInt(place);
    }

    /** A flow has a further packet that both points sample. Its send time may come later. */
    static void sample(final MutableDirectBuffer entry, final int offset) {
        FlowDelay.sampledPackets(entry, offset, FlowDelay.sampledPackets(entry, offset) + 1);
    }

    /** The delay of a packet that both points sampled is known. */
    void recordSampled(final MutableDirectBuffer entry, final int offset, final long delayNs) {
        int place = FlowDelay.sampledDistribution(entry, offset);
        if (place < 0) {
            place = take();
            if (place < 0) {
                return;
            }
            FlowDelay.sampledDistribution(entry, offset, place);
        }
        QuantileSketch.record(buffer(place), at(place), delayNs);
        sampled = sampled + 1;
    }

    /** A flow ends: writes its quantiles and frees its distribution. */
    void finish(final MutableDirectBuffer entry, final int offset, final int countersOffset) {
        final int place = FlowDelay.distribution(entry, offset);
        if (place >= 0) {
            FlowQuantiles.write(
                entry, FlowDelay.quantilesOffset(offset), buffer(place), at(place),
                DelayCounters.minimumNs(entry, countersOffset), DelayCounters.maximumNs(entry, countersOffset));
            FlowDelay.distribution(entry, offset, -1);
            free(place);
        }
    }

    /**
     * A flow ends, after {@link #finish}: its quantiles are those of its sampled packets if these have any whose intervals are
     * narrower than the errors of estimates. Frees their distribution.
     *
     * @param errorNs 95 % of the estimates have smaller errors; {@link Double#POSITIVE_INFINITY} if it is not known, or if they
     *                have no quantiles.
     */
    void finishSampled(final MutableDirectBuffer entry, final int offset, final double errorNs) {
        final int place = FlowDelay.sampledDistribution(entry, offset);
        if (place < 0) {
            return;
        }
        final long packets = FlowEntry.packetCount(entry, offset - FlowEntry.BASE_LENGTH_BYTES);
        final int sampledPackets = FlowDelay.sampledPackets(entry, offset);
        if (FlowQuantiles.sampledErrorNs(buffer(place), at(place), packets, sampledPackets) < errorNs) {
            FlowQuantiles.writeSampled(
                entry, FlowDelay.quantilesOffset(offset), buffer(place), at(place), packets, sampledPackets);
        }
        FlowDelay.sampledDistribution(entry, offset, -1);
        free(place);
    }

    /** {@return delays of sampled packets in distributions} */
    long sampled() {
        return sampled;
    }

    /** {@return flows that got a distribution} */
    long given() {
        return given;
    }

    /** {@return flows that qualified and found no room} */
    long refused() {
        return refused;
    }

    private OffHeapBuffer buffer(final int place) {
        return chunks[place >> CHUNK_SHIFT];
    }

    private static int at(final int place) {
        return (place & CHUNK - 1) * QuantileSketch.LENGTH_BYTES;
    }
}
