package io.flowlag.tests.lab.network;

import io.flowlag.exporter.lab.LoadModel;
import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.QueueModel;
import io.flowlag.exporter.lab.SegmentHandler;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedPacket;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.network.window.IntervalDelay;
import io.flowlag.network.window.MeanSource;
import io.flowlag.network.window.WindowDelay;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/** Whether the bound of a window holds that is merged from those of measurement intervals: every source, in many queues. */
public final class NetworkBounds implements Experiment {
    private static final double PERCENT = 100;
    private static final long INTERVAL_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final int INTERVALS = 6;
    private static final long CAPACITY_BPS = 200_000_000;
    private static final int PACKETS_PER_FLOW = 16;
    private static final double MEAN_BYTES = 765;
    /** Windows at the beginning, in which the exporter learns its errors. */
    private static final int LEARNED_WINDOWS = 2;
    private static final LoadModel.Burstiness[] MODERATE = {
        new LoadModel.Burstiness(0.15, TimeUnit.MICROSECONDS.toNanos(200)),
        new LoadModel.Burstiness(0.15, TimeUnit.MILLISECONDS.toNanos(2)),
        new LoadModel.Burstiness(0.08, TimeUnit.MILLISECONDS.toNanos(50))};
    private static final LoadModel.Burstiness[] STRONG = {
        new LoadModel.Burstiness(0.6, TimeUnit.MICROSECONDS.toNanos(200)),
        new LoadModel.Burstiness(0.5, TimeUnit.MILLISECONDS.toNanos(2)),
        new LoadModel.Burstiness(0.3, TimeUnit.MILLISECONDS.toNanos(50))};
    private static final Set<MeanSource> BY_SENDING = EnumSet.of(MeanSource.AGGREGATOR, MeanSource.RECONCILED, MeanSource.JOINT);
    private static final String PASSIVE = "rli: {policy: passive, passive-share: 0.25}\n";
    private static final String EVERY = "rli: {policy: every-n, every-n: 5, capacity: 200m}\n";
    private static final String ADAPTIVE = "rli: {policy: adaptive, capacity: 200m, max-rate: 2, min-rate: 6}\n";

    /** A queue and how it is measured. */
    private record Scenario(
        String name, LoadModel load, QueueModel queue, PathFaults faults, String references, String aggregator) {
    }

    private static List<Scenario> scenarios() {
        final QueueModel fifo = QueueModel.dropTail(2_000);
        final List<Scenario> all = new ArrayList<>();
        for (final double load : new double[] {0.2, 0.55, 0.7, 0.88}) {
            all.add(new Scenario("FIFO " + Math.round(PERCENT * load) + " %", LoadModel.constant(load).bursting(MODERATE), fifo,
                PathFaults.NONE, PASSIVE, ""));
        }
        final LoadModel strong = LoadModel.constant(0.5).bursting(STRONG);
        all.add(new Scenario("strong bursts", strong, fifo, PathFaults.NONE, PASSIVE, ""));
        all.add(new Scenario("strong bursts; every 5th", strong, fifo, PathFaults.NONE, EVERY, ""));
        all.add(new Scenario("strong bursts; adaptive", strong, fifo, PathFaults.NONE, ADAPTIVE, ""));
        all.add(new Scenario("swinging 20 to 90 %", LoadModel.constant(0.5)
            .swinging(0.2, 0.9, TimeUnit.MILLISECONDS.toNanos(170)).bursting(MODERATE), fifo, PathFaults.NONE, PASSIVE, ""));
        all.add(new Scenario("two paths", strong, QueueModel.parallelPaths(2_000), PathFaults.NONE, PASSIVE, ""));
        all.add(new Scenario("priority", strong, QueueModel.strictPriority(2_000), PathFaults.NONE, PASSIVE, ""));
        all.add(new Scenario("1 % lost", strong, fifo, new PathFaults(0.01, 0.01, 0, 0, 0, 0), PASSIVE, "lda-cells: 64, "));
        all.add(new Scenario("1 % lost in episodes", strong, QueueModel.dropTail(2_000),
            PathFaults.NONE.withBursts(0.01, 50), PASSIVE, "lda-cells: 64, "));
        all.add(new Scenario("few samples; 5 % lost", strong, fifo, new PathFaults(0.05, 0.05, 0, 0, 0, 0), PASSIVE,
            "lda-cells: 16, "));
        return all;
    }

