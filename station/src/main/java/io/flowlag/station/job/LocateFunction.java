package io.flowlag.station.job;

import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.Localisation;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.locate.UsualExcess;
import io.flowlag.network.topology.Topology;
import io.flowlag.station.job.state.ClassState;
import io.flowlag.station.job.state.ClassWindow;
import io.flowlag.station.job.state.NetworkVersion;
import io.flowlag.station.job.state.Spent;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Status;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.co.KeyedBroadcastProcessFunction;
import org.apache.flink.util.Collector;
import org.apache.flink.util.OutputTag;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Localises slow hops and clocks from the segments of a class in a window, each time when their windows come, in the network that
 * held at its end. The newest window says which alerts are on.
 */
final class LocateFunction extends KeyedBroadcastProcessFunction<String, SegmentWindow, NetworkVersion, Verdict> {
    /** What somebody should look at. */
    static final OutputTag<Alert> ALERTS = new OutputTag<>("alerts", MessageType.forMessage(Alert.class));

    /** How fast service levels burn. */
    static final OutputTag<Status> STATUS = new OutputTag<>("status", MessageType.forMessage(Status.class));

    private static final long serialVersionUID = 1;
    /** Segments of a window are waited for so long after the first of them. */
    private static final long GATHER_MS = 500;
    /** Alerts end when there was no window for so many. */
    private static final int SILENT_WINDOWS = 5;
    private static final double BOUND_DEVIATIONS = 1.959963984540054;
    private static final int EFFECTS = 10;
    /** How much likelier than any other a hop is slow that was with certainty in the window before. */
    private static final double AGAIN = 20;
    /** Of a clock of which no record says how far it may be off. */
    private static final double UNKNOWN_CLOCK_NS = 1e6;
    private static final long DAY_NS = TimeUnit.DAYS.toNanos(1);

    private final JobSettings settings;

    private transient Networks networks;
    private transient MapState<Long, ClassWindow> windows;
    /** What came of windows and is not in them yet, by window and segment. */
    private transient MapState<String, SegmentWindow> gathered;
    private transient ValueState<ClassState> known;
    private transient Networks.Held groupedNetwork;
    private transient List<String> groupedNames;
    private transient HopGroups groups;

    LocateFunction(final JobSettings settings) {
        this.settings = settings;
    }

    @Override
    public void open(final OpenContext context) {
        networks = new Networks(settings);
        windows = getRuntimeContext().getMapState(
            new MapStateDescriptor<>("windows", Types.LONG, MessageType.forMessage(ClassWindow.class)));
        gathered = getRuntimeContext().getMapState(
            new MapStateDescriptor<>("gathered", Types.STRING, MessageType.forMessage(SegmentWindow.class)));
        known = getRuntimeContext().getState(new ValueStateDescriptor<>("known", MessageType.forMessage(ClassState.class)));
    }

    @Override
    public void processBroadcastElement(final NetworkVersion version, final Context context, final Collector<Verdict> out)
        throws Exception {
        networks.add(version, context.getBroadcastState(Networks.STATE));
    }

    @Override
    public void processElement(final SegmentWindow segment, final ReadOnlyContext context, final Collector<Verdict> out)
        throws Exception {
        networks.load(context.getBroadcastState(Networks.STATE));
        final long startNs = segment.getStartNs();
        final ClassWindow before = windows.get(startNs);
        final boolean isCounted = segment.getFinal() && (before == null || !before.getIsLearned()) &&
            budgets(segment.getEndNs(), context.getCurrentKey()).needs(segment.getSegment());
        gathered.put(startNs + "/" + segment.getSegment(), isCounted ? segment : segment.toBuilder().clearHistogram().build());
        if (before == null) {
            context.timerService().registerEventTimeTimer(endMs(startNs));
        }
        if (before == null || before.getTimerMs() == 0) {
            // When the window went out; no watermark, of which there is none behind a restart.
            final long timerMs = context.timestamp() + GATHER_MS;
            context.timerService().registerEventTimeTimer(timerMs);
            windows.put(startNs, (before == null ? ClassWindow.newBuilder() : before.toBuilder()).setTimerMs(timerMs).build());
        }
    }

    /** Puts what came of a window into it: all at once, since to change a window takes time for each of its segments. */
    private ClassWindow.Builder gather(final long startNs, final ClassWindow window) throws Exception {
        final ClassWindow.Builder whole = window.toBuilder().setTimerMs(0);
        final Iterator<Map.Entry<String, SegmentWindow>> each = gathered.iterator();
        while (each.hasNext()) {
            final SegmentWindow segment = each.next().getValue();
            if (segment.getStartNs() == startNs) {
                whole.putSegments(segment.getSegment(), segment.toByteString());
                each.remove();
            }
        }
        return whole;
    }

    private Budgets budgets(final long endNs, final String dscp) {
        return new Budgets(settings, networks.at(endNs), dscp.isEmpty() ? -1 : Integer.parseInt(dscp));
    }

