package io.flowlag.exporter.status;

import org.HdrHistogram.Histogram;
import org.HdrHistogram.SingleWriterRecorder;

import java.util.ArrayList;
import java.util.List;

/**
 * Latency of packets through the process: from their timestamp by the kernel or the card until they are metered. One thread
 * records, another reads; neither waits longer than for a swap. If several threads meter, each records in its own {@link #share}.
 * Allocates at construction, with each share, and a few numbers with each read.
 */
public final class PipelineLatency {
    /** Longer latencies are counted as this. */
    public static final long LONGEST_NS = 60_000_000_000L;

    private static final int SIGNIFICANT_DIGITS = 2;
    private static final double PERCENT = 100;
    private static final int HISTOGRAMS = 3;

    private final SingleWriterRecorder recorder = new SingleWriterRecorder(1, LONGEST_NS, SIGNIFICANT_DIGITS);
    private final Histogram total = new Histogram(1, LONGEST_NS, SIGNIFICANT_DIGITS);
    private Histogram taken;
    private final List<PipelineLatency> shares = new ArrayList<>();
    private long sumNs;

    /**
     * Creates a share for one of several metering threads, included in the summary. To be called before the threads start.
     * Returns a share with nothing recorded.
     */
    public PipelineLatency share() {
        final PipelineLatency share = new PipelineLatency();
        shares.add(share);
        return share;
    }

    /** {@return memory of an instance or a share, octets} */
    public static long memoryBytes() {
        return HISTOGRAMS * (long)new Histogram(1, LONGEST_NS, SIGNIFICANT_DIGITS).getEstimatedFootprintInBytes();
    }

    /**
     * Records a batch of packets, with the latency of the first one, which has waited longest.
     *
     * @param timestampNs of the first packet.
     * @param nowNs       when they were metered, by the clock of the timestamps; before the timestamp counts as 0.
     * @param packetCount at least 1.
     */
    public void record(final long timestampNs, final long nowNs, final int packetCount) {
        recorder.recordValueWithCount(Math.max(0, Math.min(nowNs - timestampNs, LONGEST_NS)), packetCount);
    }

    /** {@return the latency of all packets so far; one reader at a time} */
    public LatencySummary summary() {
        takeFrom(this);
        shares.forEach(this::takeFrom);
        final long[] boundariesNs = DelayHistogram.boundariesNs();
        final List<Long> countsAtMost = new ArrayList<>(boundariesNs.length);
        for (final long boundaryNs : boundariesNs) {
            countsAtMost.add(total.getTotalCount() == 0 ? 0 : total.getCountBetweenValues(0, boundaryNs));
        }
        return new LatencySummary(
            new DelayHistogram.Buckets(countsAtMost, total.getTotalCount(), sumNs), quantileNs(0.5), quantileNs(0.9),
            quantileNs(0.99), quantileNs(0.999), total.getTotalCount() == 0 ? 0 : total.getMaxValue());
    }

    private void takeFrom(final PipelineLatency share) {
        share.taken = share.recorder.getIntervalHistogram(share.taken);
        if (share.taken.getTotalCount() > 0) {
            sumNs += Math.round(share.taken.getMean() * share.taken.getTotalCount());
            total.add(share.taken);
        }
    }

    private long quantileNs(final double share) {
        return total.getTotalCount() == 0 ? 0 : total.getValueAtPercentile(share * PERCENT);
    }
}
