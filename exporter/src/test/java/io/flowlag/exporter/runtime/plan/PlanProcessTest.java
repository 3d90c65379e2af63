package io.flowlag.exporter.runtime.plan;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.exporter.delay.PacketSegments;
import io.flowlag.exporter.delay.SegmentLookup;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.Topology;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Plans, and what the exporters' own code makes of the files for packets on every route of the network. */
class PlanProcessTest {
    private static final String LINE = """
        nodes: {a: {prefixes: [10.1.0.0/16], address: 192.0.2.1}, b: {}, c: {address: c.example}, d: {prefixes: [10.4.0.0/16]}}
        links: [a b, b c, c d]
        points: {first: {node: a}}
        segments: {old: {from: first, to: first, domain: 40, id: 7}}
        """;

    @TempDir
    private Path directory;

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private static PlanOptions options(
        final Path network, final int points, final PlanOptions.Objective objective, final Path out) {
        return new PlanOptions(network.toString(), points, objective, "16k", List.of("udp://192.0.2.9"), out,
            null, PlanOptions.Format.JSON);
    }

    private static String run(final PlanOptions options) {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final PrintStream none = new PrintStream(new ByteArrayOutputStream(), true, StandardCharsets.UTF_8);
        assertEquals(ExitCode.DONE, PlanProcess.run(
            options, new Terminal(new PrintStream(out, true, StandardCharsets.UTF_8), none, false)));
        return out.toString(StandardCharsets.UTF_8);
    }

    /** A network whose routes often cost the same, with prefixes of both families behind most nodes. */
    private static String network(final int nodes, final Random random) {
        final StringBuilder text = new StringBuilder("nodes:\n");
        for (int node = 0; node < nodes; node++) {
            final List<String> prefixes = new ArrayList<>();
            if (random.nextInt(4) > 0 || node == 0) { // without any prefix a plan has no configurations
                prefixes.add("10." + 2 * node + ".0.0/16");
                prefixes.add("10." + (2 * node + 1) + ".128.0/17");
            }
            if (random.nextInt(3) == 0) {
                prefixes.add("'2001:db8:" + node + "::/48'");
            }
            text.append("  n").append(node).append(": {prefixes: ").append(prefixes).append("}\n");
        }
        text.append("links:\n  - n0 n1\n");
        for (int from = 0; from < nodes; from++) {
            for (int to = 0; to < from; to++) {
                if (random.nextInt(nodes) < 3) {
                    text.append("  - n").append(from).append(" n").append(to).append(" weight=").append(1 + random.nextInt(3))
                        .append(random.nextInt(8) == 0 ? " one-way\n" : "\n");
                }
            }
        }
        return text.append("points: {old: {node: n").append(random.nextInt(nodes)).append("}}\n").toString();
    }

    /** What an exporter does with packets. */
    private record Exporter(PacketSegments lookup, List<ExporterConfig> segments) {
        long sent(final int found) {
            return id(SegmentLookup.sender(found));
        }

        long received(final int found) {
            return id(SegmentLookup.receiver(found));
        }

        private long id(final int index) {
            return index < 0 ? -1 : segments.get(index).segment().id();
        }
    }

    @Property(tries = 60)
    void shouldMeasureExactlyThePlannedSegments(
        @ForAll @IntRange(min = 2, max = 9) final int nodes, @ForAll @IntRange(max = 6) final int points,
        @ForAll final boolean isBySuspects, @ForAll final long seed) throws IOException {
        final Path folder = Files.createTempDirectory("plan");
        try {
            final Random random = new Random(seed);
            final Path file = Files.writeString(folder.resolve("n.yaml"), network(nodes, random));
            final JsonNode plan = new ObjectMapper().readTree(run(options(file, points,
                isBySuspects ? PlanOptions.Objective.SETS : PlanOptions.Objective.PROBES, folder.resolve("out"))));
            measure(plan, folder.resolve("out"), random);
        } finally {
            try (Stream<Path> all = Files.walk(folder)) {
                for (final Path each : all.sorted((a, b) -> b.compareTo(a)).toList()) {
                    Files.delete(each);
                }
            }
        }
    }

