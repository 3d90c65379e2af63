package io.flowlag.station.job;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.network.window.Windows;
import io.flowlag.station.job.state.FlowPart;
import io.flowlag.station.job.state.FlowSegment;
import io.flowlag.station.job.state.FlowSegments;
import io.flowlag.station.job.state.FlowWindow;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.PathWindows;
import io.flowlag.station.job.state.PathWindows.Held;
import io.flowlag.station.schema.PathWindow;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * Joins the records of a flow in a window. Paths go out when their window is final; later records correct them until it is too
 * late. Of a group of flows ({@link FlowSample}) at most a share of {@code paths.flows} is held, each flow in each window
 * counted: when there are more, the oldest window that went out is closed, and without one, the share of flows is halved. It
 * doubles again, to no more than it was, with a window that begins when those that did not go out have less than a quarter.
 */
final class PathFunction extends KeyedBroadcastProcessFunction<Integer, FlowPart, NetworkVersion, PathWindow> {
    private static final long serialVersionUID = 1;
    private static final long CORRECTION_MS = 1_000;
    /** Of a flow in a window. */
    private static final int MOST_SEGMENTS = 64;
    private static final int LITTLE = 4;

    private final JobSettings settings;
    private final FlowSample sample;
    private final int most;

    private transient Windows windows;
    private transient CounterSet<JobCounter> counters;
    private transient Networks networks;
    private transient PathJoin join;
    private transient MapState<FlowWindow, FlowSegments> flows;
    private transient ValueState<PathWindows> group;

    PathFunction(final JobSettings settings, final FlowSample sample) {
        this.settings = settings;
        this.sample = sample;
        most = Math.max(1, settings.paths().flows() / FlowSample.GROUPS);
    }

