package io.flowlag.exporter.fuzz;

import io.flowlag.common.config.Problems;
import io.flowlag.network.route.ExpectedSuspects;
import io.flowlag.network.route.PlannedSegments;
import io.flowlag.network.route.PointPlan;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.NetworkFiles;
import io.flowlag.network.topology.NetworkMap;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/**
 * Networks in every format: each can be planned, or is refused with at least one line that says why. The first octet of an input
 * chooses the format.
 */
final class NetworkTarget implements FuzzTarget {
    private static final int MAX_BYTES = 768;
    private static final int FORMATS = NetworkFiles.FORMATS.size() + 1;
    private static final int POINTS = 2;

    @Override
    public List<byte[]> seeds() {
        return Stream.of("0A B 1\nB A 2.5\nB C 0.5\nC B 1\nC D 1\nD C 1\n", """
            1<?xml version="1.0"?><graphml xmlns="http://graphml.graphdrawing.org/xmlns">
            <key attr.name="label" for="node" id="d1"/><key attr.name="weight" for="edge" id="d2"/>
            <graph edgedefault="undirected"><node id="0"><data key="d1">Bern</data></node><node id="1"/><node id="2"/>
            <edge source="0" target="1"><data key="d2">2.5</data></edge><edge source="1" target="2"/></graph></graphml>
            """, """
            2{"ietf-network:networks": {"network": [{"network-id": "n", "node": [{"node-id": "D1"}, {"node-id": "D2"}],
            "ietf-network-topology:link": [{"link-id": "a", "source": {"source-node": "D1"}, "destination": {"dest-node": "D2"},
            "ietf-l3-unicast-topology:l3-link-attributes": {"metric1": 10}}]}]}}
            """, """
            3nodes: {zrh: {prefixes: [10.1.0.0/16, '2001:db8::/32'], place: [47.4, 8.5], address: 192.0.2.7}, bern: {}, gva: {}}
            links: ['zrh bern weight=10 delay=600us', 'bern gva one-way']
            points: {p: {node: zrh, clock: c}, gva: {}}
            segments: {s: {from: p, to: gva, exporter: 192.0.2.7, domain: 12, id: 3, via: [bern]}}
            """).map((each) -> each.getBytes(StandardCharsets.UTF_8)).toList();
    }

    @Override
    public List<byte[]> dictionary() {
        return Stream.of("<node id='9'/>", "<edge source='0' target='2'/>", "<data key='d1'>", "</data>", "<!DOCTYPE a [", "&lt;",
            "&#0;", "]]>", "<![CDATA[", "{\"a\":", "[[[[", "\"dest-node\": ", "1e99", "-1", "0.0000001", "nodes: {a: {}, b: {}}",
            "links: [a b]\n", "weight=", "delay=1ms", "one-way", "prefixes: [10.0.0.0/8]", "*a", "&a ", "\n", "A B 1\n")
            .map((each) -> each.getBytes(StandardCharsets.UTF_8)).toList();
    }

    @Override
    public long take(final byte[] octets, final int length) {
        if (length == 0) {
            return 0;
        }
        final int format = (octets[0] & 0xFF) % FORMATS;
        final Problems problems = new Problems();
        final NetworkMap map = NetworkFiles.parse(format == NetworkFiles.FORMATS.size() ? "" : NetworkFiles.FORMATS.get(format),
            "fuzz", new String(octets, 1, length - 1, StandardCharsets.UTF_8), problems);
        if ((map == null) == problems.isEmpty()) {
            throw new AssertionError("a refusal without a word, or a network with faults");
        }
        if (map == null) {
            if (problems.lines().stream().anyMatch(String::isBlank)) {
                throw new AssertionError("an empty line");
            }
            return -1 - format - 4L * problems.lines().size() - 400L * (problems.lines().get(0).length() % 64);
        }
        return 1 + Math.abs(Objects.hash(format, plan(map))) % 256;
    }

    private static long plan(final NetworkMap map) {
        final ShortestRoutes routes = new ShortestRoutes(map.topology());
        final boolean[] isSource = new boolean[map.topology().nodes()];
        Arrays.fill(isSource, true);
        final List<PointPlan.Step> steps = PointPlan.of(routes, map.isPoint(), POINTS);
        final boolean[] isPoint = map.isPoint();
        ExpectedSuspects.plan(routes, isSource, isPoint, POINTS).forEach((node) -> isPoint[node] = true);
        return steps.get(steps.size() - 1).segments() + new PlannedSegments(routes, isPoint, isSource).selections(false).size();
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 16L << 20;
    }
}