    private void measure(final JsonNode plan, final Path out, final Random random) {
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.read(out.resolve("network.yaml").toString(), problems);
        assertTrue(problems.isEmpty(), () -> problems.lines().toString());
        final Topology topology = map.topology();
        final Exporter[] exporters = new Exporter[topology.nodes()];
        for (final JsonNode point : plan.get("points")) {
            if (point.has("file")) {
                final List<ExporterConfig> segments =
                    new ConfigLoader().file(out.resolve(point.get("file").asText())).conclude().segments();
                exporters[topology.node(point.get("node").asText())] =
                    new Exporter(new PacketSegments(segments), segments);
            }
        }
        final Map<List<Integer>, Set<Long>> planned = new HashMap<>();
        map.segments().forEach((segment) -> planned.computeIfAbsent(List.of(map.points().get(segment.from()).node(),
            map.points().get(segment.to()).node()), (absent) -> new HashSet<>()).add(segment.id()));
        final Map<List<Integer>, Set<List<Integer>>> passed = new HashMap<>();
        final Map<List<Integer>, Set<List<Integer>>> measured = new HashMap<>();
        final Set<Long> seen = new HashSet<>();
        // Then all nodes are ends of pairs, and none can be selected.
        final boolean hasNoPrefixes = map.nodes().stream().allMatch((each) -> each.prefixes().isEmpty());
        for (final List<Integer> route : routes(topology)) {
            final int source = route.get(0);
            final int destination = route.get(route.size() - 1);
            final List<Integer> pair = List.of(source, destination);
            final List<Integer> points = route.stream().filter((node) -> map.isPoint()[node]).toList();
            for (final Prefix from : map.nodes().get(source).prefixes()) {
                for (final Prefix to : map.nodes().get(destination).prefixes()) {
                    if (from.isIpv6() == to.isIpv6()) {
                        packet(from, to, random);
                        final List<Long> ids = ids(exporters, points, planned);
                        seen.addAll(ids);
                        for (int i = 1; i < points.size(); i++) {
                            if (ids.get(i - 1) >= 0) {
                                measured.computeIfAbsent(points.subList(i - 1, i + 1), (absent) -> new HashSet<>()).add(pair);
                            }
                        }
                    }
                }
            }
            for (int i = 1; i < points.size() && (hasNoPrefixes || !map.nodes().get(source).prefixes().isEmpty() &&
                !map.nodes().get(destination).prefixes().isEmpty()); i++) {
                passed.computeIfAbsent(points.subList(i - 1, i + 1), (absent) -> new HashSet<>()).add(pair);
            }
        }
        seen.remove(-1L);
        final boolean isOneFamily = !hasNoPrefixes && map.nodes().stream().allMatch((each) -> each.prefixes().isEmpty() ||
            each.prefixes().stream().anyMatch((prefix) -> !prefix.isIpv6()));
        assertEquals(plan.get("segments").size(), passed.size());
        for (final JsonNode segment : plan.get("segments")) {
            final List<Integer> ends =
                List.of(topology.node(segment.get("from").asText()), topology.node(segment.get("to").asText()));
            assertEquals(segment.get("pairs").asInt(), passed.get(ends).size());
            if (isOneFamily) {
                assertEquals(segment.get("selectedPairs").asInt(), measured.getOrDefault(ends, Set.of()).size());
            }
        }
        if (isOneFamily) {
            assertEquals(map.segments().stream().map(NetworkMap.NamedSegment::id).collect(Collectors.toSet()), seen);
        }
    }

    /** The segment that a packet is of between each two points of its route, as the sender there and the receiver say alike. */
    private List<Long> ids(final Exporter[] exporters, final List<Integer> points, final Map<List<Integer>, Set<Long>> planned) {
        final List<Long> ids = new ArrayList<>();
        for (int i = 0; i < points.size(); i++) {
            final Exporter exporter = exporters[points.get(i)];
            final int found = exporter == null ? 0 : exporter.lookup.of(descriptor, 0);
            final long received = exporter == null ? -1 : exporter.received(found);
            assertEquals(i == 0 ? -1 : ids.get(i - 1), received, "what was sent arrives, and nothing else does");
            final long sent = exporter == null ? -1 : exporter.sent(found);
            assertTrue(sent < 0 || i + 1 < points.size() && planned.get(points.subList(i, i + 2)).contains(sent));
            ids.add(sent);
        }
        return ids;
    }

