package io.flowlag.station.job;

import com.google.protobuf.ByteString;
import io.flowlag.network.locate.HopGroups;
import io.flowlag.network.locate.HopLocator;
import io.flowlag.network.locate.HopVerdict;
import io.flowlag.network.locate.Localisation;
import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.station.job.state.ClassWindow;
import io.flowlag.station.job.state.Suspicions;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.state.MapState;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.ValueState;
import org.apache.flink.api.common.state.ValueStateDescriptor;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.streaming.api.functions.KeyedProcessFunction;
import org.apache.flink.util.Collector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/** Localises slow hops and clocks from the segments of a class in a window, each time when their windows come. */
final class LocateFunction extends KeyedProcessFunction<String, SegmentWindow, Verdict> {
    private static final long serialVersionUID = 1;
    /** Segments of a window are waited for so long after the first of them. */
    private static final long GATHER_MS = 500;
    private static final double BOUND_DEVIATIONS = 1.959963984540054;
    private static final int EFFECTS = 10;
    /** Of a clock of which no record says how far it may be off. */
    private static final double UNKNOWN_CLOCK_NS = 1e6;

    private final JobSettings settings;

    private transient NetworkMap network;
    private transient RoutedSegments routes;
    private transient List<String> clocks;
    private transient MapState<Long, ClassWindow> windows;
    private transient ValueState<Suspicions> suspicions;
    private transient List<String> groupedNames;
    private transient HopGroups groups;

    LocateFunction(final JobSettings settings) {
        this.settings = settings;
    }

    @Override
    public void open(final OpenContext context) {
        network = settings.network();
        routes = new RoutedSegments(network);
        clocks = routes.clocks();
        windows = getRuntimeContext().getMapState(
            new MapStateDescriptor<>("windows", Types.LONG, MessageType.forMessage(ClassWindow.class)));
        suspicions = getRuntimeContext().getState(
            new ValueStateDescriptor<>("suspicions", MessageType.forMessage(Suspicions.class)));
    }

    @Override
    public void processElement(final SegmentWindow segment, final Context context, final Collector<Verdict> out)
        throws Exception {
        final long startNs = segment.getStartNs();
        final ClassWindow before = windows.get(startNs);
        final ClassWindow.Builder window = before == null ? ClassWindow.newBuilder() : before.toBuilder();
        window.putSegments(segment.getSegment(), segment.toBuilder().clearHistogram().build().toByteString());
        if (window.getTimerMs() == 0) {
            window.setTimerMs(context.timerService().currentWatermark() + GATHER_MS);
            context.timerService().registerEventTimeTimer(window.getTimerMs());
        }
        if (before == null) {
            context.timerService().registerEventTimeTimer(endMs(startNs));
        }
        windows.put(startNs, window.build());
    }

    private long endMs(final long startNs) {
        return TimeUnit.NANOSECONDS.toMillis(startNs) + settings.windows().lengthMs() + settings.windows().lateLimitMs() +
            2 * GATHER_MS;
    }

    @Override
    public void onTimer(final long timeMs, final OnTimerContext context, final Collector<Verdict> out) throws Exception {
        final List<Long> starts = new ArrayList<>();
        windows.keys().forEach(starts::add);
        starts.sort(null);
        for (final long startNs : starts) {
            final ClassWindow window = windows.get(startNs);
            if (timeMs >= endMs(startNs)) {
                windows.remove(startNs);
            } else if (timeMs == window.getTimerMs()) {
                windows.put(startNs, window.toBuilder().setTimerMs(0).build());
                locate(window, out);
            }
        }
    }

    private void locate(final ClassWindow window, final Collector<Verdict> out) throws Exception {
        final List<SegmentWindow> measured = new ArrayList<>();
        for (final ByteString octets : window.getSegmentsMap().values()) {
            final SegmentWindow segment = SegmentWindow.parseFrom(octets);
            if (segment.getIsMapped() && routes.find(segment.getSegment()) != null && segment.hasFloorNs() &&
                segment.hasBoundNs() && segment.hasDeviationNs()) {
                measured.add(segment);
            }
        }
        if (measured.isEmpty()) {
            return;
        }
        measured.sort((one, other) -> one.getSegment().compareTo(other.getSegment()));
        final List<MeasuredSegment> taken = measured.stream().map((each) -> routes.find(each.getSegment())).toList();
        final List<String> names = measured.stream().map(SegmentWindow::getSegment).toList();
        if (!names.equals(groupedNames)) {
            groups = new HopGroups(network.topology().hops(), taken);
            groupedNames = names;
        }
        final double[] excess = measured.stream().mapToDouble((each) -> each.getMeanNs() - each.getFloorNs()).toArray();
        final double[] sigma = measured.stream().mapToDouble(LocateFunction::sigmaNs).toArray();
        final HopLocator locator = new HopLocator(taken, groups, clockBounds(measured, taken),
            new HopLocator.Settings(settings.slowNs(), settings.confidence(), EFFECTS));
        tell(measured, locator.locate(excess, sigma, locator.evenPrior()), out);
    }

