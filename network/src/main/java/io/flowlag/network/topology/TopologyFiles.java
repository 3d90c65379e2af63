package io.flowlag.network.topology;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import java.io.StringReader;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import javax.xml.stream.XMLInputFactory;
import javax.xml.stream.XMLStreamConstants;
import javax.xml.stream.XMLStreamException;
import javax.xml.stream.XMLStreamReader;

/** Reads networks in the formats of other tools. What is not a link, a node or a weight is passed over. */
public final class TopologyFiles {
    static final double POLE = 90;
    static final double DATE_LINE = 180;
    private static final Pattern NUMBER = Pattern.compile("-?[0-9]{1,3}(\\.[0-9]{1,12})?");
    private static final String NO_WEIGHT = "1";
    private static final String TOPOLOGY = "ietf-network-topology:";
    private static final String LAYER_3 = "ietf-l3-unicast-topology:l3-link-attributes";

    private TopologyFiles() {
    }

    /**
     * Rocketfuel's weights: a line has a link in one direction: from, to and weight.
     *
     * @param text the file {@code weights.intra}.
     * @return the network.
     * @throws TopologyException with the number of the line.
     */
    public static Topology rocketfuel(final String text) throws TopologyException {
        final Topology.Builder network = new Topology.Builder();
        int number = 0;
        for (final String line : text.lines().toList()) {
            number++;
            final String[] fields = line.strip().split("\\s+");
            if (line.isBlank()) {
                continue;
            }
            if (fields.length != 3) {
                throw new TopologyException("line " + number + ": has " + fields.length + " fields, not from, to and weight");
            }
            try {
                network.link(fields[0], fields[1], fields[2]);
            } catch (final TopologyException ex) {
                throw new TopologyException("line " + number + ": " + ex.getMessage());
            }
        }
        return network.build();
    }

    /**
     * GraphML, as of the Topology Zoo. A node has its label as name, that of its data or that of its drawing, with its id behind
     * it if others have the same label. Edges have both directions, unless the edge itself says otherwise or it has a weight and
     * the graph is directed: the Zoo's maps call themselves directed and are not. An edge without a value named {@code weight}
     * has the weight 1. Loops are passed over.
     *
     * @param text the file.
     * @return the network.
     * @throws TopologyException with the number of the line.
     */
    public static Topology graphMl(final String text) throws TopologyException {
        return graphMlMap(text).topology();
    }

    /** The same with the places of nodes, {@code Latitude} and {@code Longitude} in degrees, where they have them. */
    static NetworkMap graphMlMap(final String text) throws TopologyException {
        final XMLInputFactory factory = XMLInputFactory.newDefaultFactory();
        factory.setProperty(XMLInputFactory.SUPPORT_DTD, false);
        factory.setProperty(XMLInputFactory.IS_SUPPORTING_EXTERNAL_ENTITIES, false);
        factory.setProperty(XMLInputFactory.IS_COALESCING, true);
        final GraphMl graph = new GraphMl();
        try {
            final XMLStreamReader xml = factory.createXMLStreamReader(new StringReader(text));
            while (xml.hasNext()) {
                if (xml.next() == XMLStreamConstants.START_ELEMENT) {
                    graph.begin(xml);
                }
            }
        } catch (final XMLStreamException ex) {
            throw new TopologyException("line " + ex.getLocation().getLineNumber() + ": is not XML");
        }
        return graph.map();
    }

    /** What was read of a file. */
    private static final class GraphMl {
        private record Edge(String source, String target, boolean isDirected, int line, Map<String, String> values) {
        }

        private final Map<String, String> keyNames = new HashMap<>();
        private final Map<String, Map<String, String>> nodes = new HashMap<>();
        private final List<Edge> edges = new ArrayList<>();
        private boolean isDirected;
        /** Of the node or edge that was begun last. */
        private Map<String, String> values = new HashMap<>();

        private void begin(final XMLStreamReader xml) throws XMLStreamException, TopologyException {
            switch (xml.getLocalName()) {
                case "key" -> keyNames.put(attribute(xml, "id"), xml.getAttributeValue(null, "attr.name"));
                case "graph" -> {
                    isDirected = "directed".equals(xml.getAttributeValue(null, "edgedefault"));
                    values = new HashMap<>();
                }
                case "node" -> {
                    values = new HashMap<>();
                    nodes.put(attribute(xml, "id"), values);
                }
                case "edge" -> {
                    values = new HashMap<>();
                    edges.add(new Edge(attribute(xml, "source"), attribute(xml, "target"),
                        "true".equals(xml.getAttributeValue(null, "directed")), xml.getLocation().getLineNumber(), values));
                }
                case "data" -> {
                    final String name = keyNames.get(attribute(xml, "key"));
                    if (name != null) {
                        values.put(name, xml.getElementText().strip());
                    }
                }
                case "NodeLabel" -> drawnLabel(xml);
                default -> {
                    // other drawings, and ports
                }
            }
        }