    private void packet(final Prefix from, final Prefix to, final Random random) {
        PacketDescriptor.ipVersion(descriptor, 0, from.isIpv6() ? 6 : 4);
        PacketDescriptor.sourceHigh(descriptor, 0, from.high());
        PacketDescriptor.sourceLow(descriptor, 0, from.low() | random.nextInt(1 << 15));
        PacketDescriptor.destinationHigh(descriptor, 0, to.high());
        PacketDescriptor.destinationLow(descriptor, 0, to.low() | random.nextInt(1 << 15));
    }

    /** Every shortest route, by a search through all paths. */
    private static List<List<Integer>> routes(final Topology topology) {
        final List<List<Integer>> routes = new ArrayList<>();
        for (int source = 0; source < topology.nodes(); source++) {
            final Map<Integer, Long> best = new HashMap<>();
            final Map<Integer, List<List<Integer>>> found = new HashMap<>();
            search(topology, new ArrayList<>(List.of(source)), 0, best, found);
            found.values().forEach(routes::addAll);
        }
        return routes;
    }

    private static void search(
        final Topology topology, final List<Integer> path, final long weight, final Map<Integer, Long> best,
        final Map<Integer, List<List<Integer>>> found) {
        final int node = path.get(path.size() - 1);
        for (int hop = topology.firstHop(node); hop < topology.firstHop(node + 1); hop++) {
            final int next = topology.to(hop);
            final long sum = weight + topology.weight(hop);
            if (!path.contains(next)) {
                path.add(next);
                if (sum < best.getOrDefault(next, Long.MAX_VALUE)) {
                    best.put(next, sum);
                    found.put(next, new ArrayList<>());
                }
                if (sum == best.get(next)) {
                    found.get(next).add(List.copyOf(path));
                }
                search(topology, path, sum, best, found);
                path.remove(path.size() - 1);
            }
        }
    }

    @Test
    void shouldKeepNumbersAndContinue() throws IOException {
        final Path file = Files.writeString(directory.resolve("n.yaml"), LINE);
        final Path out = directory.resolve("out");
        final JsonNode plan = new ObjectMapper().readTree(run(options(file, 1, PlanOptions.Objective.PROBES, out)));
        assertEquals("b", plan.get("plan").get(1).get("added").asText());
        assertEquals(2, plan.get("segments").size());
        assertTrue(plan.get("points").get(0).get("memoryOctets").asLong() > 1 << 20);
        assertTrue(plan.get("points").get(0).get("sentBitsPerSecond").asDouble() > 1e5);
        assertTrue(Files.readString(out.resolve("a.yaml")).contains("observation-domain: 40"));
        assertTrue(Files.readString(out.resolve("b.yaml")).contains("connect: \"192.0.2.1:8621\""));
        assertTrue(Files.readString(out.resolve("network.svg")).contains("2 points"));
        final String key = Files.readString(out.resolve("flowlag.key"));
        final PlanOptions next = options(out.resolve("network.yaml"), 1, PlanOptions.Objective.PROBES, out);
        final JsonNode more = new ObjectMapper().readTree(run(next));
        assertEquals("c", more.get("plan").get(1).get("added").asText());
        assertEquals(4, more.get("segments").size());
        assertEquals(plan.get("segments").get(0).get("ids"), more.get("segments").get(0).get("ids"));
        assertEquals(key, Files.readString(out.resolve("flowlag.key")), "the key stays");
        assertEquals(run(next).length(), run(next).length());
    }

