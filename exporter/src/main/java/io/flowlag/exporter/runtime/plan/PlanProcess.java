package io.flowlag.exporter.runtime.plan;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.MemorySize;
import io.flowlag.exporter.runtime.plan.NetworkPlan.Step;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.network.route.PlannedSegments.Selection;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.Topology;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** {@code flowlag plan}: reads a network, gives nodes points, prints and writes. Runs once, on the command's thread. */
public final class PlanProcess {
    private static final int MOST_LINES = 20;
    private static final Pattern CONTROL = Pattern.compile("\\p{Cntrl}");

    private final PlanOptions options;
    private final NetworkPlan plan;
    private final PrintStream out;
    /** Bits per second of the exchange at most, by the segment's id. */
    private final Map<Long, Double> bps = new TreeMap<>();
    /** Names of files by host; null for a host without one. */
    private List<String> files = List.of();

    private PlanProcess(final PlanOptions options, final NetworkPlan plan, final Terminal terminal) {
        this.options = options;
        this.plan = plan;
        out = terminal.out();
        plan.hosts().forEach((host) -> bps.putAll(host.receivedBps()));
    }

    /**
     * Plans, prints, and writes files if there is a directory for them.
     *
     * @throws ConfigurationException with every fault of the network's file.
     * @throws ExitException          if the directory cannot be written.
     */
    public static ExitCode run(final PlanOptions options, final Terminal terminal) {
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.read(options.network(), problems);
        ConfigurationException.throwIfAny(problems);
        final PlanProcess process;
        try {
            process = new PlanProcess(options, new NetworkPlan(map, options), terminal);
        } catch (final ArithmeticException ex) {
            throw new ExitException(ExitCode.CONFIGURATION, "plan: " + options.network() +
                ": has 2^63 equal-cost routes or more: give links weights that tell them apart");
        }
        process.finish(terminal);
        return ExitCode.DONE;
    }

    private void finish(final Terminal terminal) {
        if (options.directory() != null) {
            files = PlanFiles.write(plan, options);
        }
        switch (options.format()) {
            case JSON -> out.println(json().toPrettyString());
            case CSV -> printCsv();
            default -> printTable();
        }
        out.flush();
        final int added = plan.steps().size() - 1;
        if (added < options.points()) {
            terminal.message("flowlag: plan: " + added + " points and not " + options.points() +
                ": no other node lies inside a route");
        }
        if (!plan.hasPrefixes()) {
            terminal.message("flowlag: plan: the network has no prefixes, so no exporter has a configuration: " +
                "name the addresses behind nodes in a file of YAML, as nodes: {zrh: {prefixes: [10.1.0.0/16]}}");
        }
    }

    private String node(final int node) {
        return node == Topology.NONE ? "" : shown(plan.map().topology().name(node));
    }

    private static String shown(final String name) {
        return CONTROL.matcher(name).replaceAll("?");
    }

    private void printTable() {
        final Topology topology = plan.map().topology();
        out.printf(Locale.ROOT, "%d nodes, %d links (each direction counted), %d points before%n%n", topology.nodes(),
            topology.hops(), count(0));
        out.printf(Locale.ROOT, "%6s  %-24s %12s %9s %9s %7s %9s %7s %6s %9s%n", "points", "added", "probe hops", "segments",
            "mean hops", "largest", "measured", "groups", "blind", "suspects");
        for (int i = 0; i < plan.steps().size(); i++) {
            final Step step = plan.steps().get(i);
            out.printf(Locale.ROOT, "%6d  %-24s %12d %9d %9.2f %7d %9d %7d %6d %9.2f%n", count(i), node(step.numbers().node()),
                step.numbers().probeHops(), step.numbers().segments(), step.numbers().meanHops(), step.numbers().longest(),
                step.measured(), step.groups(), step.blind(), step.suspects());
        }
        printHosts();
        printLeftOut();
    }

    private long count(final int step) {
        final boolean[] isPoint = plan.map().isPoint();
        long before = 0;
        for (final boolean each : isPoint) {
            before += each ? 1 : 0;
        }
        return before + step;
    }

    private void printHosts() {
        out.printf(Locale.ROOT, "%n%-24s %10s %13s %12s %4s %4s  %s%n", "point", "memory MiB", "sends Mbit/s", "gets Mbit/s",
            "out", "in", "m-set (segments that begin here)");
        for (final PlannedHost host : plan.hosts()) {
            final boolean isMeasuring = !host.isIdle();
            out.printf(Locale.ROOT, "%-24s %10s %13s %12s %4d %4d  %s%n", shown(host.name()),
                isMeasuring ? MemorySize.mebibytes(host.memoryBytes()) : "-",
                isMeasuring ? mega(host.sent()) : "-", isMeasuring ? mega(host.received()) : "-", host.sent().size(),
                host.received().size(), mSet(host, true).stream().map(this::node).collect(Collectors.joining(" ", "", " ")) +
                "+ " + mSet(host, false).size() + " others");
        }
        if (plan.entries().isEmpty()) {
            return;
        }
        out.printf("%nMemory is that of flow cache, rings and delay; each interface adds capture.ring.%n" +
            "Each segment has room for all flows: a smaller --max-flows makes it less.%n" +
            "The exchange takes so much at most, if no packet is lost and each segment has its part of the flows.%n");
        if (options.directory() != null) {
            out.printf("%s has %d configurations (run -i INTERFACE ... -c FILE), their key, network.yaml and network.svg.%n",
                options.directory(), files.stream().filter((file) -> file != null).count());
        }
    }

