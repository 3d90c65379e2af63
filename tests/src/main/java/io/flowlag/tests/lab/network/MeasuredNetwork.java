package io.flowlag.tests.lab.network;

import io.flowlag.network.locate.MeasuredSegment;
import io.flowlag.network.route.Segment;
import io.flowlag.network.route.ShortestRoutes;
import io.flowlag.network.window.DelayFloor;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.WindowDelay;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.LongToDoubleFunction;

/**
 * What a station learns of a {@link QueueNetwork}: each segment has a {@link SegmentMeter}, whose records are merged over
 * windows. Of an interval the best mean with a bound counts. Floors and the usual excess are learned in the first windows, in
 * which no hop is slow and all clocks are exact. One thread.
 */
final class MeasuredNetwork implements QueueNetwork.Points {
    /** Windows in which floors are learned. */
    static final int LEARNED_WINDOWS = 3;

    private static final long INTERVAL_NS = 500_000_000;
    private static final int INTERVALS = (int)(QueueNetwork.WINDOW_NS / INTERVAL_NS);
    private static final long STATION_WINDOW_NS = 60_000_000_000L;
    private static final int LENGTH_BITS = 12;
    private static final String KEYS = "segment: {role: both, ingress: a, egress: b, exact: off, interval: 500ms}\n" +
        "lds: {enabled: on, rows: 1, columns: 16, vlda: 1, lda-cells: 64, in-flight: 4k, waiting-records: 1k}\n" +
        "joint: {enabled: off}\nquantiles: {memory: 0}\nrli: {policy: passive, passive-share: 0.15, buffer: 1k}\n" +
        "metering: {max-flows: %d}\n";
    private static final int LEAST_FLOWS = 16;

    private final ShortestRoutes routes;
    private final boolean[] isPoint;
    private final QueueNetwork network;
    private final List<List<Integer>> ends;
    private final Passage[] passages;
    /** By segment: the records of an interval. */
    private final List<Map<Long, List<IntervalDelay>>> records = new ArrayList<>();
    private final double[][] offsetsNs;
    private final List<double[]> waitsNs = new ArrayList<>();

    /** The packets of a segment, in the order in which they enter it, and that in which they leave it. */
    private static final class Passage {
        private long[] sentNs = new long[1024];
        private long[] receivedNs = new long[1024];
        private int[] flowAndLength = new int[1024];
        private int[] order = new int[1024];
        private int sent;
        private int received;

        private int add(final int flow, final int lengthBytes, final long timeNs) {
            if (sent == sentNs.length) {
                final int more = sent + sent / 4;
                sentNs = Arrays.copyOf(sentNs, more);
                receivedNs = Arrays.copyOf(receivedNs, more);
                flowAndLength = Arrays.copyOf(flowAndLength, more);
                order = Arrays.copyOf(order, more);
            }
            sentNs[sent] = timeNs;
            flowAndLength[sent] = flow << LENGTH_BITS | lengthBytes;
            return sent++;
        }

        private void meter(final SegmentMeter meter, final LongToDoubleFunction beginsOff, final LongToDoubleFunction endsOff) {
            int next = 0;
            for (int i = 0; i < received; i++) {
                final int packet = order[i];
                for (; next < sent && sentNs[next] <= receivedNs[packet]; next++) {
                    meter.onSent(flowAndLength[next] >> LENGTH_BITS, next, flowAndLength[next] & (1 << LENGTH_BITS) - 1,
                        sentNs[next] + Math.round(beginsOff.applyAsDouble(sentNs[next])));
                }
                meter.onReceived(flowAndLength[packet] >> LENGTH_BITS, packet, flowAndLength[packet] & (1 << LENGTH_BITS) - 1,
                    receivedNs[packet] + Math.round(endsOff.applyAsDouble(receivedNs[packet])));
            }
            meter.end();
        }
    }

    /**
     * A network under measurement.
     *
     * @param offsetsNs of the clock of each node, by window.
     */
    MeasuredNetwork(
        final ShortestRoutes routes, final boolean[] isPoint, final QueueNetwork network, final double[][] offsetsNs) {
        this.routes = routes;
        this.isPoint = isPoint;
        this.network = network;
        this.offsetsNs = offsetsNs;
        ends = network.segments();
        passages = new Passage[ends.size()];
        Arrays.setAll(passages, (segment) -> new Passage());
    }

    private double offsetNs(final int node, final long timeNs) {
        return offsetsNs[(int)Math.min(offsetsNs.length - 1, timeNs / QueueNetwork.WINDOW_NS)][node];
    }