    /** Names of other tools have characters that the file of YAML does not. */
    @Test
    void shouldWriteNamesOfOtherTools() throws IOException {
        final Path file = Files.writeString(directory.resolve("n.graphml"), """
            <graphml><key attr.name="label" id="l"/><graph><node id="0"><data key="l">New York</data></node>
            <node id="1"><data key="l">New'York</data></node>
            <node id="2"><data key="l">%s</data></node>
            <edge source="0" target="1"/><edge source="1" target="2"/></graph></graphml>
            """.formatted("A\u2028B &amp; \"C\" \u00e9\ud83d\ude80"));
        final Path out = directory.resolve("out");
        run(new PlanOptions(
            "graphml:" + file, 1, PlanOptions.Objective.SETS, null, List.of(), out, null, PlanOptions.Format.TABLE));
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.read(out.resolve("network.yaml").toString(), problems);
        assertTrue(problems.isEmpty(), () -> problems.lines().toString());
        assertEquals(List.of("A_B_&__C__\u00e9\ud83d\ude80", "New_York", "New_York-2"),
            List.of(map.topology().name(0), map.topology().name(1), map.topology().name(2)));
        assertEquals(4, map.topology().hops());
        assertEquals(1, map.points().size());
        assertTrue(Files.readString(out.resolve("network.svg")).contains("A\u2028B &amp; \"C\""));
    }

    /** The key is made in the directory, and may lie elsewhere on the hosts. */
    @Test
    void shouldNameTheKeyAsHostsHaveIt() throws IOException {
        final Path file = Files.writeString(directory.resolve("n.yaml"), LINE);
        final Path out = directory.resolve("out");
        run(new PlanOptions(file.toString(), 1, PlanOptions.Objective.PROBES, null, List.of(), out, Path.of("/etc/x/y.key"),
            PlanOptions.Format.TABLE));
        assertTrue(Files.exists(out.resolve("flowlag.key")));
        assertTrue(Files.readString(out.resolve("b.yaml")).contains("key-file: \"/etc/x/y.key\""));
    }

    @Test
    void shouldTellWhatItCannotPlan() throws IOException {
        final Path file = Files.writeString(directory.resolve("n.yaml"), LINE.replace("a b", "a x"));
        final ConfigurationException refusal = assertThrows(ConfigurationException.class,
            () -> run(options(file, 1, PlanOptions.Objective.PROBES, null)));
        assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
        assertTrue(refusal.errors().get(0).startsWith(file + ":2:9: a x: 'x' is no node"), refusal.errors()::toString);
        final Path named = Files.writeString(directory.resolve("m.yaml"), LINE.replace("b", "b+"));
        final ExitException nameless = assertThrows(ExitException.class,
            () -> run(options(named, 1, PlanOptions.Objective.PROBES, null)));
        assertEquals("nodes.b+: gets a point, and its name is not that of a host: give its address as nodes.b+.address",
            nameless.getMessage());
        final Path taken = Files.writeString(directory.resolve("file"), "");
        Files.writeString(file, LINE);
        assertEquals(ExitCode.CANNOT_WRITE, assertThrows(ExitException.class,
            () -> run(options(file, 1, PlanOptions.Objective.PROBES, taken.resolve("out")))).exitCode());
    }

    @Property(tries = 300)
    void shouldMergePrefixes(@ForAll final long seed) {
        final Random random = new Random(seed);
        final List<Prefix> prefixes = new ArrayList<>();
        for (int i = 0; i < random.nextInt(12); i++) {
            final boolean isIpv6 = random.nextBoolean();
            final long bits = random.nextInt(16);
            prefixes.add(new Prefix(isIpv6, isIpv6 ? bits >> 2 : 0, isIpv6 ? bits << 62 : bits << 28,
                isIpv6 ? 62 + random.nextInt(5) : random.nextInt(5)).network());
        }
        final List<Prefix> merged = PlannedEntry.merged(prefixes);
        for (int bits = 0; bits < 16; bits++) {
            final long low = (long)bits << 28;
            final long high = bits >> 2;
            final long lowOf6 = (long)bits << 62;
            assertEquals(prefixes.stream().anyMatch((each) -> each.contains(false, 0, low)),
                merged.stream().anyMatch((each) -> each.contains(false, 0, low)));
            assertEquals(prefixes.stream().anyMatch((each) -> each.contains(true, high, lowOf6)),
                merged.stream().anyMatch((each) -> each.contains(true, high, lowOf6)));
        }
        assertTrue(merged.size() <= new HashSet<>(prefixes).size());
        for (int i = 0; i < merged.size(); i++) {
            for (int j = 0; j < i; j++) {
                assertTrue(!merged.get(i).overlaps(merged.get(j)), () -> Arrays.toString(merged.toArray()));
            }
        }
    }
}
