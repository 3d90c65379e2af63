package io.flowlag.station.demo;

import io.flowlag.network.route.Segment;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;
import io.flowlag.network.topology.TopologyException;
import io.flowlag.sketch.quantile.LogHistogram;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;

/**
 * A network of {@value #NODES} nodes in a ring with chords, with a point at each third node, and delays of its segments: each hop
 * has a delay of its own and an exponential queue. From a seed. One thread.
 */
public final class DemoNetwork {
    /** Nodes of the network. */
    public static final int NODES = 30;
    private static final int POINT_EACH = 3;
    private static final int CHORDS = 12;
    private static final int PACKETS = 400;
    private static final double LEAST_DELAY_NS = 200_000;
    private static final double MOST_DELAY_NS = 3_000_000;
    private static final double QUEUE_NS = 60_000;
    private static final double RADIUS_DEGREES = 4;
    private static final double LATITUDE = 47;
    private static final double LONGITUDE = 8;
    private static final int HISTOGRAM_BYTES = 1024;
    private static final int FLOW_PACKETS = 50;
    private static final int FIRST_PORT = 40_000;
    /** 10.0.0.0. */
    private static final int NETWORK = 10 << 24;

    /** A segment and the hops that its packets take. */
    public record Route(String name, int from, int to, int[] hops) {
    }

    /**
     * Delays of a segment in an interval, ns.
     *
     * @param histogram as element 26 has it.
     */
    public record Delays(Route route, long packets, double mean, double deviation, double minimum, double maximum,
        byte[] histogram) {
    }

    /**
     * Packets from a host behind one node to a host behind another.
     *
     * @param source      IPv4 address.
     * @param destination IPv4 address.
     * @param segments    that they pass, in order: their numbers.
     */
    public record Flow(int source, int destination, int sourcePort, List<Integer> segments) {
    }

    /** Delays of the packets of a flow in a segment, ns. */
    public record FlowDelays(Flow flow, int segment, long packets, double mean, double deviation) {
    }

    private final Topology topology;
    private final List<Flow> flows = new ArrayList<>();
    private final Random ofFlows;
    private final List<Route> routes = new ArrayList<>();
    private final double[] propagation;
    private final double[] queueing;
    private final Random random;
    private final LogHistogram histogram = new LogHistogram();

    /** A network of a seed. */
    public DemoNetwork(final long seed) {
        random = new Random(seed);
        ofFlows = new Random(seed);
        topology = linked();
        propagation = new double[topology.hops()];
        queueing = new double[topology.hops()];
        Arrays.fill(queueing, QUEUE_NS);
        for (int hop = 0; hop < propagation.length; hop++) {
            propagation[hop] = LEAST_DELAY_NS + random.nextDouble() * (MOST_DELAY_NS - LEAST_DELAY_NS);
        }
        final boolean[] isPoint = new boolean[topology.nodes()];
        for (int node = 0; node < NODES; node += POINT_EACH) {
            isPoint[node] = true;
        }
        final ShortestRoutes shortest = new ShortestRoutes(topology);
        for (int from = 0; from < NODES; from += POINT_EACH) {
            route(shortest, from, isPoint);
        }
        for (int from = 0; from < NODES; from += POINT_EACH) {
            flow(shortest, from, isPoint);
        }
    }

    private Topology linked() {
        final Topology.Builder links = new Topology.Builder();
        final Set<List<Integer>> pairs = new HashSet<>();
        try {
            for (int node = 0; node < NODES; node++) {
                link(links, pairs, node, (node + 1) % NODES);
            }
            for (int chord = 0; chord < CHORDS; chord++) {
                link(links, pairs, random.nextInt(NODES), random.nextInt(NODES));
            }
        } catch (final TopologyException ex) {
            throw new IllegalStateException("a network of " + NODES + " nodes is too large", ex);
        }
        return links.build();
    }

    /** Weights are unlike, so that each pair has one route. */
    private void link(final Topology.Builder links, final Set<List<Integer>> linked, final int one, final int other)
        throws TopologyException {
        if (one != other && linked.add(List.of(Math.min(one, other), Math.max(one, other)))) {
            final String weight = String.format(Locale.ROOT, "%.6f", 1 + random.nextDouble());
            links.link(name(one), name(other), weight).link(name(other), name(one), weight);
        }
    }

    private static String name(final int node) {
        return String.format(Locale.ROOT, "n%02d", node);
    }

    private void route(final ShortestRoutes shortest, final int from, final boolean[] isPoint) {
        for (final Segment segment : shortest.segmentsFrom(from, isPoint)) {
            final int to = segment.end(topology);
            if (isPoint[to]) {
                routes.add(new Route(topology.name(from) + '-' + topology.name(to), from, to, segment.hops()));
            }
        }
    }