    @Override
    public int onSent(final int segment, final int flow, final int lengthBytes, final long timeNs) {
        return passages[segment].add(flow, lengthBytes, timeNs);
    }

    @Override
    public void onReceived(final int segment, final int packet, final long timeNs) {
        final Passage passage = passages[segment];
        passage.receivedNs[packet] = timeNs;
        passage.order[passage.received++] = packet;
    }

    @Override
    public void onWindow(final int window, final double[] waitNs) {
        waitsNs.add(waitNs);
    }

    /** Lets traffic pass, and gives what the segments say of each window behind the first ones. */
    List<HopWindow> run(final double perSecond, final List<int[]> slow, final double[] clockBoundsNs) {
        network.run(perSecond, slow, this);
        for (int segment = 0; segment < passages.length; segment++) {
            final Map<Long, List<IntervalDelay>> own = new HashMap<>();
            records.add(own);
            final int begin = ends.get(segment).get(0);
            final int end = ends.get(segment).get(1);
            final int flows = Math.max(LEAST_FLOWS, network.flowCounts().get(segment));
            passages[segment].meter(new SegmentMeter(KEYS.formatted(flows), flows, INTERVAL_NS, (startNs, isSent, delay) ->
                own.computeIfAbsent(Math.floorDiv(startNs, INTERVAL_NS), (interval) -> new ArrayList<>()).add(delay)),
                (timeNs) -> offsetNs(begin, timeNs), (timeNs) -> offsetNs(end, timeNs));
            passages[segment] = null;
        }
        final List<MeasuredSegment> all = new ArrayList<>();
        for (final List<Integer> each : ends) {
            final List<Segment> between = routes.segmentsFrom(each.get(0), isPoint).stream()
                .filter((route) -> route.end(routes.topology()) == each.get(1)).toList();
            all.add(between.isEmpty() ? null : MeasuredSegment.of(between, each.get(0), each.get(1)));
        }
        final DelayFloor[] floors = new DelayFloor[passages.length];
        for (int segment = 0; segment < passages.length; segment++) {
            floors[segment] = new DelayFloor();
            for (int window = 0; window < LEARNED_WINDOWS; window++) {
                final WindowDelay delay = delay(segment, window);
                if (delay.intervals() > 0) {
                    floors[segment].onWindow(window * STATION_WINDOW_NS, delay.minimumNs(), delay.boundNs());
                }
            }
        }
        final Map<MeasuredSegment, HopWindow.Learned> usual = new HashMap<>();
        final List<HopWindow> windows = new ArrayList<>();
        for (int window = 0; window < slow.size() - 1; window++) {
            final HopWindow result = new HopWindow(waitsNs.get(window), offsetsNs[window]);
            for (int segment = 0; segment < passages.length; segment++) {
                final WindowDelay delay = delay(segment, window);
                final double excessNs =
                    delay.meanNs() - floors[segment].floorNs(Math.max(window, LEARNED_WINDOWS) * STATION_WINDOW_NS);
                if (all.get(segment) != null && delay.intervals() == INTERVALS && !Double.isNaN(excessNs + delay.sigmaNs())) {
                    result.add(all.get(segment), excessNs, delay.sigmaNs(), delay.deviationNs());
                }
            }
            result.group(routes.topology().hops());
            result.learn(usual, clockBoundsNs);
            if (window >= LEARNED_WINDOWS) {
                windows.add(result);
            }
        }
        return windows;
    }

    private WindowDelay delay(final int segment, final int window) {
        final WindowDelay merged = new WindowDelay();
        for (long interval = (long)window * INTERVALS; interval < (window + 1L) * INTERVALS; interval++) {
            final List<IntervalDelay> means = records.get(segment).getOrDefault(interval, List.of());
            final double least = means.stream().mapToDouble(IntervalDelay::minimumNs).filter((each) -> !Double.isNaN(each)).min()
                .orElse(Double.NaN);
            final double most = means.stream().mapToDouble(IntervalDelay::maximumNs).filter((each) -> !Double.isNaN(each)).max()
                .orElse(Double.NaN);
            IntervalDelay.best(means.stream().filter((each) -> !Double.isNaN(each.boundNs())).toList()).ifPresent((best) ->
                merged.add(new IntervalDelay(best.source(), best.packets(), best.samples(), best.meanNs(), best.deviationNs(),
                    best.boundNs(), best.clockBoundNs(), least, most)));
        }
        return merged;
    }
}