    @Override
    public void run(final Setup setup, final Results results) {
        final int windows = setup.size(6, 10, 40);
        final Table table = results.table("bounds", "Merged 95 % bounds of windows of " + INTERVALS + " intervals, " +
            (windows - 1) * setup.seeds() + " windows; an exact bound of normal errors has 2.9 median errors",
            "queue", "source", "windows", "bounded %", "held %", "median error %", "median bound %", "width over error",
            "intervals held %");
        final List<Scenario> all = scenarios();
        for (int i = 0; i < all.size(); i += setup.size(6, 1, 1)) {
            final Scenario scenario = all.get(i);
            final Map<MeanSource, Score> scores = new EnumMap<>(MeanSource.class);
            for (int seed = 1; seed <= setup.seeds(); seed++) {
                new Run(scenario, windows, seed, scores);
            }
            scores.forEach((source, score) -> score.row(table, scenario.name, source));
        }
        DrawnBounds.run(setup, results);
    }

    /** What came of a source. */
    private static final class Score {
        private int windows;
        private final List<Double> errors = new ArrayList<>();
        private final List<Double> bounds = new ArrayList<>();
        private final List<Double> truths = new ArrayList<>();
        private int intervals;
        private int intervalsHeld;

        private void add(final WindowDelay window, final double truthNs) {
            windows++;
            if (!Double.isNaN(window.boundNs())) {
                // A record's mean is a whole number of ns.
                errors.add(Math.max(0, Math.abs(window.meanNs() - truthNs) - 1));
                bounds.add(window.boundNs());
                truths.add(truthNs);
            }
        }

        private void row(final Table table, final String name, final MeanSource source) {
            final double[] error = new double[errors.size()];
            final double[] bound = new double[error.length];
            int held = 0;
            for (int i = 0; i < error.length; i++) {
                held += errors.get(i) <= bounds.get(i) ? 1 : 0;
                error[i] = PERCENT * errors.get(i) / truths.get(i);
                bound[i] = PERCENT * bounds.get(i) / truths.get(i);
            }
            final boolean isAny = error.length > 0;
            final double median = isAny ? Numbers.median(error) : Double.NaN;
            final double width = isAny ? Numbers.median(bound) : Double.NaN;
            table.row(name, source.name().toLowerCase(Locale.ROOT), windows, PERCENT * error.length / windows,
                isAny ? PERCENT * held / error.length : Double.NaN, median, width, median > 0 ? width / median : Double.NaN,
                intervals == 0 ? Double.NaN : PERCENT * intervalsHeld / intervals);
        }
    }

    /** One run of a queue. */
    private static final class Run implements SegmentHandler {
        private final SegmentMeter meter;
        /** By the time of receipt, and by that of sending: packets and sums of delays of intervals. */
        private final Map<Long, double[]> received = new HashMap<>();
        private final Map<Long, double[]> sent = new HashMap<>();
        private final Map<MeanSource, Map<Long, List<IntervalDelay>>> reported = new EnumMap<>(MeanSource.class);
        private final Map<MeanSource, Score> scores;
        private final int flows;
        private final long startNs;

