package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.network.window.DelayFloor;
import io.flowlag.network.window.WindowDelay;
import io.flowlag.network.window.Windows;
import io.flowlag.station.job.state.Floor;
import io.flowlag.station.job.state.FlowSums;
import io.flowlag.station.job.state.SegmentInterval;
import io.flowlag.station.job.state.SegmentPart;
import io.flowlag.station.job.state.WindowIntervals;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Source;
import io.flowlag.station.wire.Known;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * Sums the intervals of a segment and class in windows. A window goes out {@value #PROVISIONAL_MS} ms after its end, and again as
 * final; later intervals correct it, until it is too late.
 */
final class WindowFunction extends KeyedProcessFunction<String, SegmentPart, SegmentWindow> {
    /** How long after its end a window goes out first. */
    static final long PROVISIONAL_MS = 5_000;
    /** Segments whose delay has changed. */
    static final OutputTag<Alert> ALERTS = new OutputTag<>("changes", MessageType.forMessage(Alert.class));

    private static final long serialVersionUID = 1;
    private static final long CORRECTION_MS = 1_000;
    /** Intervals of a window: of 10 ms in 80 s. */
    private static final int MOST_INTERVALS = 8192;

    private final JobSettings settings;

    private transient JobCounters total;
    private transient CounterSet<JobCounter> counters;
    private transient Windows windows;
    private transient IntervalSum sum;
    private transient MapState<Long, WindowIntervals> open;
    private transient ValueState<Floor> floor;
    private transient ValueState<SegmentChange> change;
    /** The alert that its delay changed, as it went out last. */
    private transient ValueState<Alert> on;

    WindowFunction(final JobSettings settings) {
        this.settings = settings;
    }

    @Override
    public void open(final OpenContext context) {
        windows = new Windows(TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs()));
        total = JobCounters.of(settings.name());
        counters = total.open(getRuntimeContext().getMetricGroup(), JobCounter.FLOWS_AGGREGATED, JobCounter.FLOWS_UNMAPPED,
            JobCounter.FLOWS_TOO_LATE);
        sum = new IntervalSum();
        open = getRuntimeContext().getMapState(
            new MapStateDescriptor<>("windows", Types.LONG, MessageType.forMessage(WindowIntervals.class)));
        change = getRuntimeContext().getState(new ValueStateDescriptor<>("change", SegmentChange.Serializer.instance()));
        on = getRuntimeContext().getState(new ValueStateDescriptor<>("alert", MessageType.forMessage(Alert.class)));
        floor = getRuntimeContext().getState(new ValueStateDescriptor<>("floor", MessageType.forMessage(Floor.class)));
    }

    private long provisionalMs(final long startMs) {
        return startMs + settings.windows().lengthMs() + PROVISIONAL_MS;
    }

    private long finalMs(final long startMs) {
        return startMs + settings.windows().lengthMs() + settings.windows().latenessMs();
    }

    /** Windows of segments that the network does not have end with the final one: anyone can have told them. */
    private long endMs(final long startMs, final boolean isMapped) {
        return isMapped ? startMs + settings.windows().lengthMs() + settings.windows().lateLimitMs() : finalMs(startMs);
    }

    private static boolean isMapped(final SegmentPart part) {
        return part.hasMissing() || (part.hasFlows() ? part.getFlows().getIsMapped() : part.getInterval().getIsMapped());
    }

    private static String segment(final SegmentPart part) {
        return part.hasFlows() ? part.getFlows().getSegment() : part.hasMissing() ? part.getMissing().getSegment() :
            part.getInterval().getSegment();
    }

    private long startMs(final SegmentPart part) {
        return TimeUnit.NANOSECONDS.toMillis(part.hasFlows() ? part.getFlows().getWindowNs() : part.hasMissing() ?
            part.getMissing().getWindowNs() : windows.startNs(part.getInterval().getEndNs() - 1));
    }

    @Override
    public void processElement(final SegmentPart part, final Context context, final Collector<SegmentWindow> out)
        throws Exception {
        final long startMs = startMs(part);
        // When it was received: behind a restart there is no watermark yet.
        final long nowMs = Math.max(context.timestamp(), context.timerService().currentWatermark());
        final boolean isTooLate = nowMs >= endMs(startMs, isMapped(part));
        if (part.hasFlows()) {
            counters.add(isTooLate ? JobCounter.FLOWS_TOO_LATE : part.getFlows().getIsMapped() ? JobCounter.FLOWS_AGGREGATED :
                JobCounter.FLOWS_UNMAPPED, part.getFlows().getRecords());
        } else if (part.hasInterval() && isTooLate) {
            total.onInterval(true);
        }
        if (isTooLate) {
            return;
        }
        final WindowIntervals before = open.get(startMs);
        final WindowIntervals.Builder window = before == null ? WindowIntervals.newBuilder() : before.toBuilder();
        if (before == null) {
            window.setSegment(segment(part)).setIsMapped(isMapped(part));
            context.timerService().registerEventTimeTimer(provisionalMs(startMs));
            context.timerService().registerEventTimeTimer(finalMs(startMs));
            context.timerService().registerEventTimeTimer(endMs(startMs, isMapped(part)));
        }
        if (part.hasFlows()) {
            window.setFlows(window.hasFlows() ? plus(window.getFlows(), part.getFlows()) : part.getFlows());
        } else if (part.hasMissing()) {
            window.setMissingRecords(window.getMissingRecords() + part.getMissing().getRecords());
        } else {
            final boolean isTaken = put(window, part.getInterval());
            total.onInterval(!isTaken);
            if (!isTaken) {
                return;
            }
        }
        if (nowMs >= provisionalMs(startMs) && window.getCorrectionMs() == 0) {
            window.setCorrectionMs(nowMs + CORRECTION_MS);
            context.timerService().registerEventTimeTimer(window.getCorrectionMs());
        }
        open.put(startMs, window.build());
    }

    private static FlowSums plus(final FlowSums one, final FlowSums other) {
        return one.toBuilder().setRecords(one.getRecords() + other.getRecords()).setPackets(one.getPackets() + other.getPackets())
            .setOctets(one.getOctets() + other.getOctets()).setMeasured(one.getMeasured() + other.getMeasured())
            .setDelayNs(one.getDelayNs() + other.getDelayNs()).setBoundNs(one.getBoundNs() + other.getBoundNs())
            .setUnbounded(one.getUnbounded() + other.getUnbounded()).setLost(one.getLost() + other.getLost()).build();
    }

    /**
     * Of each interval the best mean is kept; the histogram and losses are those of whichever record has them. Returns whether it
     * was taken: not behind the sum, nor if there are too many.
     */
    private static boolean put(final WindowIntervals.Builder window, final SegmentInterval interval) {
        for (int i = 0; i < window.getIntervalsCount(); i++) {
            final SegmentInterval held = window.getIntervals(i);
            if (held.getStartNs() == interval.getStartNs() && held.getEndNs() == interval.getEndNs()) {
                final boolean isBetter =
                    interval.getPackets() > 0 && (held.getPackets() == 0 || interval.getSource() < held.getSource());
                final SegmentInterval.Builder kept = (isBetter ? interval : held).toBuilder();
                final SegmentInterval other = isBetter ? held : interval;
                if (!kept.hasHistogram() && other.hasHistogram()) {
                    kept.setHistogram(other.getHistogram());
                }
                if (!kept.hasLost() && other.hasLost()) {
                    kept.setLost(other.getLost());
                }
                if (!kept.hasClockBoundNs() && other.hasClockBoundNs()) {
                    kept.setClockBoundNs(other.getClockBoundNs());
                }
                if (!kept.hasMinimumNs() && other.hasMinimumNs()) {
                    kept.setMinimumNs(other.getMinimumNs()).setMaximumNs(other.getMaximumNs());
                }
                window.setIntervals(i, kept);
                return true;
            }
        }
        if (window.getIntervalsCount() >= MOST_INTERVALS || IntervalSum.isMerged(window, interval)) {
            return false;
        }
        window.addIntervals(interval);
        return true;
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext context, final Collector<SegmentWindow> out) throws Exception {
        final List<Long> starts = new ArrayList<>();
        open.keys().forEach(starts::add);
        boolean isMapped = true;
        for (final long startMs : starts) {
            final WindowIntervals window = open.get(startMs);
            isMapped = window.getIsMapped();
            if (timeMs == finalMs(startMs) && !window.getIsFinal()) {
                tell(startMs, window.toBuilder(), true, context, out);
            } else if (timeMs < endMs(startMs, isMapped) &&
                (timeMs == provisionalMs(startMs) || timeMs == window.getCorrectionMs())) {
                tell(startMs, window.toBuilder(), timeMs >= finalMs(startMs), context, out);
            }
            if (timeMs >= endMs(startMs, isMapped)) {
                open.remove(startMs);
            }
        }
        if (!isMapped && open.isEmpty()) {
            floor.clear();
        }
        endSilent(timeMs, context);
    }

    private void tell(final long startMs, final WindowIntervals.Builder window, final boolean isFinal,
        final OnTimerContext context, final Collector<SegmentWindow> out) throws Exception {
        final boolean isFirstFinal = isFinal && !window.getIsFinal();
        sum.sum(window);
        final WindowDelay delay = sum.delay();
        final SegmentWindow.Builder told = sum(startMs, window.setCorrectionMs(0).setIsFinal(isFinal), delay);
        if (told.hasMinimumNs()) {
            window.setIsFloorMoved(toFloor(delay, isFirstFinal, told) || window.getIsFloorMoved());
            told.setIsFloorMoved(window.getIsFloorMoved());
        }
        if (isFinal) {
            sum.merge();
        }
        open.put(startMs, window.build());
        out.collect(told.build());
        final long stepNs = SegmentChange.stepNs(windows.lengthNs());
        if (isFirstFinal && stepNs != 0 && told.getIsMapped() && Double.isFinite(delay.sigmaNs())) {
            toChange(told.build(), delay, stepNs, context);
        }
    }

    private void toChange(final SegmentWindow told, final WindowDelay delay, final long stepNs, final OnTimerContext context)
        throws Exception {
        final SegmentChange held = change.value();
        final SegmentChange known = held == null || held.stepNs() != stepNs ? new SegmentChange(stepNs) : held;
        known.onWindow(told.getStartNs(), told.getEndNs(), delay);
        if (known.isOn()) {
            final Alert.Builder alert = Alert.newBuilder().setNetwork(settings.name()).setKind(Alert.Kind.DELAY_CHANGED)
                .setId(settings.name() + '/' + (told.hasDscp() ? told.getDscp() : "all") + '/' + Alert.Kind.DELAY_CHANGED + '/' +
                    told.getSegment()).setSeverity(Alert.Severity.TICKET).setSegment(told.getSegment())
                .setSummary("The mean delay of " + told.getSegment() + " has risen by " +
                    VerdictTeller.ms(known.changeNs()) + " ms above the usual one.")
                .setStartsNs(known.sinceNs()).setValue(known.changeNs());
            if (told.hasDscp()) {
                alert.setDscp(told.getDscp());
            }
            if (known.ends()) {
                context.output(ALERTS, alert.setEndsNs(told.getStartNs()).build());
                on.clear();
            } else {
                context.output(ALERTS, alert.build());
                on.update(alert.build());
            }
        }
        change.update(known);
    }

    /** Ends the alert of a segment that is silent. */
    private void endSilent(final long timeMs, final OnTimerContext context) throws Exception {
        final Alert alert = open.isEmpty() ? on.value() : null;
        if (alert != null) {
            context.output(ALERTS, alert.toBuilder().setEndsNs(TimeUnit.MILLISECONDS.toNanos(timeMs)).build());
            on.clear();
            final SegmentChange known = change.value();
            known.end();
            change.update(known);
        }
    }

    private SegmentWindow.Builder sum(final long startMs, final WindowIntervals.Builder window, final WindowDelay delay) {
        final long startNs = TimeUnit.MILLISECONDS.toNanos(startMs);
        final SegmentWindow.Builder told = named(window).setNetwork(settings.name()).setStartNs(startNs)
            .setEndNs(startNs + windows.lengthNs()).setFinal(window.getIsFinal()).setIntervals(sum.intervals());
        if (sum.missing(windows.lengthNs()) >= 0) {
            told.setMissingIntervals((int)sum.missing(windows.lengthNs()));
        }
        if (window.getMissingRecords() > 0) {
            told.setMissingRecords(window.getMissingRecords());
        }
        if (window.hasFlows()) {
            told.setRecords(window.getFlows().getRecords()).setOctets(window.getFlows().getOctets())
                .setPackets(window.getFlows().getPackets());
        }
        if (delay.packets() == 0) {
            ofFlows(window.getFlows(), told);
            return told;
        }
        told.setSource(Source.forNumber(delay.source().ordinal() + 1)).setPackets(delay.packets()).setSamples(delay.samples());
        Known.set(delay, told);
        if (!sum.hasClock()) {
            told.clearClockBoundNs();
        }
        if (sum.hasLost()) {
            told.setLost(sum.lost());
        }
        final ByteString histogram = sum.histogram();
        if (!histogram.isEmpty()) {
            told.setHistogram(histogram);
        }
        return told;
    }

    private SegmentWindow.Builder named(final WindowIntervals.Builder window) {
        final SegmentWindow.Builder told =
            SegmentWindow.newBuilder().setSegment(window.getSegment()).setIsMapped(window.getIsMapped());
        if (sum.first().hasDscp()) {
            told.setDscp(sum.first().getDscp());
        }
        return told;
    }

    /** Without a summary of intervals, the mean is that of the flow records. */
    private static void ofFlows(final FlowSums flows, final SegmentWindow.Builder told) {
        if (flows.getMeasured() > 0) {
            told.setSource(Source.SOURCE_ESTIMATES).setSamples(flows.getMeasured())
                .setMeanNs(flows.getDelayNs() / flows.getMeasured());
            if (flows.getUnbounded() == 0) {
                told.setBoundNs(flows.getBoundNs() / flows.getMeasured());
            }
        }
        told.setLost(flows.getLost());
    }

    /** Returns whether the floor moved up with this window. */
    private boolean toFloor(final WindowDelay delay, final boolean isFirstFinal, final SegmentWindow.Builder told)
        throws Exception {
        final long startNs = told.getStartNs();
        boolean isMoved = false;
        final Floor held = floor.value();
        final DelayFloor known = held == null ? new DelayFloor() : new DelayFloor(new DelayFloor.State(
            held.getHoursList().stream().mapToLong(Long::longValue).toArray(),
            held.getMinimumsList().stream().mapToDouble(Double::doubleValue).toArray(),
            held.getRecentList().stream().mapToDouble(Double::doubleValue).toArray(), held.getWindows()));
        if (isFirstFinal) {
            final double bound = Double.isNaN(delay.boundNs()) ? 0 : delay.boundNs();
            isMoved = known.onWindow(startNs, delay.minimumNs(), bound);
            final DelayFloor.State state = known.state();
            floor.update(Floor.newBuilder().addAllHours(Arrays.stream(state.hours()).boxed().toList())
                .addAllMinimums(Arrays.stream(state.minimums()).boxed().toList())
                .addAllRecent(Arrays.stream(state.recent()).boxed().toList()).setWindows(state.windows()).build());
        }
        final double floorNs = known.floorNs(startNs);
        told.setFloorNs(Double.isNaN(floorNs) ? delay.minimumNs() : Math.min(floorNs, delay.minimumNs()));
        return isMoved;
    }
}
