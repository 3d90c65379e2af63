package io.flowlag.network.topology;

import io.flowlag.common.config.Prefix;
import io.flowlag.common.config.Problems;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Networks that people write, and the words for what is wrong with them. */
class NetworkReaderTest {
    private static final String BACKBONE = """
        nodes:    {zrh: {prefixes: [10.1.0.0/16, '2001:db8:1::/48'], place: [47.4, 8.5], address: 192.0.2.7}, bern: {}, gva: {}}
        links:    ['zrh bern weight=10 delay=600us', 'bern gva weight=2.5', 'gva zrh one-way']
        points:   {zrh-out: {node: zrh, clock: atom}, gva: {}}
        segments: {zrh-gva: {from: zrh-out, to: gva, exporter: 192.0.2.7, domain: 12, id: 3, via: [bern]}}
        """;

    @TempDir
    private Path directory;

    @Test
    void shouldReadWhatIsKnownOfANetwork() {
        final NetworkMap map = read(BACKBONE);
        final Topology topology = map.topology();
        assertEquals(5, topology.hops());
        final int zrh = topology.node("zrh");
        final int bern = topology.node("bern");
        final int gva = topology.node("gva");
        assertEquals(10_000_000, topology.weight(topology.hop(bern, zrh)));
        assertEquals(1_000_000, topology.weight(topology.hop(gva, zrh)));
        assertEquals(Topology.NONE, topology.hop(zrh, gva));
        assertEquals(600_000, map.delaysNs()[topology.hop(zrh, bern)]);
        assertEquals(NetworkMap.UNKNOWN, map.delaysNs()[topology.hop(gva, bern)]);
        assertEquals(new NetworkMap.Site(
            List.of(Prefix.of("10.1.0.0/16"), Prefix.of("2001:db8:1::/48")), 47.4, 8.5, "192.0.2.7"), map.nodes().get(zrh));
        assertTrue(Double.isNaN(map.nodes().get(bern).latitude()));
        assertEquals(
            List.of(new NetworkMap.Point("zrh-out", zrh, "atom"), new NetworkMap.Point("gva", gva, "gva")), map.points());
        assertEquals(
            List.of(new NetworkMap.NamedSegment("zrh-gva", 0, 1, "192.0.2.7", 12, 3, List.of(bern))), map.segments());
        assertTrue(map.isPoint()[zrh] && map.isPoint()[gva] && !map.isPoint()[bern]);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', value = {
        "node: {}|1:1: node: unknown key; did you mean nodes?",
        "nodes: {a: {prefix: x}}|1:13: nodes.a.prefix: unknown key; did you mean prefixes?",
        "nodes: {a: {prefixes: [10.0.0.0/33]}}|1:24: nodes.a.prefixes=10.0.0.0/33: has no length of 0 to 32 behind the slash",
        "nodes: {a: {prefixes: 1.2.3.4}}|1:13: nodes.a.prefixes: is a list: write it in brackets",
        "nodes: {a: {place: [91, 0]}}|1:21: nodes.a.place=91: must be degrees from -90.0 to 90.0",
        "nodes: {a: {place: [9]}}|1:13: nodes.a.place: is no place: write [LATITUDE, LONGITUDE] in degrees",
        "nodes: {a: {address: '-x'}}|1:13: nodes.a.address=-x: is neither a host's name nor its address",
        "nodes: {a b: {}}|1:9: nodes.a b: a name has at most 100 characters, no space and no quotation mark: give another",
        "nodes: {\"a\\x07b\": {}}|"
            + "1:9: nodes.a?b: a name has at most 100 characters, no space and no quotation mark: give another",
        "nodes: {a: {}}#points: {a: {clock: \"c\\e\"}}|"
            + "2:10: points.a.clock: a name has at most 100 characters, no space and no quotation mark: give another",
        "nodes: [a]|1:1: nodes: is a section: put names, indented, on the lines below it",
        "nodes: {a: 1}|1:12: nodes.a: has keys: prefixes, place, address; write {} for none",
        "nodes: {zurich: {}, b: {}}#links: [zurch b]|2:9: zurch b: 'zurch' is no node; did you mean zurich?",
        "nodes: {a: {}, b: {}}#links: [a]|2:9: links=a: is no link: write 'FROM TO', and weight=, delay= or one-way behind it",
        "nodes: {a: {}, b: {}}#links: [a b weight=0]|2:9: links=a b weight=0: weight=0: must be above 0 and at most 549755",
        "nodes: {a: {}, b: {}}#links: [a b delay=5]|"
            + "2:9: links=a b delay=5: a duration needs a unit: write 5s (units ns, us, ms, s, m, h, d)",
        "nodes: {a: {}, b: {}}#links: [a b w=1]|"
            + "2:9: links=a b w=1: 'w=1' is unknown: write 'FROM TO', and weight=, delay= or one-way behind it",
        "nodes: {a: {}}#points: {point: {}}|2:10: points.point: 'point' is no node",
        "nodes: {a: {}}#points: {a: {}}#segments: {s: {from: a, to: point}}|"
            + "3:25: segments.s: 'point' is no point: give from and to",
        "nodes: {a: {}}#points: {a: {}}#segments: {s: {from: a, to: a, id: -1}}|"
            + "3:32: segments.s.id=-1: must be a whole number from 0 to 4294967295",
        "nodes: {a: {prefixes: [10.0.0.0/8]}, b: {prefixes: [10.1.0.0/16]}}|1:1: nodes.b.prefixes: a has addresses of them too: "
            + "give each address to one node, the longer prefixes instead of the shorter",
        "a|1:1: a configuration is made of lines such as 'links: ['zrh gva weight=10']'",
        "links: []|1:1: has no nodes: write such as nodes: {zrh: {}, gva: {}}"})
    void shouldSayWhatIsWrong(final String yaml, final String message) {
        final Problems problems = new Problems();
        assertNull(NetworkReader.read("n.yaml", yaml.replace('#', '\n'), problems));
        assertEquals("n.yaml:" + message, problems.lines().get(0));
    }

    @Test
    void shouldReadEveryFormat() throws Exception {
        Files.writeString(directory.resolve("weights.intra"), "A B 1\n");
        final Problems problems = new Problems();
        assertEquals(2, NetworkFiles.read("rocketfuel:" + directory, problems).nodes().size());
        assertNull(NetworkFiles.read("graphml:" + directory.resolve("weights.intra"), problems));
        assertNull(NetworkFiles.read("rfc8345:none.json", problems));
        assertNull(NetworkFiles.read("none.yaml", problems));
        assertEquals(List.of(directory.resolve("weights.intra") + ": line 1: is not XML",
            "none.json: no such network file: check the path", "none.yaml: no such network file: check the path"),
            problems.lines());
    }

    @Test
    void shouldReadPlacesOfGraphMl() {
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.parse("graphml", "g", """
            <graphml><key attr.name="Latitude" id="a"/><key attr.name="Longitude" id="o"/><graph>
            <node id="x"><data key="a">47.4</data><data key="o">-8.5</data></node><node id="y"><data key="a">47.4</data></node>
            <node id="z"><data key="a">91</data><data key="o">NaN</data></node></graph></graphml>
            """, problems);
        assertEquals(47.4, map.nodes().get(0).latitude());
        assertEquals(-8.5, map.nodes().get(0).longitude());
        assertTrue(Double.isNaN(map.nodes().get(1).latitude()) && Double.isNaN(map.nodes().get(2).longitude()));
    }

    @Test
    void shouldRefuseMoreThanItCanPlan() {
        final String nodes = IntStream.rangeClosed(0, Topology.MOST_NODES).mapToObj((i) -> "n" + i + ": {}")
            .collect(Collectors.joining(", ", "nodes: {", "}"));
        final Problems problems = new Problems();
        assertNull(NetworkReader.read("n.yaml", nodes, problems));
        assertTrue(problems.lines().get(0).endsWith("nodes.n2000: there are more than 2000 nodes"), problems.lines()::toString);
    }

    static NetworkMap read(final String yaml) {
        final Problems problems = new Problems();
        final NetworkMap map = NetworkReader.read("n.yaml", yaml, problems);
        assertTrue(problems.isEmpty(), () -> problems.lines().toString());
        return map;
    }
}
