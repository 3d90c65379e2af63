package io.flowlag.exporter.runtime.plan;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Prefix;
import io.flowlag.network.route.ExpectedSuspects;
import io.flowlag.network.route.PlannedSegments;
import io.flowlag.network.route.PlannedSegments.Selection;
import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;
import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;

/** A network, the points that it gets, and the exporters there. Made by one thread; immutable then. */
final class NetworkPlan {
    /** Prefixes of sources, and of destinations, that the exchange takes. */
    static final int MOST_PREFIXES = 64;

    private static final Pattern HOST = Pattern.compile("[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?");

    private final NetworkMap map;
    private final List<Step> steps = new ArrayList<>();
    private final PlannedSegments segments;
    private final List<Selection> selections;
    private final List<PlannedEntry> entries = new ArrayList<>();
    private final List<PlannedHost> hosts = new ArrayList<>();
    /** Indexes of hosts by their nodes. */
    private final int[] hostOf;
    private final boolean[] isPoint;
    private final boolean hasPrefixes;

    /**
     * The network once a node has its point.
     *
     * @param numbers  probes and segments, as the LDA paper counts them.
     * @param measured segments between points that prefixes select.
     * @param groups   of hops that these do not tell apart.
     * @param blind    hops of none of them.
     * @param suspects expected, with these segments alone.
     */
    record Step(PointPlan.Step numbers, int measured, int groups, int blind, double suspects) {
    }

    NetworkPlan(final NetworkMap map, final PlanOptions options) {
        this.map = map;
        final ShortestRoutes routes = new ShortestRoutes(map.topology());
        final boolean[] isSource = new boolean[map.topology().nodes()];
        for (int node = 0; node < isSource.length; node++) {
            isSource[node] = !map.nodes().get(node).prefixes().isEmpty();
        }
        hasPrefixes = map.nodes().stream().anyMatch((each) -> !each.prefixes().isEmpty());
        if (!hasPrefixes) {
            Arrays.fill(isSource, true);
        }
        isPoint = map.isPoint();
        addSteps(routes, isSource, options);
        segments = new PlannedSegments(routes, isPoint, isSource);
        selections = segments.selections(false);
        hostOf = new int[isPoint.length];
        addHosts();
        if (hasPrefixes) {
            addEntries();
        }
        hosts.stream().filter((host) -> !host.isIdle()).forEach((host) -> host.draft(options, receiversOf(host)));
        hosts.forEach((host) -> host.size(receiversOf(host)));
    }

    private void addSteps(final ShortestRoutes routes, final boolean[] isSource, final PlanOptions options) {
        final ExpectedSuspects suspects = new ExpectedSuspects(routes, isSource);
        for (int node = 0; node < isPoint.length; node++) {
            if (isPoint[node]) {
                suspects.add(node);
            }
        }
        if (options.objective() == PlanOptions.Objective.PROBES) {
            for (final PointPlan.Step step : PointPlan.of(routes, isPoint, options.points())) {
                addStep(step, suspects);
            }
        } else {
            addStep(PointPlan.of(routes, isPoint), suspects);
            for (final int node : ExpectedSuspects.plan(routes, isSource, isPoint, options.points())) {
                isPoint[node] = true;
                final PointPlan.Step step = PointPlan.of(routes, isPoint);
                addStep(new PointPlan.Step(node, step.probeHops(), step.segments(), step.longest()), suspects);
            }
        }
    }

    private void addStep(final PointPlan.Step step, final ExpectedSuspects suspects) {
        if (step.node() != Topology.NONE) {
            suspects.add(step.node());
            isPoint[step.node()] = true;
        }
        final double expected = suspects.expected();
        steps.add(new Step(step, suspects.segmentCount(), suspects.groups(), suspects.blindHops(), expected));
    }

