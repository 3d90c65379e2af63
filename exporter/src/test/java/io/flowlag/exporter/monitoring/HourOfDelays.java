package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayDistribution;
import io.flowlag.exporter.status.DelayHistogram;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DelaySummary;
import io.flowlag.exporter.status.DelayView;
import io.flowlag.exporter.status.IntervalDelays;
import io.flowlag.exporter.status.SegmentDescription;
import io.flowlag.exporter.status.SketchStatistics;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/**
 * The intervals of an hour, of two classes: the first is interpolated and has a daily wave and a gap, the second is matched and
 * becomes slow for five minutes.
 */
class HourOfDelays implements DelayView {
    /** Steps of 10 s without delays. */
    static final int GAP = 6;
    static final long START_NS = 1_764_000_000_000_000_000L;
    static final int INTERVALS = 720;
    static final long INTERVAL_NS = 5_000_000_000L;
    static final int PACKETS = 400;
    private static final long MS = 1_000_000L;
    private static final int SLOW_FROM = 480;
    private static final int SLOW_TO = 540;
    private static final int GAP_FROM = 240;

    private final Random random = new Random(26);
    private final LogHistogram histogram = new LogHistogram();
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[IntervalDelays.HISTOGRAM_LIMIT_BYTES]);

    /** Statistics at the end of the hour and so many seconds later. */
    static Statistics statistics(final StatusSnapshot snapshot, final int seconds) {
        final Statistics known = snapshot.statistics();
        final Counters counters = new Counters();
        counters.set(CounterId.METERED, 5000L * (seconds + 1));
        counters.set(CounterId.METERED_OCTETS, 4_000_000L * (seconds + 1));
        final DelayStatistics delay = known.delay();
        final Map<String, Long> own = new HashMap<>(delay.counters());
        own.put("match_lost", (long)seconds / 7);
        own.put("match_sent_undecided", 0L);
        final Map<String, Double> gauges = new HashMap<>(delay.gauges());
        gauges.put("match_share", 1.0);
        gauges.put("clock_offset_ns", -3e6 + 1500 * seconds);
        return new Statistics(counters, known.sources(), known.destinations(), List.of(new DelayStatistics(
            delay.role(), delay.segmentId(), delay.policy(), delay.clockErrorNs(), own, gauges, delay.interval(), delay.total(),
            delay.sketches(), Map.of())), known.latency(), known.startTimeMs(),
            START_NS / MS + INTERVALS * INTERVAL_NS / MS - 90_000 + 1000L * seconds, known.memoryBoundBytes(), known.memory());
    }

    @Override
    public long intervalCount() {
        return INTERVALS;
    }

    @Override
    public List<IntervalDelays> interval(final long number) {
        final int i = (int)number;
        final double wave = 2 * MS + MS * Math.sin(i / 60.0);
        final boolean isSlow = i >= SLOW_FROM && i < SLOW_TO;
        return List.of(delays(i, 0, i >= GAP_FROM && i < GAP_FROM + 2 * GAP ? 0 : wave, false),
            delays(i, 1, isSlow ? 8.0 * MS : 0.8 * MS, true));
    }

    private IntervalDelays delays(final int number, final int classIndex, final double meanNs, final boolean isMatched) {
        final long startNs = START_NS + number * INTERVAL_NS;
        final long[] values =
            random.longs(meanNs == 0 ? 0 : PACKETS, (long)(meanNs / 2), (long)(meanNs * 1.5) + 1).sorted().toArray();
        histogram.clear();
        Arrays.stream(values).forEach((each) -> histogram.add(each, 1));
        final byte[] image = new byte[values.length == 0 ? 0 : histogram.encode(octets, 0, octets.capacity())];
        octets.getBytes(0, image);
        final DelayDistribution delays = values.length == 0 ? DelayDistribution.EMPTY : new DelayDistribution(
            PACKETS, 0, Math.round(Arrays.stream(values).average().orElseThrow()), MS, values[0], values[PACKETS - 1],
            values[PACKETS / 2], null, null, null, null, null);
        final DelaySummary summary = new DelaySummary(
            0, null, classIndex, classIndex == 0 ? 0 : 46, startNs, startNs + INTERVAL_NS,
            isMatched ? delays : DelayDistribution.EMPTY, isMatched ? DelayDistribution.EMPTY : delays, DelayDistribution.EMPTY,
            0, 0, 0, null);
        return new IntervalDelays(summary, values.length, ClockEstimate.NONE, image, isMatched ? MS / 100 : -1,
            isMatched ? -1 : MS / 5, -1);
    }

    @Override
    public List<DelayHistogram> histograms() {
        return List.of();
    }

    @Override
    public SegmentDescription segment() {
        throw new UnsupportedOperationException("there is one");
    }

    @Override
    public List<SketchStatistics> sketches() {
        return List.of();
    }

    @Override
    public DelayStatistics statistics() {
        throw new UnsupportedOperationException("the snapshot has them");
    }
}