        private Run(final Scenario scenario, final int windows, final int seed, final Map<MeanSource, Score> scores) {
            this.scores = scores;
            final double perSecond = (scenario.load.lowestUtilization() + scenario.load.highestUtilization()) / 2 *
                CAPACITY_BPS / 8 / MEAN_BYTES;
            final int packets = (int)((windows + LEARNED_WINDOWS) * INTERVALS * INTERVAL_NS / 1e9 * perSecond);
            flows = packets / PACKETS_PER_FLOW;
            final TrafficProfile traffic = TrafficProfile.builder("bounds").packetCount(packets).flowCount(flows).seed(seed)
                .packetsPerSecond((int)perSecond).smallFrameShare(0.42).mediumFrameShare(0.15).build();
            startNs = traffic.startNs();
            meter = new SegmentMeter(
                "segment: {role: both, ingress: a, egress: b, exact: on, interval: 50ms, max-delay: 50ms}\n" +
                "lds: {" + scenario.aggregator + "enabled: on, rows: 2, columns: 2k, in-flight: 64k}\n" +
                "reconcile: {enabled: on, packets: 16k}\n" + scenario.references, flows, INTERVAL_NS,
                (start, isSent, delay) -> reported.computeIfAbsent(delay.source(), (source) -> new HashMap<>())
                    .computeIfAbsent(start / INTERVAL_NS, (interval) -> new ArrayList<>()).add(delay));
            new SimulatedSegment(SegmentProfile.of(traffic, scenario.load, CAPACITY_BPS, scenario.queue).with(scenario.faults)
                .withFirstShare(0.3)).run(this);
            meter.end();
            reported.forEach((source, intervals) -> score(source, intervals, windows));
        }

        private void score(final MeanSource source, final Map<Long, List<IntervalDelay>> intervals, final int windows) {
            final Score score = scores.computeIfAbsent(source, (each) -> new Score());
            final Map<Long, double[]> truth = BY_SENDING.contains(source) ? sent : received;
            for (long window = LEARNED_WINDOWS; window < LEARNED_WINDOWS + windows - 1; window++) {
                final WindowDelay merged = new WindowDelay();
                double sum = 0;
                double packets = 0;
                for (long interval = INTERVALS * window; interval < INTERVALS * (window + 1); interval++) {
                    final double[] true0 = truth.getOrDefault(interval, new double[2]);
                    sum += true0[1];
                    packets += true0[0];
                    for (final IntervalDelay delay : intervals.getOrDefault(interval, List.of())) {
                        final IntervalDelay known = source == MeanSource.JOINT ? new IntervalDelay(source, (long)true0[0],
                            (long)true0[0], delay.meanNs(), delay.deviationNs(), delay.boundNs(), 0, 0, 0) : delay;
                        merged.add(known);
                        if (!Double.isNaN(delay.boundNs())) {
                            score.intervals++;
                            score.intervalsHeld += Math.abs(delay.meanNs() - true0[1] / true0[0]) <= delay.boundNs() + 1 ? 1 : 0;
                        }
                    }
                }
                if (merged.intervals() == INTERVALS) {
                    score.add(merged, sum / packets);
                }
            }
        }

        @Override
        public void onSent(final SimulatedPacket packet) {
            meter.onSent(packet.flow(), number(packet), packet.lengthBytes(), packet.sentNs() - startNs);
        }

        @Override
        public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
            final double delayNs = arrivalNs - packet.sentNs();
            add(received, arrivalNs - startNs, delayNs);
            add(sent, packet.sentNs() - startNs, delayNs);
            meter.onReceived(packet.flow(), number(packet), packet.lengthBytes(), arrivalNs - startNs);
        }

        @Override
        public void onLost(final SimulatedPacket packet) {
            // The meters find that.
        }

        private long number(final SimulatedPacket packet) {
            return packet.flow() + (long)flows * packet.number();
        }

        private static void add(final Map<Long, double[]> sums, final long timeNs, final double delayNs) {
            final double[] sum = sums.computeIfAbsent(timeNs / INTERVAL_NS, (interval) -> new double[2]);
            sum[0]++;
            sum[1] += delayNs;
        }
    }
}