    private String mega(final List<PlannedEntry> entries) {
        return String.format(Locale.ROOT, "%.1f", sum(entries) / 1e6);
    }

    private double sum(final List<PlannedEntry> entries) {
        return entries.stream().mapToDouble((entry) -> bps.get(entry.id())).sum();
    }

    /** The far ends of the segments that begin at a host. */
    private List<Integer> mSet(final PlannedHost host, final boolean ofPoints) {
        return plan.mSet(plan.map().topology().node(host.name()), ofPoints);
    }

    private List<Selection> leftOut() {
        return plan.selections().stream().filter((each) -> !each.isWhole()).toList();
    }

    private void printLeftOut() {
        final List<Selection> leftOut = leftOut();
        final long pairs = plan.selections().stream().mapToLong(Selection::pairs).sum();
        final long selected = plan.selections().stream().mapToLong(Selection::selected).sum();
        out.printf(Locale.ROOT, "%nPrefixes select %d of %d segments in whole and %d in part: %d of their %d pairs of nodes.%n",
            plan.selections().size() - leftOut.size(), plan.selections().size(),
            leftOut.stream().filter((each) -> each.selected() > 0).count(), selected, pairs);
        for (int i = 0; i < Math.min(MOST_LINES, leftOut.size()); i++) {
            final Selection each = leftOut.get(i);
            out.printf(Locale.ROOT, "  left out: %d of %d pairs from %s to %s, whose equal-cost routes take other segments too%n",
                each.pairs() - each.selected(), each.pairs(), node(each.from()), node(each.to()));
        }
        if (leftOut.size() > MOST_LINES) {
            out.printf("  and of %d more segments, which --format json names%n", leftOut.size() - MOST_LINES);
        }
    }

    private void printCsv() {
        out.println("points,added,probe_hops,segments,mean_hops,largest_hops,measured_segments,groups,blind_hops,suspects");
        for (int i = 0; i < plan.steps().size(); i++) {
            final Step step = plan.steps().get(i);
            final String name = node(step.numbers().node());
            out.printf(Locale.ROOT, "%d,%s,%d,%d,%.4f,%d,%d,%d,%d,%.4f%n", count(i),
                name.matches("[^\",\\p{Cntrl}]*") ? name : "\"" + name.replace("\"", "\"\"") + "\"",
                step.numbers().probeHops(), step.numbers().segments(), step.numbers().meanHops(), step.numbers().longest(),
                step.measured(), step.groups(), step.blind(), step.suspects());
        }
    }

    private ObjectNode json() {
        final ObjectNode root = new ObjectMapper().createObjectNode();
        root.put("nodes", plan.map().topology().nodes()).put("hops", plan.map().topology().hops());
        final ArrayNode steps = root.putArray("plan");
        for (int i = 0; i < plan.steps().size(); i++) {
            final Step step = plan.steps().get(i);
            final ObjectNode object = steps.addObject().put("points", count(i));
            if (step.numbers().node() != Topology.NONE) {
                object.put("added", node(step.numbers().node()));
            }
            object.put("probeHops", step.numbers().probeHops()).put("segments", step.numbers().segments())
                .put("meanHops", step.numbers().meanHops()).put("largestHops", step.numbers().longest())
                .put("measuredSegments", step.measured()).put("groups", step.groups()).put("blindHops", step.blind());
            if (!Double.isNaN(step.suspects())) {
                object.put("suspects", step.suspects());
            }
        }
        final ArrayNode points = root.putArray("points");
        for (int i = 0; i < plan.hosts().size(); i++) {
            final PlannedHost host = plan.hosts().get(i);
            final ObjectNode object = points.addObject().put("node", shown(host.name()));
            final ArrayNode mSet = object.putArray("mSet");
            mSet(host, true).forEach((node) -> mSet.add(node(node)));
            final ArrayNode others = object.putArray("mSetWithoutPoints");
            mSet(host, false).forEach((node) -> others.add(node(node)));
            if (!host.isIdle()) {
                object.put("memoryOctets", host.memoryBytes())
                    .put("sentBitsPerSecond", sum(host.sent())).put("receivedBitsPerSecond", sum(host.received()));
            }
            if (i < files.size() && files.get(i) != null) {
                object.put("file", files.get(i));
            }
        }
        final ArrayNode segments = root.putArray("segments");
        for (final Selection each : plan.selections()) {
            final ObjectNode object = segments.addObject().put("from", node(each.from())).put("to", node(each.to()))
                .put("pairs", each.pairs()).put("selectedPairs", each.selected());
            final ArrayNode ids = object.putArray("ids");
            entriesOf(each).forEach((entry) -> ids.add(entry.id()));
        }
        return root;
    }

    private List<PlannedEntry> entriesOf(final Selection segment) {
        final List<PlannedEntry> entries = new ArrayList<>(plan.entries());
        entries.removeIf((entry) -> entry.from() != segment.from() || entry.to() != segment.to());
        return entries;
    }
}