    /** A flow to each point that several segments lead to. */
    private void flow(final ShortestRoutes shortest, final int from, final boolean[] isPoint) {
        for (final Segment way : shortest.segmentsFrom(from, new boolean[NODES])) {
            final List<Integer> passed = shortest.cut(way, isPoint, false).stream().map(this::number).toList();
            if (isPoint[way.end(topology)] && passed.size() > 1) {
                flows.add(new Flow(host(from), host(way.end(topology)), FIRST_PORT + flows.size(), passed));
            }
        }
    }

    private int number(final Segment segment) {
        for (int i = 0; i < routes.size(); i++) {
            if (Arrays.equals(routes.get(i).hops, segment.hops())) {
                return i;
            }
        }
        throw new IllegalStateException(segment + " is no segment");
    }

    /** The first host behind a node. */
    private static int host(final int node) {
        return NETWORK + (node << Short.SIZE) + 1;
    }

    /** {@return nodes and hops} */
    public Topology topology() {
        return topology;
    }

    /** {@return its segments; a segment's number in records is its place, its domain the node where it ends} */
    public List<Route> routes() {
        return List.copyOf(routes);
    }

    /** {@return the hop of the most segments, which is one that verdicts can name} */
    public int busiestHop() {
        final int[] counts = new int[topology.hops()];
        routes.forEach((route) -> Arrays.stream(route.hops).forEach((hop) -> counts[hop]++));
        int busiest = 0;
        for (int hop = 0; hop < counts.length; hop++) {
            busiest = counts[hop] > counts[busiest] ? hop : busiest;
        }
        return busiest;
    }

    /** Makes a hop's queue hold packets so much longer, on average; 0 for as at first. */
    public void slow(final int hop, final double extraNs) {
        queueing[hop] = QUEUE_NS + extraNs;
    }

    /** {@return the file of the network, with points and segments} */
    public String yaml() {
        final StringBuilder text = new StringBuilder("nodes:\n");
        for (int node = 0; node < NODES; node++) {
            final double angle = 2 * Math.PI * node / NODES;
            text.append(String.format(Locale.ROOT, "  %s: {prefixes: [10.%d.0.0/16], place: [%.3f, %.3f]}%n",
                topology.name(node), node, LATITUDE + RADIUS_DEGREES * Math.sin(angle),
                LONGITUDE + 2 * RADIUS_DEGREES * Math.cos(angle)));
        }
        text.append("links:\n");
        for (int hop = 0; hop < topology.hops(); hop++) {
            text.append(String.format(Locale.ROOT, "  - '%s %s weight=%s delay=%.0fns one-way'%n",
                topology.name(topology.from(hop)), topology.name(topology.to(hop)), topology.weightText(hop), propagation[hop]));
        }
        text.append("points:\n");
        for (int node = 0; node < NODES; node += POINT_EACH) {
            text.append("  ").append(topology.name(node)).append(": {}\n");
        }
        text.append("segments:\n");
        for (int i = 0; i < routes.size(); i++) {
            final Route route = routes.get(i);
            text.append(String.format(Locale.ROOT, "  %s: {from: %s, to: %s, domain: %d, id: %d}%n", route.name,
                topology.name(route.from), topology.name(route.to), route.to, i));
        }
        return text.toString();
    }

    /** {@return the delays of each segment in one more interval} */
    public List<Delays> interval() {
        return routes.stream().map(this::delays).toList();
    }

    /** {@return the delays of each flow in each of its segments, in one more interval} */
    public List<FlowDelays> flows() {
        return flows.stream().flatMap((flow) -> flow.segments.stream().map((segment) -> delays(flow, segment))).toList();
    }

    private FlowDelays delays(final Flow flow, final int segment) {
        double sum = 0;
        double squares = 0;
        for (int packet = 0; packet < FLOW_PACKETS; packet++) {
            final double delay = delay(routes.get(segment), ofFlows);
            sum += delay;
            squares += delay * delay;
        }
        final double mean = sum / FLOW_PACKETS;
        return new FlowDelays(
            flow, segment, FLOW_PACKETS, mean, Math.sqrt(Math.max(0, squares / FLOW_PACKETS - mean * mean)));
    }

    private double delay(final Route route, final Random from) {
        double delay = 0;
        for (final int hop : route.hops) {
            delay += propagation[hop] - queueing[hop] * Math.log(1 - from.nextDouble());
        }
        return delay;
    }

    private Delays delays(final Route route) {
        double sum = 0;
        double squares = 0;
        double minimum = Double.POSITIVE_INFINITY;
        double maximum = 0;
        histogram.clear();
        for (int packet = 0; packet < PACKETS; packet++) {
            final double delay = delay(route, random);
            sum += delay;
            squares += delay * delay;
            minimum = Math.min(minimum, delay);
            maximum = Math.max(maximum, delay);
            histogram.add(Math.round(delay), 1);
        }
        final byte[] octets = new byte[HISTOGRAM_BYTES];
        final int length = histogram.encode(new UnsafeBuffer(octets), 0, octets.length);
        final double mean = sum / PACKETS;
        return new Delays(route, PACKETS, mean, Math.sqrt(Math.max(0, squares / PACKETS - mean * mean)), minimum, maximum,
            Arrays.copyOf(octets, length));
    }
}
