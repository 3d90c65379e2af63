package io.flowlag.tests.lab.network;

import io.flowlag.exporter.lab.LabRandom;
import io.flowlag.network.route.Segment;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.topology.Topology;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/**
 * A network of FIFO queues in simulated time: flows of chance cross them, packet by packet, among background traffic of bursts
 * whose sizes are Pareto. Points see packets pass, in the order of time. Flows take one of their shortest routes, and some one
 * that is none. In each window some hops are slow, by more background. One thread.
 */
final class QueueNetwork {
    static final long WINDOW_NS = 1_000_000_000L;
    /** No packet is longer. */
    static final int LONGEST_BYTES = 1514;

    private static final double CAPACITY_BYTES_PER_NS = 300e6 / 8 / 1e9;
    private static final double LONGEST_BACKLOG_NS = 30e6;
    /** Of a hop on average. */
    private static final double PROPAGATION_NS = 1_000_000;
    private static final double BURST_BYTES = 1000;
    private static final double LARGEST_BURST_BYTES = 500_000;
    private static final double BURST_SHAPE = 1.6;
    private static final double LEAST_LOAD = 0.15;
    private static final double MOST_LOAD = 0.5;
    private static final double LEAST_SLOW_LOAD = 0.85;
    private static final double MOST_SLOW_LOAD = 0.95;
    /** Of the background, however much else there is. */
    private static final double LEAST_BACKGROUND = 0.05;
    private static final int[] LENGTHS = {90, 590, LONGEST_BYTES};
    private static final int SLOT_BITS = 20;
    private static final int MOST_HOPS = 64;

    private final Topology topology;
    private final LabRandom random;
    private final Hop[] hops;
    private final List<Flow> flows = new ArrayList<>();
    private final Map<List<Integer>, Integer> segments = new LinkedHashMap<>();
    /** By segment. */
    private final List<Integer> flowCounts = new ArrayList<>();
    private final long[] heap;
    private int heapSize;
    /** Of packets on their way; with the number in the segment that they are in. */
    private final int[] flowOf;
    private final int[] position;
    private final int[] length;
    private final int[] number;
    private final int[] free;
    private int freeCount;

    /** What the points see; times are since the start. */
    interface Points {
        /** A packet enters a segment. Returns its number there. */
        int onSent(int segment, int flow, int lengthBytes, long timeNs);

        /** The packet of a number leaves the segment. */
        void onReceived(int segment, int packet, long timeNs);

        /** A window has ended: the mean wait at each hop of the packets that came in it, ns, and NaN where none did. */
        void onWindow(int window, double[] waitNs);
    }

    /** A flow and where it enters and leaves segments: by position, or {@link Topology#NONE}. */
    private record Flow(int[] route, int[] entered, int[] left) {
    }

    /** The queue in front of a link: the time that it takes to empty, with the bursts that have come. */
    private final class Hop {
        /** Of all that passes, and of the flows. */
        private final double load;
        private double flowLoad;
        private double backlogNs;
        private double atNs;
        private double burstNs;
        private double waitSumNs;
        private long waits;

        private final double propagationNs;

        private Hop(final double propagationNs) {
            this.propagationNs = propagationNs;
            load = LEAST_LOAD + (MOST_LOAD - LEAST_LOAD) * random.nextDouble();
            burstNs = nextBurstNs(load);
        }

        private double nextBurstNs(final double ofLoad) {
            return atNs + random.nextExponential() * MEAN_BURST_BYTES / (ofLoad * CAPACITY_BYTES_PER_NS);
        }

        private void advance(final double nowNs, final double ofLoad) {
            while (burstNs <= nowNs) {
                drain(burstNs);
                backlogNs = Math.min(LONGEST_BACKLOG_NS, backlogNs + burstBytes() / CAPACITY_BYTES_PER_NS);
                burstNs = nextBurstNs(ofLoad);
            }
            drain(nowNs);
        }

        private void drain(final double untilNs) {
            backlogNs = Math.max(0, backlogNs - (untilNs - atNs));
            atNs = untilNs;
        }

        /** A packet comes. Returns when it has crossed the link, or {@link Long#MAX_VALUE} if it is lost. */
        private long cross(final long nowNs, final double ofLoad, final int lengthBytes) {
            advance(nowNs, ofLoad);
            if (backlogNs >= LONGEST_BACKLOG_NS) {
                return Long.MAX_VALUE;
            }
            waitSumNs += backlogNs;
            waits++;
            backlogNs += lengthBytes / CAPACITY_BYTES_PER_NS;
            return nowNs + Math.round(backlogNs + propagationNs);
        }
    }

    private static final double MEAN_BURST_BYTES = BURST_SHAPE / (BURST_SHAPE - 1) * BURST_BYTES *
        (1 - Math.pow(BURST_BYTES / LARGEST_BURST_BYTES, BURST_SHAPE - 1)) /
        (1 - Math.pow(BURST_BYTES / LARGEST_BURST_BYTES, BURST_SHAPE));