    @Override
    public void open(final OpenContext context) {
        windows = new Windows(TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs()));
        counters = JobCounters.of(settings.name()).open(getRuntimeContext().getMetricGroup(), JobCounter.SAMPLED_FLOWS,
            JobCounter.JOINED, JobCounter.SINGLE_SEGMENT, JobCounter.DROPPED_FLOW_LIMIT);
        networks = new Networks(settings);
        flows = getRuntimeContext().getMapState(new MapStateDescriptor<>(
            "flows", MessageType.forMessage(FlowWindow.class), MessageType.forMessage(FlowSegments.class)));
        group = getRuntimeContext().getState(new ValueStateDescriptor<>("group", MessageType.forMessage(PathWindows.class)));
    }

    private long finalMs(final long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(startNs) + settings.windows().lengthMs() + settings.windows().latenessMs();
    }

    private long endMs(final long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(startNs) + settings.windows().lengthMs() + settings.windows().lateLimitMs();
    }

    /** When a record was received: behind a restart there is no watermark yet. */
    private static long nowMs(final ReadOnlyContext context) {
        return Math.max(context.timestamp(), context.currentWatermark());
    }

    @Override
    public void processBroadcastElement(final NetworkVersion version, final Context context, final Collector<PathWindow> out)
        throws Exception {
        networks.add(version, context.getBroadcastState(Networks.STATE));
    }

    @Override
    public void processElement(final FlowPart part, final ReadOnlyContext context, final Collector<PathWindow> out)
        throws Exception {
        final long startNs = SumOperator.startNs(part);
        final List<Windows.Share> packets = windows.divide(startNs, part.getEndNs(), part.getPackets());
        final List<Windows.Share> measured = windows.divide(startNs, part.getEndNs(), part.getMeasured());
        final List<Windows.Share> lost = windows.divide(startNs, part.getEndNs(), part.getLost());
        for (int i = 0; i < packets.size(); i++) {
            final Windows.Share share = packets.get(i);
            if (share.count() > 0 && nowMs(context) <= endMs(share.startNs())) {
                counters.increment(JobCounter.SAMPLED_FLOWS);
                final FlowWindow flow = FlowWindow.newBuilder().setWindowNs(share.startNs()).setKey(part.getKey()).build();
                final FlowSegments before = flows.get(flow);
                if (before == null && !open(flow, context)) {
                    counters.increment(JobCounter.DROPPED_FLOW_LIMIT);
                    continue;
                }
                final FlowSegments.Builder said = before == null ? FlowSegments.newBuilder() : before.toBuilder();
                put(said, part, share.count(), measured.get(i).count(), lost.get(i).count());
                flows.put(flow, said.setIsDivided(said.getIsDivided() || packets.size() > 1).build());
                correct(share.startNs(), context);
            }
        }
    }

    private void put(final FlowSegments.Builder said, final FlowPart part, final long packets, final long measured,
        final long lost) {
        int index = 0;
        while (index < said.getSegmentsCount() && !said.getSegments(index).getSegment().equals(part.getSegment())) {
            index++;
        }
        if (index == MOST_SEGMENTS) {
            counters.increment(JobCounter.DROPPED_FLOW_LIMIT);
            return;
        }
        said.setUntold(said.getUntold() + 1);
        final boolean isNew = index == said.getSegmentsCount();
        final FlowSegment sum = PathJoin.plus(isNew ? null : said.getSegments(index), part, packets, measured, lost);
        if (isNew) {
            said.addSegments(sum);
        } else {
            said.setSegments(index, sum);
        }
    }

    /** Makes room for a flow in a window. Returns whether it is followed. */
    private boolean open(final FlowWindow flow, final ReadOnlyContext context) throws Exception {
        final PathWindows before = group.value();
        final PathWindows.Builder held = before == null ? PathWindows.newBuilder() : before.toBuilder();
        if (flow.getWindowNs() < held.getClosedNs()) {
            return false;
        }
        final int known = held.getWindowsCount();
        int index = window(held, flow.getWindowNs());
        if (held.getWindowsCount() > known) {
            context.timerService().registerEventTimeTimer(finalMs(flow.getWindowNs()));
            context.timerService().registerEventTimeTimer(endMs(flow.getWindowNs()));
            // Its share is kept from now on, so that no flow goes out with a part of its records.
            group.update(held.build());
        }
        if (!sample.isFollowed(flow.getKey(), held.getWindows(index).getHalvings())) {
            return false;
        }
        boolean hasRoom = count(held, false) < most;
        while (!hasRoom) {
            final Held oldest = held.getWindows(0);
            if (oldest.getIsTold() && oldest.getWindowNs() < flow.getWindowNs()) {
                forget((each) -> each.getWindowNs() == oldest.getWindowNs());
                held.setClosedNs(oldest.getWindowNs() + windows.lengthNs()).removeWindows(0);
            } else if (oldest.getIsTold() || !halve(held)) {
                break;
            }
            hasRoom = count(held, false) < most;
        }
        index = window(held, flow.getWindowNs());
        final Held window = held.getWindows(index);
        if (!hasRoom || !sample.isFollowed(flow.getKey(), window.getHalvings())) {
            group.update(held.build());
            return false;
        }
        group.update(held.setWindows(index, window.toBuilder().setFlows(window.getFlows() + 1)).build());
        return true;
    }

    private static int count(final PathWindows.Builder held, final boolean isUntold) {
        return held.getWindowsList().stream().filter((window) -> !isUntold || !window.getIsTold()).mapToInt(Held::getFlows).sum();
    }

    /** The place of a window; a new one follows the share of the one before, or twice as much. */
    private int window(final PathWindows.Builder held, final long windowNs) {
        int index = 0;
        while (index < held.getWindowsCount() && held.getWindows(index).getWindowNs() < windowNs) {
            index++;
        }
        if (index == held.getWindowsCount() || held.getWindows(index).getWindowNs() > windowNs) {
            final int last = held.getWindowsCount() - 1;
            final boolean isNewest = index > last;
            int halvings = last < 0 ? 0 : held.getWindows(isNewest ? last : index).getHalvings();
            if (isNewest && halvings > 0 && count(held, true) < most / LITTLE) {
                halvings--;
            }
            held.addWindows(index, Held.newBuilder().setWindowNs(windowNs).setHalvings(halvings));
        }
        return index;
    }

    /** Halves the share of flows in windows that did not go out. Returns whether that can make room. */
    private boolean halve(final PathWindows.Builder held) throws Exception {
        boolean isHalved = false;
        for (int i = 0; i < held.getWindowsCount(); i++) {
            final Held window = held.getWindows(i);
            if (!window.getIsTold() && window.getHalvings() < FlowSample.MOST_HALVINGS) {
                final int halvings = window.getHalvings() + 1;
                final int gone = forget((each) -> each.getWindowNs() == window.getWindowNs() &&
                    !sample.isFollowed(each.getKey(), halvings));
                held.setWindows(i, window.toBuilder().setHalvings(halvings).setFlows(window.getFlows() - gone));
                isHalved = true;
            }
        }
        return isHalved;
    }

    /** Forgets flows of windows. Returns how many; their records that did not go out are dropped. */
    private int forget(final Predicate<FlowWindow> which) throws Exception {
        int gone = 0;
        final Iterator<Map.Entry<FlowWindow, FlowSegments>> each = flows.iterator();
        while (each.hasNext()) {
            final Map.Entry<FlowWindow, FlowSegments> flow = each.next();
            if (which.test(flow.getKey())) {
                counters.add(JobCounter.DROPPED_FLOW_LIMIT, flow.getValue().getUntold());
                each.remove();
                gone++;
            }
        }
        return gone;
    }

    /** Lets a window that went out go out again. */
    private void correct(final long windowNs, final ReadOnlyContext context) throws Exception {
        if (nowMs(context) < finalMs(windowNs)) {
            return;
        }
        final PathWindows.Builder held = group.value().toBuilder();
        final int index = window(held, windowNs);
        final Held window = held.getWindows(index);
        if (window.getIsTold() && window.getCorrectionMs() == 0) {
            final long correctionMs = nowMs(context) + CORRECTION_MS;
            context.timerService().registerEventTimeTimer(correctionMs);
            group.update(held.setWindows(index, window.toBuilder().setCorrectionMs(correctionMs)).build());
        }
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext context, final Collector<PathWindow> out) throws Exception {
        networks.load(context.getBroadcastState(Networks.STATE));
        final PathWindows before = group.value();
        final PathWindows.Builder held = PathWindows.newBuilder().setClosedNs(before.getClosedNs());
        for (final Held window : before.getWindowsList()) {
            final boolean isDue = !window.getIsTold() && timeMs >= finalMs(window.getWindowNs()) ||
                timeMs == window.getCorrectionMs();
            if (isDue) {
                tell(window, out);
            }
            if (timeMs < endMs(window.getWindowNs())) {
                held.addWindows(isDue ? window.toBuilder().setIsTold(true).setCorrectionMs(0).build() : window);
            } else {
                forget((each) -> each.getWindowNs() == window.getWindowNs());
            }
        }
        group.update(held.build());
    }

    private void tell(final Held window, final Collector<PathWindow> out) throws Exception {
        final Networks.Held network = networks.at(window.getWindowNs() + windows.lengthNs());
        join = join != null && join.network() == network ? join : new PathJoin(network);
        final List<Map.Entry<FlowWindow, FlowSegments>> untold = new ArrayList<>();
        for (final Map.Entry<FlowWindow, FlowSegments> each : flows.entries()) {
            if (each.getKey().getWindowNs() == window.getWindowNs() && each.getValue().getUntold() > 0) {
                untold.add(Map.entry(each.getKey(), each.getValue()));
            }
        }
        for (final Map.Entry<FlowWindow, FlowSegments> each : untold) {
            flows.put(each.getKey(), each.getValue().toBuilder().setUntold(0).build());
            final PathWindow.Builder path = join.join(each.getKey().getKey(), each.getValue());
            counters.add(path == null ? JobCounter.SINGLE_SEGMENT : JobCounter.JOINED, each.getValue().getUntold());
            if (path != null) {
                out.collect(path.setNetwork(settings.name()).setStartNs(window.getWindowNs())
                    .setEndNs(window.getWindowNs() + windows.lengthNs()).setFinal(true)
                    .setShare(1.0 / settings.paths().oneOf() / (1L << window.getHalvings())).build());
            }
        }
    }
}
