package io.flowlag.station.job;

import io.flowlag.network.locate.HopVerdict;
import io.flowlag.network.locate.Localisation;
import io.flowlag.network.topology.Topology;
import io.flowlag.station.schema.Alert;
import io.flowlag.station.schema.SegmentWindow;
import io.flowlag.station.schema.Verdict;
import org.apache.flink.util.Collector;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Puts into words what was localised in one window: verdicts, and what somebody should look at. One thread. */
final class VerdictTeller {
    private static final double BOUND_DEVIATIONS = 1.959963984540054;
    private static final double NANOSECONDS_PER_MILLISECOND = 1e6;

    private final JobSettings settings;
    private final Networks.Held network;
    private final SegmentWindow window;
    private final boolean isFinal;
    private final Map<String, Long> before;
    private final Map<String, Long> since = new HashMap<>();
    private final List<AlertBook.Said> said = new ArrayList<>();
    private final List<AlertBook.Said> moved = new ArrayList<>();

    /**
     * For one window.
     *
     * @param window  any of its segments.
     * @param isFinal whether all are.
     * @param before  since when a hop or clock was suspected in the newest window, by its name.
     */
    VerdictTeller(final JobSettings settings, final Networks.Held network, final SegmentWindow window, final boolean isFinal,
        final Map<String, Long> before) {
        this.settings = settings;
        this.network = network;
        this.window = window;
        this.isFinal = isFinal;
        this.before = before;
    }

    /** {@return since when hops and clocks are suspected, after {@link #tell}} */
    Map<String, Long> since() {
        return since;
    }

    /** {@return slow hops and clocks to look at} */
    List<AlertBook.Said> said() {
        return said;
    }

    /** {@return segments to look at whose floor moved} */
    List<AlertBook.Said> moved() {
        return moved;
    }

    /** Sends verdicts. Returns the probabilities of the hops that they suspect. */
    Map<String, Double> tell(final List<SegmentWindow> measured, final Localisation result, final Collector<Verdict> out) {
        final List<Verdict> verdicts = new ArrayList<>();
        final Map<String, Double> probabilities = new HashMap<>();
        for (final HopVerdict each : result.verdicts()) {
            verdicts.add(identified(slowHop(each, measured), verdicts.size()));
            each.suspects().forEach((suspect) -> probabilities.merge(hop(suspect), suspect.probability(), Math::max));
            if (each.isOneRoute()) {
                look(each, verdicts.get(verdicts.size() - 1));
            }
        }
        final List<String> clocks = network.routes().clocks();
        for (int clock = 0; clock < clocks.size(); clock++) {
            if (result.isClockOff(clock)) {
                verdicts.add(identified(clock(clocks.get(clock), result.clocks().offsetsNs()[clock],
                    BOUND_DEVIATIONS * result.clocks().deviationsNs()[clock]), verdicts.size()));
                look(clocks.get(clock), verdicts.get(verdicts.size() - 1));
            }
        }
        for (final SegmentWindow each : measured) {
            if (each.getIsFloorMoved()) {
                verdicts.add(identified(Verdict.newBuilder().setKind(Verdict.Kind.ROUTE_CHANGED).addEvidence(each.getSegment())
                    .setSinceNs(each.getStartNs()), verdicts.size()));
                moved.add(new AlertBook.Said(alert(Alert.Kind.ROUTE_CHANGED, verdicts.get(verdicts.size() - 1)).setSummary(
                    "The least delay of " + each.getSegment() + " has risen: its route or a clock has changed."),
                    List.of(each.getSegment())));
            }
        }
        if (!result.isFit()) {
            final Verdict.Builder noFit = Verdict.newBuilder().setKind(Verdict.Kind.NO_FIT).setSinceNs(window.getStartNs());
            result.residuals().forEach((segment) -> noFit.addEvidence(measured.get(segment).getSegment()));
            verdicts.add(identified(noFit, verdicts.size()));
        }
        verdicts.forEach(out::collect);
        return probabilities;
    }

    private Verdict identified(final Verdict.Builder verdict, final int rank) {
        final String dscp = window.hasDscp() ? Integer.toString(window.getDscp()) : "all";
        verdict.setId(settings.name() + '/' + dscp + '/' + window.getStartNs() + '/' + rank).setNetwork(settings.name())
            .setStartNs(window.getStartNs()).setEndNs(window.getEndNs()).setFinal(isFinal).setTopology(network.version());
        if (window.hasDscp()) {
            verdict.setDscp(window.getDscp());
        }
        return verdict.build();
    }