    /**
     * A network.
     *
     * @param isPoint    of each node, whether it is a point.
     * @param withEnds   whether the ends of flows measure too.
     * @param pairs      of nodes that have flows.
     * @param flowsOfPair of each pair.
     * @param wrongShare of flows that take a route that is not one of the shortest.
     * @param isByWeight whether hops are as long as their weights say, and routes of equal cost equally long; else by chance.
     */
    QueueNetwork(
        final ShortestRoutes routes, final boolean[] isPoint, final boolean withEnds, final int pairs, final int flowsOfPair,
        final double wrongShare, final boolean isByWeight, final long seed) {
        topology = routes.topology();
        random = new LabRandom(seed);
        hops = new Hop[topology.hops()];
        final double meanWeight = IntStream.range(0, hops.length).mapToLong(topology::weight).average().orElseThrow();
        Arrays.setAll(hops, (hop) ->
            new Hop(PROPAGATION_NS * (isByWeight ? topology.weight(hop) / meanWeight : 2 * random.nextDouble())));
        final Map<List<Integer>, List<Segment>> between = new HashMap<>();
        for (int node = 0; node < topology.nodes(); node++) {
            for (final Segment route : routes.segmentsFrom(node, new boolean[topology.nodes()])) {
                between.computeIfAbsent(List.of(node, route.end(topology)), (pair) -> new ArrayList<>()).add(route);
            }
        }
        final List<List<Integer>> all = new ArrayList<>(between.keySet().stream().sorted((one, other) ->
            one.get(0).equals(other.get(0)) ? one.get(1) - other.get(1) : one.get(0) - other.get(0)).toList());
        for (int i = 0; i < Math.min(pairs, all.size()); i++) {
            final int chosen = i + random.nextInt(all.size() - i);
            final List<Integer> pair = all.set(chosen, all.get(i));
            for (int flow = 0; flow < flowsOfPair; flow++) {
                final boolean isWrong = random.nextDouble() < wrongShare;
                add(isWrong ? detour(pair, between) : any(between.get(pair)), routes, isPoint, withEnds);
            }
        }
        final int slots = 1 << SLOT_BITS - 1;
        heap = new long[slots];
        flowOf = new int[slots];
        position = new int[slots];
        length = new int[slots];
        number = new int[slots];
        free = new int[slots];
        for (int slot = 0; slot < slots; slot++) {
            free[freeCount++] = slots - 1 - slot;
        }
    }

    private Segment any(final List<Segment> list) {
        return list.get(random.nextInt(list.size()));
    }

    /** By way of another node; the shortest route if there is no way that visits no node twice. */
    private Segment detour(final List<Integer> pair, final Map<List<Integer>, List<Segment>> between) {
        for (int attempt = 0; attempt < MOST_HOPS; attempt++) {
            final int middle = random.nextInt(topology.nodes());
            if (middle != pair.get(0) && middle != pair.get(1) && between.containsKey(List.of(pair.get(0), middle)) &&
                between.containsKey(List.of(middle, pair.get(1)))) {
                final int[] one = any(between.get(List.of(pair.get(0), middle))).hops();
                final int[] other = any(between.get(List.of(middle, pair.get(1)))).hops();
                final int[] both = Arrays.copyOf(one, one.length + other.length);
                System.arraycopy(other, 0, both, one.length, other.length);
                if (Arrays.stream(both).map(topology::to).distinct().count() == both.length &&
                    Arrays.stream(both).noneMatch((hop) -> topology.to(hop) == pair.get(0)) &&
                    between.get(pair).stream().noneMatch((route) -> Arrays.equals(route.hops(), both))) {
                    return new Segment(both);
                }
            }
        }
        return any(between.get(pair));
    }

    private void add(final Segment route, final ShortestRoutes routes, final boolean[] isPoint, final boolean withEnds) {
        final int[] entered = new int[route.hops().length + 1];
        final int[] left = new int[entered.length];
        Arrays.fill(entered, Topology.NONE);
        Arrays.fill(left, Topology.NONE);
        int at = 0;
        while (!withEnds && at < route.hops().length && !isPoint[topology.from(route.hops()[at])]) {
            at++;
        }
        for (final Segment part : routes.cut(route, isPoint, withEnds)) {
            final int segment = segments.computeIfAbsent(
                List.of(part.begin(topology), part.end(topology)), (pair) -> segments.size());
            if (segment == flowCounts.size()) {
                flowCounts.add(0);
            }
            flowCounts.set(segment, flowCounts.get(segment) + 1);
            entered[at] = segment;
            at += part.hops().length;
            left[at] = segment;
        }
        flows.add(new Flow(route.hops(), entered, left));
    }

