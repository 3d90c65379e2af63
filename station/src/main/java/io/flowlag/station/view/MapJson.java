package io.flowlag.station.view;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.NetworkMap;
import io.flowlag.network.topology.NetworkMap.NamedSegment;
import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A network as {@code docs/station/openapi.yaml} has it, with the hops of each segment. Routes are found at construction.
 * Immutable, any thread.
 */
final class MapJson {
    private final NetworkMap map;
    private final List<int[]> hopsOfSegments = new ArrayList<>();
    private final Set<String> names = new HashSet<>();

    MapJson(final NetworkMap map) {
        this.map = map;
        final ShortestRoutes routes = new ShortestRoutes(map.topology());
        for (final NamedSegment segment : map.segments()) {
            names.add(segment.name());
            hopsOfSegments.add(hops(routes, segment));
        }
    }

    private int[] hops(final ShortestRoutes routes, final NamedSegment segment) {
        final Set<Integer> hops = new HashSet<>();
        int node = map.points().get(segment.from()).node();
        final List<Integer> nodes = new ArrayList<>(segment.via());
        nodes.add(map.points().get(segment.to()).node());
        for (final int next : nodes) {
            for (final int hop : routes.hops(node, next)) {
                hops.add(hop);
            }
            node = next;
        }
        return hops.stream().mapToInt(Integer::intValue).sorted().toArray();
    }

    /** {@return whether a segment of this name is on the map} */
    boolean has(final String segment) {
        return names.contains(segment);
    }

    /** {@return the segments that an exporter reports, each with the clocks of its ends} */
    Map<String, Set<String>> reported(final String exporter, final long domain) {
        final Map<String, Set<String>> reported = new HashMap<>();
        for (final NamedSegment segment : map.segments()) {
            if (List.of(exporter, "").contains(segment.exporter()) &&
                List.of(domain, NetworkMap.UNKNOWN).contains(segment.domain())) {
                reported.put(segment.name(), Set.copyOf(List.of(
                    map.points().get(segment.from()).clock(), map.points().get(segment.to()).clock())));
            }
        }
        return reported;
    }

    /**
     * The network. A hop is blind if no segment with a mean takes it.
     *
     * @param measured names of segments with a mean in their newest window.
     * @param unmapped names of segments that are not on the map.
     */
    ObjectNode json(final Set<String> measured, final Collection<String> unmapped) {
        final Topology topology = map.topology();
        final ObjectNode node = ViewJson.object();
        final ArrayNode nodes = node.putArray("nodes");
        for (int i = 0; i < topology.nodes(); i++) {
            final ObjectNode each = nodes.addObject().put("name", topology.name(i));
            ViewJson.put(each, "latitude_degrees", true, map.nodes().get(i).latitude());
            ViewJson.put(each, "longitude_degrees", true, map.nodes().get(i).longitude());
        }
        final boolean[] isSeen = new boolean[topology.hops()];
        final ArrayNode segments = ViewJson.object().arrayNode();
        for (int i = 0; i < hopsOfSegments.size(); i++) {
            final NamedSegment segment = map.segments().get(i);
            final ObjectNode each = segments.addObject().put("segment", segment.name())
                .put("from", topology.name(map.points().get(segment.from()).node()))
                .put("to", topology.name(map.points().get(segment.to()).node()));
            final ArrayNode hops = each.putArray("hops");
            for (final int hop : hopsOfSegments.get(i)) {
                isSeen[hop] |= measured.contains(segment.name());
                hops.addObject().put("from", topology.name(topology.from(hop))).put("to", topology.name(topology.to(hop)));
            }
        }
        final ArrayNode hops = node.putArray("hops");
        for (int hop = 0; hop < topology.hops(); hop++) {
            final ObjectNode each = hops.addObject().put("from", topology.name(topology.from(hop)))
                .put("to", topology.name(topology.to(hop))).put("is_blind", !isSeen[hop]);
            ViewJson.put(each, "delay_ns", map.delaysNs()[hop] != NetworkMap.UNKNOWN, map.delaysNs()[hop]);
        }
        final ArrayNode points = node.putArray("points");
        map.points().forEach((point) -> points.addObject().put("point", point.name()).put("node", topology.name(point.node()))
            .put("clock", point.clock()));
        node.set("segments", segments);
        unmapped.forEach(node.putArray("not_on_the_map")::add);
        return node;
    }
}
