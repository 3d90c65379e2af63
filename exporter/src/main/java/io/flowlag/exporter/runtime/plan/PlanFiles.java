package io.flowlag.exporter.runtime.plan;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.KeyFile;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;
import io.flowlag.network.topology.NetworkMap.Point;
import io.flowlag.network.topology.NetworkMap.Site;
import io.flowlag.network.topology.Topology;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * The files of a plan: a configuration for each exporter, the key that they share, the network with its points and segments, and
 * a drawing. Each configuration is read back before it is written, with the key that is here. Stateless.
 */
final class PlanFiles {
    private static final String NETWORK = "network";
    private static final String KEY = "flowlag.key";
    private static final int MOST_NAME_CHARACTERS = 90;
    private static final Pattern UNNAMED = Pattern.compile("(?s)(?!" + NetworkFiles.NAME_CHARACTER + ").");

    private PlanFiles() {
    }

    /**
     * Writes all files; a key that is there stays.
     *
     * @return names of the configurations, in the order of the hosts; null for one without a segment.
     * @throws ExitException if the directory cannot be written.
     */
    static List<String> write(final NetworkPlan plan, final PlanOptions options) {
        final Path directory = options.directory().toAbsolutePath().normalize();
        final List<String> names = new ArrayList<>();
        Path file = directory;
        try {
            Files.createDirectories(directory);
            final Path key = directory.resolve(KEY);
            file = key;
            if (!plan.entries().isEmpty() && !Files.exists(key)) {
                KeyFile.make(key);
            }
            final Set<String> taken = new HashSet<>(Set.of(NETWORK));
            for (final PlannedHost host : plan.hosts()) {
                if (host.isIdle()) {
                    names.add(null);
                    continue;
                }
                final String name = fileName(host.name(), taken);
                file = directory.resolve(name);
                new ConfigLoader().text(file.toString(), host.yaml(options, plan.receiversOf(host), key)).conclude();
                Files.writeString(
                    file, host.yaml(options, plan.receiversOf(host), options.key() == null ? key : options.key()));
                names.add(name);
            }
            file = directory.resolve(NETWORK + ".yaml");
            Files.writeString(file, network(plan));
            file = directory.resolve(NETWORK + ".svg");
            Files.writeString(file, NetworkDrawing.of(plan));
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.CANNOT_WRITE,
                "plan: cannot write " + file + ": " + OutputFiles.reason(ex) + "; name another directory with --out");
        }
        return names;
    }

    private static String fileName(final String node, final Set<String> taken) {
        final String safe = node.replaceAll("[^A-Za-z0-9._-]", "_").replaceFirst("^[.-]", "_");
        String free = safe;
        int number = 1;
        while (!taken.add(free.toLowerCase(Locale.ROOT))) {
            free = safe + "-" + ++number;
        }
        return free + ".yaml";
    }

    /** The network as {@code --network} reads it, with the points and segments of the plan. */
    static String network(final NetworkPlan plan) {
        final NetworkMap map = plan.map();
        final Topology topology = map.topology();
        final String[] names = names(topology);
        final StringBuilder text = new StringBuilder("# Written by flowlag plan.\nnodes:\n");
        for (int node = 0; node < names.length; node++) {
            text.append("  ").append(PlannedHost.quoted(names[node])).append(": {").append(site(map.nodes().get(node)))
                .append("}\n");
        }
        text.append("links:").append(topology.hops() == 0 ? " []\n" : "\n");
        for (int hop = 0; hop < topology.hops(); hop++) {
            text.append("  - ").append(PlannedHost.quoted(names[topology.from(hop)] + " " + names[topology.to(hop)] + " weight=" +
                topology.weightText(hop) + (map.delaysNs()[hop] < 0 ? "" : " delay=" + map.delaysNs()[hop] + "ns") + " one-way"))
                .append('\n');
        }
        final List<String> points = new ArrayList<>();
        final String[] pointOf = new String[names.length];
        for (final Point point : map.points()) {
            pointOf[point.node()] = point.name();
            points.add(point(point.name(), names[point.node()], point.clock()));
        }
        for (int node = 0; node < names.length; node++) {
            if (plan.isPoint()[node] && pointOf[node] == null) {
                pointOf[node] = names[node];
                points.add(point(names[node], names[node], names[node]));
            }
        }
        text.append("points: {").append(String.join(",", points)).append("}\nsegments: {");
        text.append(plan.entries().stream().map((entry) -> "\n  " + PlannedHost.quoted(entry.name()) + ": {from: " +
            PlannedHost.quoted(pointOf[entry.from()]) + ", to: " + PlannedHost.quoted(pointOf[entry.to()]) +
            exporter(plan, entry) + ", id: " + entry.id() + "}").collect(Collectors.joining(",")));
        return text.append("}\n").toString();
    }

    /** Names without what the reader refuses. */
    private static String[] names(final Topology topology) {
        final Set<String> taken = new HashSet<>();
        final String[] names = new String[topology.nodes()];
        for (int node = 0; node < names.length; node++) {
            final String name = UNNAMED.matcher(topology.name(node)).replaceAll("_");
            final String cut = name.substring(0, Math.min(name.length(), MOST_NAME_CHARACTERS));
            names[node] = cut;
            for (int number = 2; !taken.add(names[node]); number++) {
                names[node] = cut + "-" + number;
            }
        }
        return names;
    }

    private static String exporter(final NetworkPlan plan, final PlannedEntry entry) {
        final PlannedHost host = plan.hostAt(entry.to());
        final String known = plan.map().segments().stream().filter((segment) -> segment.id() == entry.id())
            .map(NamedSegment::exporter).findFirst().orElse("");
        return ", exporter: " + PlannedHost.quoted(known.isEmpty() ? host.address() : known) + ", domain: " + host.domain();
    }

    private static String site(final Site site) {
        final List<String> keys = new ArrayList<>();
        if (!site.prefixes().isEmpty()) {
            keys.add("prefixes: " + PlannedHost.list(site.prefixes()));
        }
        if (!Double.isNaN(site.latitude())) {
            keys.add("place: [" + BigDecimal.valueOf(site.latitude()).toPlainString() + ", " +
                BigDecimal.valueOf(site.longitude()).toPlainString() + "]");
        }
        if (!site.address().isEmpty()) {
            keys.add("address: " + PlannedHost.quoted(site.address()));
        }
        return String.join(", ", keys);
    }

    private static String point(final String name, final String node, final String clock) {
        return "\n  " + PlannedHost.quoted(name) + ": {node: " + PlannedHost.quoted(node) + ", clock: " +
            PlannedHost.quoted(clock) + "}";
    }
}