    private static double sigmaNs(final SegmentWindow segment) {
        final double ofBound = segment.getBoundNs() / BOUND_DEVIATIONS;
        return Math.sqrt(ofBound * ofBound + segment.getDeviationNs() * segment.getDeviationNs() / segment.getPackets());
    }

    private double[] clockBounds(final List<SegmentWindow> measured, final List<MeasuredSegment> taken) {
        final double[] bounds = new double[clocks.size()];
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

    private void tell(final List<SegmentWindow> measured, final Localisation result, final Collector<Verdict> out)
        throws Exception {
        final SegmentWindow first = measured.get(0);
        final Suspicions held = suspicions.value();
        final Map<String, Long> before = held == null ? Map.of() : held.getSinceNsMap();
        final Map<String, Long> since = new HashMap<>();
        final List<Verdict.Builder> verdicts = new ArrayList<>();
        for (final HopVerdict each : result.verdicts()) {
            verdicts.add(slowHop(each, measured, before, since));
        }
        for (int clock = 0; clock < clocks.size(); clock++) {
            if (result.isClockOff(clock)) {
                final String name = "clock " + clocks.get(clock);
                since.put(name, before.getOrDefault(name, first.getStartNs()));
                final double deviation = BOUND_DEVIATIONS * result.clockDeviationsNs()[clock];
                final double offset = result.clockOffsetsNs()[clock];
                verdicts.add(Verdict.newBuilder().setKind(Verdict.Kind.CLOCK_MOVED).setClock(clocks.get(clock))
                    .setEffectNs(offset).setEffectLowNs(offset - deviation).setEffectHighNs(offset + deviation)
                    .setSinceNs(since.get(name)));
            }
        }
        for (final SegmentWindow each : measured) {
            if (each.getIsFloorMoved()) {
                verdicts.add(Verdict.newBuilder().setKind(Verdict.Kind.ROUTE_CHANGED).addEvidence(each.getSegment())
                    .setSinceNs(each.getStartNs()));
            }
        }
        if (!result.isFit()) {
            final Verdict.Builder noFit = Verdict.newBuilder().setKind(Verdict.Kind.NO_FIT).setSinceNs(first.getStartNs());
            result.residuals().forEach((segment) -> noFit.addEvidence(measured.get(segment).getSegment()));
            verdicts.add(noFit);
        }
        final boolean isFinal = measured.stream().allMatch(SegmentWindow::getFinal);
        for (int rank = 0; rank < verdicts.size(); rank++) {
            out.collect(identified(verdicts.get(rank), first, rank, isFinal));
        }
        // An earlier window that is corrected must not end what a later one said.
        if (held == null || first.getStartNs() >= held.getWindowNs()) {
            suspicions.update(Suspicions.newBuilder().putAllSinceNs(since).setWindowNs(first.getStartNs()).build());
        }
    }

    private Verdict identified(final Verdict.Builder verdict, final SegmentWindow window, final int rank, final boolean isFinal) {
        final String dscp = window.hasDscp() ? Integer.toString(window.getDscp()) : "all";
        verdict.setId(settings.name() + '/' + dscp + '/' + window.getStartNs() + '/' + rank).setNetwork(settings.name())
            .setStartNs(window.getStartNs()).setEndNs(window.getEndNs()).setFinal(isFinal);
        if (window.hasDscp()) {
            verdict.setDscp(window.getDscp());
        }
        return verdict.build();
    }

    private Verdict.Builder slowHop(final HopVerdict each, final List<SegmentWindow> measured, final Map<String, Long> before,
        final Map<String, Long> since) {
        final Verdict.Builder verdict = Verdict.newBuilder().setKind(Verdict.Kind.SLOW_HOP).setEffectNs(each.effectNs())
            .setEffectLowNs(each.effectLowNs()).setEffectHighNs(each.effectHighNs()).setConfidence(each.confidence())
            .setIsOneRoute(each.isOneRoute());
        long first = measured.get(0).getStartNs();
        for (final HopVerdict.Suspect suspect : each.suspects()) {
            verdict.addSuspects(Verdict.Suspect.newBuilder().setFrom(name(network.topology().from(suspect.hop())))
                .setTo(name(network.topology().to(suspect.hop()))).setProbability(suspect.probability()));
            first = Math.min(first, before.getOrDefault(hop(suspect), first));
        }
        for (final HopVerdict.Suspect suspect : each.suspects()) {
            since.put(hop(suspect), first);
        }
        for (int i = 0; i < measured.size(); i++) {
            final int[] hops = routes.find(measured.get(i).getSegment()).hops();
            if (each.suspects().stream().anyMatch((suspect) -> Arrays.binarySearch(hops, suspect.hop()) >= 0)) {
                verdict.addEvidence(measured.get(i).getSegment());
            }
        }
        return verdict.setSinceNs(first);
    }

    private String hop(final HopVerdict.Suspect suspect) {
        return name(network.topology().from(suspect.hop())) + ' ' + name(network.topology().to(suspect.hop()));
    }

    private String name(final int node) {
        return network.topology().name(node);
    }
}