    private void addHosts() {
        final Set<Long> domains = new HashSet<>();
        map.segments().forEach((segment) -> domains.add(segment.domain()));
        long nextDomain = 1;
        for (int node = 0; node < isPoint.length; node++) {
            if (isPoint[node]) {
                long domain = NetworkMap.UNKNOWN;
                for (final NamedSegment segment : map.segments()) {
                    domain = map.points().get(segment.to()).node() == node && segment.domain() >= 0 ? segment.domain() : domain;
                }
                while (domain < 0 && !domains.add(nextDomain)) {
                    nextDomain++;
                }
                final String address = map.nodes().get(node).address();
                final String name = map.topology().name(node);
                if (hasPrefixes && address.isEmpty() && !HOST.matcher(name).matches()) {
                    throw new ExitException(ExitCode.CONFIGURATION, "nodes." + name +
                        ": gets a point, and its name is not that of a host: give its address as nodes." + name + ".address");
                }
                hostOf[node] = hosts.size();
                hosts.add(new PlannedHost(name, address.isEmpty() ? name : address, domain < 0 ? nextDomain : domain));
            }
        }
    }

    /** Entries that the file knows keep their numbers. */
    private void addEntries() {
        final TreeSet<Long> used = new TreeSet<>();
        map.segments().forEach((segment) -> used.add(segment.id()));
        final Set<NamedSegment> taken = new HashSet<>();
        final Set<String> names = new HashSet<>();
        long nextId = 1;
        for (final Selection selection : selections) {
            final List<Prefix> sources = prefixes(selection.sources());
            final List<Prefix> destinations = prefixes(selection.destinations());
            for (int i = 0; i < sources.size(); i += MOST_PREFIXES) {
                for (int j = 0; j < destinations.size(); j += MOST_PREFIXES) {
                    final NamedSegment known = map.segments().stream().filter((segment) -> segment.id() >= 0 &&
                        map.points().get(segment.from()).node() == selection.from() &&
                        map.points().get(segment.to()).node() == selection.to() && taken.add(segment)).findFirst().orElse(null);
                    while (known == null && !used.add(nextId)) {
                        nextId++;
                    }
                    final PlannedEntry entry = new PlannedEntry(
                        known == null ? name(selection, names) : known.name(), known == null ? nextId : known.id(),
                        selection.from(), selection.to(), sources.subList(i, Math.min(sources.size(), i + MOST_PREFIXES)),
                        destinations.subList(j, Math.min(destinations.size(), j + MOST_PREFIXES)));
                    names.add(entry.name());
                    entries.add(entry);
                    hostAt(entry.from()).sent().add(entry);
                    hostAt(entry.to()).received().add(entry);
                }
            }
        }
    }

    private String name(final Selection selection, final Set<String> names) {
        final String name = map.topology().name(selection.from()) + "-" + map.topology().name(selection.to());
        int number = 1;
        String free = name;
        while (names.contains(free) || isNamed(free)) {
            free = name + "-" + ++number;
        }
        return free;
    }

    private boolean isNamed(final String name) {
        return map.segments().stream().anyMatch((segment) -> segment.name().equals(name));
    }

    private List<Prefix> prefixes(final int[] nodes) {
        return PlannedEntry.merged(
            Arrays.stream(nodes).boxed().flatMap((node) -> map.nodes().get(node).prefixes().stream()).toList());
    }

    NetworkMap map() {
        return map;
    }

    /** {@return the network as it was, and after each addition} */
    List<Step> steps() {
        return steps;
    }

    /** {@return the segments between points that have packets} */
    List<Selection> selections() {
        return selections;
    }

    /** {@return the far ends of the segments that begin at a node, those with points or the others, whose servers end them} */
    List<Integer> mSet(final int node, final boolean ofPoints) {
        return Arrays.stream(segments.mSet(node)).filter((end) -> isPoint[end] == ofPoints).boxed().toList();
    }

    /** {@return what exporters measure; none without prefixes} */
    List<PlannedEntry> entries() {
        return entries;
    }

    /** {@return the exporters, by the names of their nodes} */
    List<PlannedHost> hosts() {
        return hosts;
    }

    /** {@return the hosts of the segments that begin at one, in their order} */
    List<PlannedHost> receiversOf(final PlannedHost host) {
        return host.sent().stream().map((entry) -> hostAt(entry.to())).toList();
    }

    /** {@return the exporter at a node that has a point} */
    PlannedHost hostAt(final int node) {
        return hosts.get(hostOf[node]);
    }

    /** {@return of each node, whether it has a point now} */
    boolean[] isPoint() {
        return isPoint;
    }

    /** {@return whether the network's file says which addresses are behind nodes} */
    boolean hasPrefixes() {
        return hasPrefixes;
    }
}