    /** {@return the node where each segment begins and the one where it ends} */
    List<List<Integer>> segments() {
        return List.copyOf(segments.keySet());
    }

    /** {@return how many flows each segment has} */
    List<Integer> flowCounts() {
        return flowCounts;
    }

    /**
     * Lets traffic pass.
     *
     * @param perSecond packets of a flow on average.
     * @param slow      hops that are slow, by window; with the windows, the length of the run.
     */
    void run(final double perSecond, final List<int[]> slow, final Points points) {
        final double gapNs = 1e9 / perSecond;
        final long endNs = slow.size() * WINDOW_NS;
        final double[] loads = new double[hops.length];
        final double share = perSecond / 1e9 * Arrays.stream(LENGTHS).average().orElseThrow() / CAPACITY_BYTES_PER_NS;
        flows.forEach((flow) -> Arrays.stream(flow.route).forEach((hop) -> hops[hop].flowLoad += share));
        for (int flow = 0; flow < flows.size(); flow++) {
            start(flow, (long)(gapNs * random.nextExponential()));
        }
        int window = -1;
        while (heapSize > 0) {
            final long event = poll();
            final long nowNs = event >>> SLOT_BITS;
            while (window < slow.size() - 1 && nowNs >= (window + 1) * WINDOW_NS) {
                nextWindow(window++, loads, slow, points);
            }
            final int slot = (int)event & (1 << SLOT_BITS) - 1;
            final int flow = flowOf[slot];
            if (position[slot] == 0 && nowNs < endNs) {
                start(flow, nowNs + (long)(gapNs * random.nextExponential()));
            }
            if (position[slot] > 0 || nowNs < endNs) {
                pass(slot, nowNs, loads, points);
            } else {
                free[freeCount++] = slot;
            }
        }
        nextWindow(window, loads, List.of(), points);
    }

    private void nextWindow(final int ended, final double[] loads, final List<int[]> slow, final Points points) {
        if (ended >= 0) {
            points.onWindow(ended, Arrays.stream(hops).mapToDouble((hop) -> hop.waitSumNs / hop.waits).toArray());
        }
        for (int hop = 0; hop < hops.length; hop++) {
            hops[hop].waitSumNs = 0;
            hops[hop].waits = 0;
            loads[hop] = background(hop, hops[hop].load);
        }
        if (ended + 1 < slow.size()) {
            for (final int hop : slow.get(ended + 1)) {
                loads[hop] = background(hop, LEAST_SLOW_LOAD + (MOST_SLOW_LOAD - LEAST_SLOW_LOAD) * random.nextDouble());
            }
        }
    }

    private double background(final int hop, final double load) {
        return Math.max(LEAST_BACKGROUND, load - hops[hop].flowLoad);
    }

    private void start(final int flow, final long timeNs) {
        final int slot = free[--freeCount];
        flowOf[slot] = flow;
        position[slot] = 0;
        length[slot] = LENGTHS[random.nextInt(LENGTHS.length)];
        offer(timeNs << SLOT_BITS | slot);
    }

    private void pass(final int slot, final long nowNs, final double[] loads, final Points points) {
        final Flow flow = flows.get(flowOf[slot]);
        final int at = position[slot];
        if (flow.left[at] != Topology.NONE) {
            points.onReceived(flow.left[at], number[slot], nowNs);
        }
        if (flow.entered[at] != Topology.NONE) {
            number[slot] = points.onSent(flow.entered[at], flowOf[slot], length[slot], nowNs);
        }
        final long nextNs = at == flow.route.length ? Long.MAX_VALUE :
            hops[flow.route[at]].cross(nowNs, loads[flow.route[at]], length[slot]);
        if (nextNs == Long.MAX_VALUE) {
            free[freeCount++] = slot;
        } else {
            position[slot]++;
            offer(nextNs << SLOT_BITS | slot);
        }
    }

    /** Bounded Pareto. */
    private double burstBytes() {
        final double ratio = Math.pow(BURST_BYTES / LARGEST_BURST_BYTES, BURST_SHAPE);
        return BURST_BYTES * Math.pow(1 - random.nextDouble() * (1 - ratio), -1 / BURST_SHAPE);
    }

    private void offer(final long event) {
        int at = heapSize++;
        while (at > 0 && heap[(at - 1) >> 1] > event) {
            heap[at] = heap[(at - 1) >> 1];
            at = (at - 1) >> 1;
        }
        heap[at] = event;
    }

    private long poll() {
        final long first = heap[0];
        final long last = heap[--heapSize];
        int at = 0;
        int child = 1;
        while (child < heapSize) {
            child += child + 1 < heapSize && heap[child + 1] < heap[child] ? 1 : 0;
            if (heap[child] >= last) {
                break;
            }
            heap[at] = heap[child];
            at = child;
            child = 2 * at + 1;
        }
        heap[at] = last;
        return first;
    }
}