    private Verdict.Builder clock(final String name, final double offsetNs, final double boundNs) {
        since.put(clockKey(name), before.getOrDefault(clockKey(name), window.getStartNs()));
        return Verdict.newBuilder().setKind(Verdict.Kind.CLOCK_MOVED).setClock(name).setEffectNs(offsetNs)
            .setEffectLowNs(offsetNs - boundNs).setEffectHighNs(offsetNs + boundNs).setSinceNs(since.get(clockKey(name)));
    }

    /** {@return the name under which {@link #since} has a clock} */
    static String clockKey(final String name) {
        return "clock " + name;
    }

    private Verdict.Builder slowHop(final HopVerdict each, final List<SegmentWindow> measured) {
        final Verdict.Builder verdict = Verdict.newBuilder().setKind(Verdict.Kind.SLOW_HOP).setEffectNs(each.effectNs())
            .setEffectLowNs(each.effectLowNs()).setEffectHighNs(each.effectHighNs()).setConfidence(each.confidence())
            .setIsOneRoute(each.isOneRoute());
        long first = window.getStartNs();
        for (final HopVerdict.Suspect suspect : each.suspects()) {
            verdict.addSuspects(Verdict.Suspect.newBuilder().setFrom(name(network.map().topology().from(suspect.hop())))
                .setTo(name(network.map().topology().to(suspect.hop()))).setProbability(suspect.probability()));
            first = Math.min(first, before.getOrDefault(hop(suspect), first));
        }
        for (final HopVerdict.Suspect suspect : each.suspects()) {
            since.put(hop(suspect), first);
        }
        for (final SegmentWindow segment : measured) {
            final int[] hops = network.routes().find(segment.getSegment()).hops();
            if (each.suspects().stream().anyMatch((suspect) -> Arrays.binarySearch(hops, suspect.hop()) >= 0)) {
                verdict.addEvidence(segment.getSegment());
            }
        }
        return verdict.setSinceNs(first);
    }

    private static Alert.Builder alert(final Alert.Kind kind, final Verdict verdict) {
        final Alert.Builder alert = Alert.newBuilder().setKind(kind).setSeverity(Alert.Severity.TICKET)
            .setVerdict(verdict.getId()).setStartsNs(verdict.getSinceNs());
        if (verdict.hasEffectNs()) {
            alert.setValue(verdict.getEffectNs());
        }
        return alert;
    }

    private void look(final HopVerdict each, final Verdict verdict) {
        final int others = verdict.getSuspectsCount() - 1;
        said.add(new AlertBook.Said(alert(Alert.Kind.SLOW_HOP, verdict).setSummary(String.format(Locale.ROOT,
            "Packets wait %s ms longer than usual (%s to %s) from %s to %s%s.", ms(verdict.getEffectNs()),
            ms(verdict.getEffectLowNs()), ms(verdict.getEffectHighNs()), verdict.getSuspects(0).getFrom(),
            verdict.getSuspects(0).getTo(), others == 0 ? "" : ", or at one of " + others + " other hops")),
            each.suspects().stream().map(this::hop).toList()));
    }

    private void look(final String clock, final Verdict verdict) {
        said.add(new AlertBook.Said(alert(Alert.Kind.CLOCK_MOVED, verdict).setSummary(
            "Clock " + clock + " is off by " + ms(verdict.getEffectNs()) + " ms (" + ms(verdict.getEffectLowNs()) + " to " +
                ms(verdict.getEffectHighNs()) + ")."), List.of(clock)));
    }

    static String ms(final double delayNs) {
        return String.format(Locale.ROOT, "%.2f", delayNs / NANOSECONDS_PER_MILLISECOND);
    }

    private String hop(final HopVerdict.Suspect suspect) {
        return name(network.map().topology().from(suspect.hop())) + ' ' + name(network.map().topology().to(suspect.hop()));
    }

    /** {@return the hop of a name, or {@link Topology#NONE}} */
    static int hop(final Topology topology, final String name) {
        final int from = topology.node(name.substring(0, name.indexOf(' ')));
        final int to = topology.node(name.substring(name.indexOf(' ') + 1));
        return from == Topology.NONE || to == Topology.NONE ? Topology.NONE : topology.hop(from, to);
    }

    private String name(final int node) {
        return network.map().topology().name(node);
    }
}
