package io.flowlag.network.route;

import io.flowlag.network.topology.Topology;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Pieces of a route come back in their order, with gaps between them and segments above them. */
class SegmentOrderTest {
    private static final int NODES = 12;

    private static Topology symmetric(final Random random) {
        final List<String> links = new ArrayList<>();
        for (final String link : RandomTopology.links(NODES, random)) {
            final String[] fields = link.split(" ");
            if (Integer.parseInt(fields[0].substring(1)) > Integer.parseInt(fields[1].substring(1))) {
                links.add(link);
                links.add(fields[1] + ' ' + fields[0] + ' ' + fields[2]);
            }
        }
        return RandomTopology.of(NODES, links, random);
    }

    private static SegmentOrder.Span span(final Topology topology, final int[] route, final int begin, final int end) {
        return new SegmentOrder.Span(
            topology.from(route[begin]), topology.to(route[end - 1]), Arrays.copyOfRange(route, begin, end));
    }

    @Property(tries = 300)
    void shouldOrderThePiecesOfARoute(@ForAll final long seed) {
        final Random random = new Random(seed);
        final Topology topology = symmetric(random);
        final ShortestRoutes routes = new ShortestRoutes(topology);
        final List<Segment> all = routes.segmentsFrom(random.nextInt(NODES), new boolean[NODES]);
        if (all.isEmpty()) {
            return;
        }
        final int[] route = all.get(random.nextInt(all.size())).hops();
        final List<SegmentOrder.Span> spans = new ArrayList<>();
        int begin = 0;
        while (begin < route.length) {
            final int end = begin + 1 + random.nextInt(route.length - begin);
            if (random.nextInt(3) > 0) {
                spans.add(span(topology, route, begin, end));
            }
            begin = end;
        }
        if (random.nextBoolean()) {
            spans.add(span(topology, route, 0, 1 + random.nextInt(route.length)));
        }
        Collections.shuffle(spans, random);
        final SegmentOrder order = SegmentOrder.of(routes, spans);
        final List<Integer> nodes = new ArrayList<>(List.of(topology.from(route[0])));
        Arrays.stream(route).forEach((hop) -> nodes.add(topology.to(hop)));

        nodes.retainAll(Arrays.stream(order.nodes()).boxed().toList());
        assertEquals(nodes, Arrays.stream(order.nodes()).boxed().toList());
        for (int i = 0; i < spans.size(); i++) {
            assertEquals(spans.get(i).from(), order.nodes()[order.begins()[i]]);
            assertEquals(spans.get(i).to(), order.nodes()[order.ends()[i]]);
        }
    }

    @Test
    void shouldLeaveOutWhatClosesACircle() throws Exception {
        final Topology.Builder links = new Topology.Builder();
        links.link("a", "b", "1").link("b", "c", "1").link("c", "a", "1");
        final Topology topology = links.build();
        final int[] circle = {topology.hop(0, 1), topology.hop(1, 2), topology.hop(2, 0)};
        final SegmentOrder order = SegmentOrder.of(new ShortestRoutes(topology),
            List.of(span(topology, circle, 0, 1), span(topology, circle, 1, 2), span(topology, circle, 2, 3)));

        assertArrayEquals(new int[] {0, 1, SegmentOrder.NONE}, order.begins());
        assertArrayEquals(new int[] {1, 2, SegmentOrder.NONE}, order.ends());
    }

    @Property(tries = 100)
    void shouldTellTheLengthOfRoutes(@ForAll final long seed) {
        final Topology topology = RandomTopology.of(NODES, new Random(seed));
        final ShortestRoutes routes = new ShortestRoutes(topology);
        for (int from = 0; from < NODES; from++) {
            for (final Segment segment : routes.segmentsFrom(from, new boolean[NODES])) {
                assertEquals(Arrays.stream(segment.hops()).mapToLong(topology::weight).sum(),
                    routes.distance(from, segment.end(topology)));
            }
            assertEquals(0, routes.distance(from, from));
        }
    }
}