        /** A node's label in its drawing by yEd, as in the Topology Zoo; its place may follow as elements. */
        private void drawnLabel(final XMLStreamReader xml) throws XMLStreamException, TopologyException {
            final int event = xml.next();
            if (event == XMLStreamConstants.CHARACTERS && !xml.getText().isBlank()) {
                values.putIfAbsent("label", xml.getText().strip());
            } else if (event == XMLStreamConstants.START_ELEMENT) {
                begin(xml);
            }
        }

        private static String attribute(final XMLStreamReader xml, final String name) throws TopologyException {
            final String value = xml.getAttributeValue(null, name);
            if (value == null) {
                throw new TopologyException("line " + xml.getLocation().getLineNumber() + ": " + xml.getLocalName() +
                    " has no " + name);
            }
            return value;
        }

        private NetworkMap map() throws TopologyException {
            final Map<String, String> names = names();
            final Topology topology = build(names);
            final NetworkMap.Site[] sites = new NetworkMap.Site[topology.nodes()];
            nodes.forEach((id, data) -> sites[topology.node(names.get(id))] = NetworkMap.Site.at(
                degrees(data.get("Latitude"), POLE), degrees(data.get("Longitude"), DATE_LINE)));
            return NetworkMap.of(topology, List.of(sites));
        }

        /** {@return degrees; NaN where there are none} */
        private static double degrees(final String text, final double most) {
            final double degrees = text != null && NUMBER.matcher(text).matches() ? Double.parseDouble(text) : Double.NaN;
            return Math.abs(degrees) <= most ? degrees : Double.NaN;
        }

        private Topology build(final Map<String, String> names) throws TopologyException {
            final Topology.Builder network = new Topology.Builder();
            for (final String name : names.values()) {
                network.node(name);
            }
            for (final Edge edge : edges) {
                final String from = names.get(edge.source);
                final String to = names.get(edge.target);
                if (from == null || to == null) {
                    throw new TopologyException("line " + edge.line + ": the edge ends at a node that is not there");
                }
                if (!from.equals(to)) {
                    final String weight = edge.values.get("weight");
                    network.link(from, to, weight == null ? NO_WEIGHT : weight);
                    if (!edge.isDirected && !(isDirected && weight != null)) {
                        network.link(to, from, weight == null ? NO_WEIGHT : weight);
                    }
                }
            }
            return network.build();
        }

        private Map<String, String> names() {
            final Set<String> seen = new HashSet<>();
            final Set<String> repeated = new HashSet<>();
            for (final Map.Entry<String, Map<String, String>> node : nodes.entrySet()) {
                final String label = node.getValue().getOrDefault("label", node.getKey());
                if (!seen.add(label)) {
                    repeated.add(label);
                }
            }
            final Map<String, String> names = new HashMap<>();
            nodes.forEach((id, data) -> {
                final String label = data.getOrDefault("label", id);
                names.put(id, label.isBlank() ? id : repeated.contains(label) ? label + " " + id : label);
            });
            return names;
        }
    }

    /**
     * JSON of RFC 8345, {@code ietf-network-topology}, whose links have one direction each; the weight is {@code metric1} of RFC
     * 8346, or 1. Of several networks the first with links is taken.
     *
     * @param text the file.
     * @return the network.
     * @throws TopologyException with the name of the link.
     */
    public static Topology rfc8345(final String text) throws TopologyException {
        final JsonNode root;
        try {
            root = new ObjectMapper().readTree(text);
        } catch (final JsonProcessingException ex) {
            final int line = ex.getLocation() == null ? 1 : ex.getLocation().getLineNr();
            throw new TopologyException("line " + line + ": is not JSON");
        }
        for (final JsonNode each : root.path("ietf-network:networks").path("network")) {
            if (each.path(TOPOLOGY + "link").size() > 0) {
                return network(each);
            }
        }
        throw new TopologyException("ietf-network:networks has no network with " + TOPOLOGY + "link");
    }

    private static Topology network(final JsonNode json) throws TopologyException {
        final Topology.Builder network = new Topology.Builder();
        for (final JsonNode node : json.path("node")) {
            network.node(node.path("node-id").asText());
        }
        for (final JsonNode link : json.path(TOPOLOGY + "link")) {
            try {
                network.link(link.path("source").path("source-node").asText(),
                    link.path("destination").path("dest-node").asText(), link.path(LAYER_3).path("metric1").asText(NO_WEIGHT));
            } catch (final TopologyException ex) {
                throw new TopologyException("link " + link.path("link-id").asText() + ": " + ex.getMessage());
            }
        }
        return network.build();
    }
}
