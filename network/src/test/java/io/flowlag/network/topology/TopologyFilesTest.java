package io.flowlag.network.topology;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

/** The three formats of other tools, and what is refused. */
class TopologyFilesTest {
    private static final String GRAPH = """
        <?xml version="1.0"?>
        <graphml xmlns="http://graphml.graphdrawing.org/xmlns">
          <key attr.name="label" for="node" id="d1"/><key attr.name="weight" for="edge" id="d2"/><key for="node" id="d3"/>
          <graph edgedefault="%s">
            <node id="0"><data key="d1">Bern</data><data key="d3"><drawing x="1"/></data></node>
            <node id="1"><data key="d1">Genf</data></node><node id="2"><data key="d1">Bern</data></node><node id="3"/>
            <edge source="0" target="1"><data key="d2">2.5</data></edge>
            <edge source="1" target="2"/><edge source="1" target="2"/><edge source="2" target="2"/>
          </graph>
        </graphml>
        """;
    private static final String YANG = """
        {"ietf-network:networks": {"network": [{"network-id": "none"}, {"network-id": "backbone",
          "node": [{"node-id": "D1"}, {"node-id": "D2"}, {"node-id": "D3"}],
          "ietf-network-topology:link": [
            {"link-id": "a", "source": {"source-node": "D1", "source-tp": "1"}, "destination": {"dest-node": "D2"},
             "ietf-l3-unicast-topology:l3-link-attributes": {"name": "x", "metric1": 10}},
            {"link-id": "b", "source": {"source-node": "D2"}, "destination": {"dest-node": "%s"}}]}]}}
        """;

    @Test
    void shouldReadWeightsOfRocketfuel() throws Exception {
        assertEquals(List.of("A>B 2.5", "A>C 1.0", "C>A 0.5"),
            links(TopologyFiles.rocketfuel("A B 2.5\n\nC A 0.5\nA C 3\nA C 1\n")));
    }

    @Test
    void shouldReadGraphMl() throws Exception {
        assertEquals(List.of("Bern 0>Genf 2.5", "Bern 2>Genf 1.0", "Genf>Bern 0 2.5", "Genf>Bern 2 1.0"),
            links(TopologyFiles.graphMl(GRAPH.formatted("undirected"))));
        assertEquals(List.of("Bern 0>Genf 2.5", "Bern 2>Genf 1.0", "Genf>Bern 2 1.0"),
            links(TopologyFiles.graphMl(GRAPH.formatted("directed"))));
        assertEquals(4, TopologyFiles.graphMl(GRAPH.formatted("directed")).nodes());
    }

    /** As yEd draws: a text, then perhaps its place; labels of data come first. */
    @Test
    void shouldNameNodesAsTheyAreDrawn() throws Exception {
        assertEquals(List.of("Bern>Genf 1.0", "Genf>Bern 1.0", "Genf>n2 1.0", "n2>Genf 1.0"), links(TopologyFiles.graphMl("""
            <graphml xmlns:y="http://www.yworks.com/xml/graphml"><key id="d"/><key id="l" attr.name="label"/><graph>
            <node id="n0"><data key="d"><y:NodeLabel>Bern <y:Model/></y:NodeLabel><y:NodeLabel>2nd</y:NodeLabel></data></node>
            <node id="n1"><data key="d"><y:NodeLabel>G</y:NodeLabel></data><data key="l">Genf</data></node>
            <node id="n2"><data key="d"><y:NodeLabel><y:Model/></y:NodeLabel><y:NodeLabel/></data></node>
            <edge source="n0" target="n1"/><edge source="n1" target="n2"/></graph></graphml>
            """)));
    }

    @Test
    void shouldReadTheModelOfRfc8345() throws Exception {
        assertEquals(List.of("D1>D2 10.0", "D2>D1 1.0"), links(TopologyFiles.rfc8345(YANG.formatted("D1"))));
        assertEquals("link b: a link leads from D2 to itself", refused(() -> TopologyFiles.rfc8345(YANG.formatted("D2"))));
        assertEquals("line 1: is not JSON", refused(() -> TopologyFiles.rfc8345("{")));
        assertEquals("ietf-network:networks has no network with ietf-network-topology:link",
            refused(() -> TopologyFiles.rfc8345("{}")));
    }

    @ParameterizedTest
    @CsvSource({
        "A B, 'line 1: has 2 fields, not from, to and weight'",
        "A B 0, 'line 1: weight=0: must be above 0 and at most 549755'",
        "A B 600000, 'line 1: weight=600000: must be above 0 and at most 549755'",
        "A B 1e99, 'line 1: weight=1e99: has more than 6 digits behind the point, or is too large'",
        "A B 1e999999999, 'line 1: weight=1e999999999: has more than 6 digits behind the point, or is too large'",
        "A B 1e-999999999, 'line 1: weight=1e-999999999: has more than 6 digits behind the point, or is too large'",
        "A B 1e2147483647, 'line 1: weight=1e2147483647: has more than 6 digits behind the point, or is too large'",
        "A B 0.0000001, 'line 1: weight=0.0000001: has more than 6 digits behind the point, or is too large'",
        "A B x, 'line 1: weight=x: is not a number'",
        "A A 1, 'line 1: a link leads from A to itself'"})
    void shouldRefuseWeights(final String line, final String message) {
        assertEquals(message, refused(() -> TopologyFiles.rocketfuel(line)));
    }

    @Test
    void shouldRefuseOtherXml() {
        assertEquals("line 1: is not XML", refused(() -> TopologyFiles.graphMl("<graphml>")));
        assertEquals("line 1: node has no id", refused(() -> TopologyFiles.graphMl("<graphml><graph><node/></graph></graphml>")));
        assertEquals("line 1: the edge ends at a node that is not there",
            refused(() -> TopologyFiles.graphMl("<graph><edge source='1' target='2'/></graph>")));
        assertEquals("line 1: is not XML", refused(() -> TopologyFiles.graphMl(
            "<!DOCTYPE x [<!ENTITY y SYSTEM 'file:///etc/passwd'>]><graph><node id='&y;'/></graph>")));
    }

    /** Reads a text that is refused. */
    private interface Reading {
        Topology read() throws TopologyException;
    }

    private static String refused(final Reading reading) {
        return assertThrows(TopologyException.class, reading::read).getMessage();
    }

    private static List<String> links(final Topology topology) {
        final List<String> links = new ArrayList<>();
        for (int hop = 0; hop < topology.hops(); hop++) {
            links.add(topology.name(topology.from(hop)) + ">" + topology.name(topology.to(hop)) + " " +
                topology.weight(hop) / 1e6);
        }
        return links;
    }
}