    private long endMs(final long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(startNs) + settings.windows().lengthMs() + settings.windows().lateLimitMs() +
            2 * GATHER_MS;
    }

    private long silentMs(final long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(startNs) + SILENT_WINDOWS * settings.windows().lengthMs() +
            WindowFunction.PROVISIONAL_MS + 2 * GATHER_MS;
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext context, final Collector<Verdict> out) throws Exception {
        networks.load(context.getBroadcastState(Networks.STATE));
        final List<Long> starts = new ArrayList<>();
        windows.keys().forEach(starts::add);
        starts.sort(null);
        for (final long startNs : starts) {
            final ClassWindow window = windows.get(startNs);
            if (timeMs >= endMs(startNs)) {
                gather(startNs, window);
                windows.remove(startNs);
            } else if (timeMs == window.getTimerMs()) {
                final ClassWindow.Builder told = gather(startNs, window);
                locate(startNs, told, context, out);
                windows.put(startNs, told.build());
            }
        }
        final ClassState state = known.value();
        if (state != null && state.getAlertsCount() > 0 && timeMs >= silentMs(state.getWindowNs())) {
            final AlertBook book = book(state, context);
            book.onWindow(state.getWindowNs() + TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs()), List.of());
            known.update(state.toBuilder().clearAlerts().build());
        }
    }

    private AlertBook book(final ClassState state, final ReadOnlyContext context) throws Exception {
        final String dscp = context.getCurrentKey();
        return new AlertBook(settings.name() + '/' + (dscp.isEmpty() ? "all" : dscp), state.getAlertsList(), (alert) -> {
            final Alert.Builder whole = alert.toBuilder().setNetwork(settings.name());
            context.output(ALERTS, (dscp.isEmpty() ? whole : whole.setDscp(Integer.parseInt(dscp))).build());
        });
    }

    private void locate(final long startNs, final ClassWindow.Builder window, final OnTimerContext context,
        final Collector<Verdict> out) throws Exception {
        final long endNs = startNs + TimeUnit.MILLISECONDS.toNanos(settings.windows().lengthMs());
        final Networks.Held network = networks.at(endNs);
        final Map<String, SegmentWindow> segments = new TreeMap<>();
        for (final var each : window.getSegmentsMap().entrySet()) {
            segments.put(each.getKey(), SegmentWindow.parseFrom(each.getValue()));
        }
        final ClassState.Builder state = known.value() == null ? ClassState.newBuilder() : known.value().toBuilder();
        // An earlier window that is corrected must not end what a later one said.
        final boolean isNewest = startNs > state.getWindowNs();
        final boolean isFinal = segments.values().stream().allMatch(SegmentWindow::getFinal);
        final VerdictTeller teller =
            new VerdictTeller(settings, network, segments.values().iterator().next(), isFinal, state.getSinceNsMap());
        final List<SegmentWindow> measured = segments.values().stream().filter((segment) -> segment.getIsMapped() &&
            network.routes().find(segment.getSegment()) != null && segment.hasFloorNs() && segment.hasBoundNs() &&
            segment.hasDeviationNs()).toList();
        if (!measured.isEmpty()) {
            final Localisation result = locate(measured, network, state, windows.get(2 * startNs - endNs));
            window.clearProbabilities().putAllProbabilities(teller.tell(measured, result, out));
            if (isFinal && !window.getIsLearned()) {
                learn(measured, startNs, result, network, state);
            }
        }
        final Budgets budgets = budgets(endNs, context.getCurrentKey());
        if (isFinal && !window.getIsLearned()) {
            final Map<String, Spent> spent = new TreeMap<>(state.getSpentMap());
            budgets.count(segments, startNs, spent);
            state.clearSpent().putAllSpent(spent);
            window.setIsLearned(true);
        }
        final AlertBook book = book(state.build(), context);
        if (isNewest) {
            final List<AlertBook.Said> said = new ArrayList<>(teller.said());
            said.addAll(budgets.burning(startNs, endNs, state.getSpentMap(), (level) -> context.output(STATUS,
                Status.newBuilder().setNetwork(settings.name()).setLevel(level).build())));
            book.onWindow(startNs, said);
            state.clearSinceNs().putAllSinceNs(teller.since()).setWindowNs(startNs);
            context.timerService().registerEventTimeTimer(silentMs(startNs));
        }
        for (final AlertBook.Said moved : teller.moved()) {
            if (!window.getMovedList().contains(moved.subjects().get(0))) {
                window.addMoved(moved.subjects().get(0));
                book.add(moved);
            }
        }
        known.update(state.clearAlerts().addAllAlerts(book.open()).build());
    }

    private Localisation locate(final List<SegmentWindow> measured, final Networks.Held network, final ClassState.Builder state,
        final ClassWindow windowBefore) {
        final List<MeasuredSegment> taken =
            measured.stream().map((each) -> network.routes().find(each.getSegment())).toList();
        final List<String> names = measured.stream().map(SegmentWindow::getSegment).toList();
        final Topology topology = network.map().topology();
        if (!names.equals(groupedNames) || network != groupedNetwork) {
            groups = new HopGroups(topology.hops(), taken);
            groupedNames = names;
            groupedNetwork = network;
        }
        final double[] excess = new double[taken.size()];
        final double[] sigma = new double[taken.size()];
        final UsualExcess.Value[] usual = new UsualExcess.Value[taken.size()];
        for (int i = 0; i < excess.length; i++) {
            final SegmentWindow segment = measured.get(i);
            final UsualExcess ofSegment = usual(taken.get(i), state.getUsualMap().get(segment.getSegment()));
            excess[i] = segment.getMeanNs() - segment.getFloorNs();
            sigma[i] = ofSegment.sigmaNs(sigmaNs(segment), excess[i], segment.getDeviationNs());
            usual[i] = ofSegment.value(segment.getFloorNs());
        }
        final HopLocator locator = new HopLocator(taken, groups, clockBounds(measured, taken, network.routes().clocks().size()),
            new HopLocator.Settings(settings.slowNs(), settings.confidence(), EFFECTS));
        final double[] prior = locator.evenPrior();
        if (windowBefore != null) {
            windowBefore.getProbabilitiesMap().forEach((hop, probability) -> {
                final int group = VerdictTeller.hop(topology, hop) < 0 ? HopGroups.BLIND :
                    groups.of(VerdictTeller.hop(topology, hop));
                if (group != HopGroups.BLIND) {
                    prior[group] += AGAIN * probability;
                }
            });
        }
        return locator.locate(excess, sigma, usual, prior);
    }

    private static UsualExcess usual(final MeasuredSegment segment, final ClassState.Usual state) {
        return state == null ? new UsualExcess(segment) : new UsualExcess(segment, new UsualExcess.State(
            state.getDelaysList().stream().mapToDouble(Double::doubleValue).toArray(), state.getCount()));
    }

    /** A segment whose floor or clock moved for good, or that the network has no more, is learned anew. */
    private static void learn(final List<SegmentWindow> measured, final long startNs, final Localisation result,
        final Networks.Held network, final ClassState.Builder state) {
        final Set<Integer> moved = movedClocks(measured, startNs, result, network, state.getSinceNsMap());
        final Map<String, ClassState.Usual> learned = new TreeMap<>(state.getUsualMap());
        learned.keySet().removeIf((name) -> network.routes().find(name) == null);
        for (int i = 0; i < measured.size(); i++) {
            final String name = measured.get(i).getSegment();
            final MeasuredSegment segment = network.routes().find(name);
            final boolean isMoved = measured.get(i).getIsFloorMoved() || segment.senderClock() != segment.receiverClock() &&
                (moved.contains(segment.senderClock()) || moved.contains(segment.receiverClock()));
            final UsualExcess usual = usual(segment, isMoved ? null : learned.get(name));
            usual.onWindow(isMoved ? Double.NaN : measured.get(i).getFloorNs() + result.unexplainedNs()[i]);
            final ClassState.Usual.Builder told = ClassState.Usual.newBuilder().setCount(usual.state().count());
            for (final double delay : usual.state().last()) {
                told.addDelays(delay);
            }
            learned.put(name, told.build());
        }
        state.clearUsual().putAllUsual(learned);
    }

    /** Clocks that are off since the floor of a segment of theirs has them, or since a day, as floors go back. */
    private static Set<Integer> movedClocks(final List<SegmentWindow> measured, final long startNs, final Localisation result,
        final Networks.Held network, final Map<String, Long> since) {
        final Set<Integer> moved = new HashSet<>();
        for (final SegmentWindow each : measured) {
            final MeasuredSegment segment = network.routes().find(each.getSegment());
            for (final int clock : new int[] {segment.senderClock(), segment.receiverClock()}) {
                final String key = VerdictTeller.clockKey(network.routes().clocks().get(clock));
                if (result.isClockOff(clock) &&
                    (each.getIsFloorMoved() || startNs - since.getOrDefault(key, startNs) >= DAY_NS)) {
                    moved.add(clock);
                }
            }
        }
        return moved;
    }

    private static double sigmaNs(final SegmentWindow segment) {
        final double ofBound = segment.getBoundNs() / BOUND_DEVIATIONS;
        return Math.sqrt(ofBound * ofBound + segment.getDeviationNs() * segment.getDeviationNs() / segment.getPackets());
    }

    private static double[] clockBounds(final List<SegmentWindow> measured, final List<MeasuredSegment> taken, final int clocks) {
        final double[] bounds = new double[clocks];
        for (int i = 0; i < taken.size(); i++) {
            final MeasuredSegment segment = taken.get(i);
            if (segment.senderClock() != segment.receiverClock()) {
                final double bound =
                    measured.get(i).hasClockBoundNs() ? measured.get(i).getClockBoundNs() : UNKNOWN_CLOCK_NS;
                bounds[segment.senderClock()] = Math.max(bounds[segment.senderClock()], bound);
                bounds[segment.receiverClock()] = Math.max(bounds[segment.receiverClock()], bound);
            }
        }
        return bounds;
    }
}
