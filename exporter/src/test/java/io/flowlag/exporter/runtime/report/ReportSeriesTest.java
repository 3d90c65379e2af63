package io.flowlag.exporter.runtime.report;

import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.RowDelay;
import io.flowlag.exporter.listing.RowKey;
import io.flowlag.exporter.listing.RowLoss;
import io.flowlag.exporter.listing.RowSpread;
import io.flowlag.exporter.listing.RowTraffic;
import io.flowlag.sketch.quantile.LogHistogram;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ReportSeriesTest {
    private static final long S = 1_000_000_000L;
    private static final long START_NS = 1_764_000_000L * S;

    static FlowRow row(final int dscp, final long startNs, final long durationNs, final long packets, final Long meanNs) {
        return row(1, dscp, startNs, durationNs, packets, meanNs);
    }

    private static FlowRow row(
        final int segmentId, final int dscp, final long startNs, final long durationNs, final long packets, final Long meanNs) {
        final RowDelay delay = meanNs == null ? RowDelay.NONE :
            new RowDelay(meanNs, packets, 10L, false, 6, RowSpread.UNKNOWN, null, null);
        return new FlowRow(new RowKey(null, null, 17, 1, 2, dscp, segmentId),
            new RowTraffic(1, packets, 100 * packets, startNs, durationNs, 1), delay, new RowLoss(packets / 10, true));
    }

    private static ClassInterval interval(final int dscp, final long startNs, final long lengthNs, final long... delaysNs) {
        final LogHistogram histogram = new LogHistogram();
        Arrays.stream(delaysNs).forEach((each) -> histogram.add(each, 1));
        return new ClassInterval(1, dscp, startNs, startNs + lengthNs, delaysNs.length,
            Math.round(Arrays.stream(delaysNs).average().orElseThrow()), 3L, Arrays.stream(delaysNs).min().orElseThrow(),
            Arrays.stream(delaysNs).max().orElseThrow(), histogram);
    }

    private static double sum(final List<Object> values) {
        return values.stream().filter(Objects::nonNull).mapToDouble((each) -> ((Number)each).doubleValue()).sum();
    }

    @Test
    void shouldSpreadARecordOverItsTime() {
        final ReportSeries series = new ReportSeries();
        series.add(row(0, START_NS + S / 2, 2 * S, 8, 1000L));
        series.add(row(0, START_NS + 2 * S, S, 4, 4000L));
        final ReportSeries.Steps steps = series.steps();
        assertEquals(1, steps.stepSeconds());
        assertEquals(List.of("2025-11-24T16:00:00Z", "2025-11-24T16:00:01Z", "2025-11-24T16:00:02Z"), steps.times());
        assertEquals(1, steps.classes().size(), "a single class is all packets");
        final ReportSeries.ClassSteps all = steps.classes().get(0);
        assertEquals("all packets", all.name());
        assertEquals(List.of(2L, 4L, 6L), all.packets());
        assertEquals(List.of(1000L, 1000L, 3000L), all.delayMeanNs());
        assertEquals(List.of(10L, 10L, 10L), all.delayBoundNs());
        assertEquals(Arrays.asList(null, null, null), all.delayP99Ns());
    }

    @Test
    void shouldPreferIntervalsForDelaysAndKeepTheGreaterBound() {
        final ReportSeries series = new ReportSeries();
        series.add(row(0, START_NS, S / 2, 8, 1000L));
        series.add(row(46, START_NS, S / 2, 2, 500L));
        series.add(interval(0, START_NS, S, IntStream.range(0, 1000).mapToLong((i) -> 1000 + i).toArray()));
        final List<ReportSeries.ClassSteps> classes = series.steps().classes();
        assertEquals(List.of("all packets", "DSCP 0", "DSCP 46"), classes.stream().map(ReportSeries.ClassSteps::name).toList());
        assertEquals(List.of(1500L), classes.get(1).delayMeanNs());
        assertEquals(List.of(10L), classes.get(1).delayBoundNs());
        assertEquals(1990, ((Long)classes.get(1).delayP99Ns().get(0)).doubleValue(), 20, "within 1 %");
        assertEquals(List.of(1999L), classes.get(1).delayMaxNs());
        assertEquals(List.of(500L), classes.get(2).delayMeanNs());
        assertNull(classes.get(2).delayP50Ns().get(0));
    }

    @Test
    void shouldBeginWithTheSegmentThatHasTheSlowestStep() {
        final ReportSeries series = new ReportSeries();
        series.add(row(RowKey.NONE, 0, START_NS, S, 100, null));
        series.add(row(1, 0, START_NS, S, 1, 5000L));
        series.add(row(2, 0, START_NS, S, 100, 1000L));
        series.add(row(2, 46, START_NS + S, S, 1, 9000L));
        series.add(row(3, 0, START_NS, S, 1, -1000L));
        assertEquals(
            List.of("segment 2, all packets", "segment 2, DSCP 0", "segment 2, DSCP 46", "segment 1, all packets",
                "segment 3, all packets", "no segment, all packets"),
            series.steps().classes().stream().map(ReportSeries.ClassSteps::name).toList());
    }

    @Test
    void shouldNotTellQuantilesOfFewDelays() {
        final ReportSeries series = new ReportSeries();
        series.add(interval(0, START_NS, S, IntStream.range(0, 19).mapToLong((i) -> 1000).toArray()));
        assertNull(series.steps().classes().get(0).delayP50Ns().get(0));
        series.add(interval(0, START_NS, S, 1000));
        assertEquals(List.of(1000L), series.steps().classes().get(0).delayP50Ns(), "none is beyond the largest and the least");
        assertNull(series.steps().classes().get(0).delayP99Ns().get(0));
    }

    @Test
    void shouldMakeStepsAsLongAsIntervals() {
        final ReportSeries series = new ReportSeries();
        series.add(interval(0, START_NS, 10 * S, 1000));
        series.add(interval(0, START_NS + 10 * S, 10 * S, 2000));
        assertEquals(10, series.steps().stepSeconds());
        assertEquals(List.of(1000L, 2000L), series.steps().classes().get(0).delayMeanNs());
    }

    @Test
    void shouldLeaveOutWhatIsTooFarAndMoreClassesThanThereIsRoomFor() {
        final ReportSeries series = new ReportSeries();
        series.add(row(0, START_NS, S, 8, null));
        series.add(row(0, 0, S, 8, null));
        assertEquals(1, series.steps().stepSeconds(), "a time of another age widens nothing");
        for (int dscp = 1; dscp <= ReportSeries.MOST_CLASSES; dscp++) {
            series.add(row(dscp, START_NS, S, 1, null));
        }
        assertEquals(ReportSeries.MOST_CLASSES, series.steps().classes().size());
        assertEquals(8 + ReportSeries.MOST_CLASSES, sum(series.steps().classes().get(0).packets()), "among all packets");
        assertEquals(2, series.remarks().size(), series.remarks().toString());
        assertEquals(List.of(), new ReportSeries().steps().times());
    }

    @Property(tries = 50)
    void shouldKeepSumsHoweverWideStepsBecome(
        @ForAll @Size(min = 1, max = 40) final List<@LongRange(min = 0, max = 40_000_000_000_000L) Long> startsNs,
        @ForAll @LongRange(min = 0, max = 600_000_000_000L) final long longestNs) {
        final ReportSeries series = new ReportSeries();
        final List<FlowRow> rows = new ArrayList<>();
        for (final long startNs : startsNs) {
            rows.add(row(
                (int)(startNs % 3), START_NS + startNs, startNs % (longestNs + 1), 10 + startNs % 100, startNs % 10_000));
        }
        rows.forEach(series::add);
        final ReportSeries.Steps steps = series.steps();
        assertTrue(steps.times().size() <= ReportSeries.MOST_STEPS, "steps " + steps.times().size());
        final double packets = rows.stream().mapToLong((each) -> each.traffic().packets()).sum();
        final ReportSeries.ClassSteps all = steps.classes().get(0);
        assertEquals(packets, sum(all.packets()), 0.005 * steps.times().size());
        assertEquals(100 * packets, sum(all.octets()), 0.005 * steps.times().size());
        if (steps.classes().size() > 1) {
            assertEquals(packets, steps.classes().stream().skip(1).mapToDouble((each) -> sum(each.packets())).sum(),
                0.005 * 3 * steps.times().size());
        }
    }
}
