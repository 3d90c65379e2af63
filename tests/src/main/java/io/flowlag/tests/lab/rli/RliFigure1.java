package io.flowlag.tests.lab.rli;

import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;

/**
 * Figures 1 and 2 of the RLI paper, which motivate references: the mean queueing delay of a flow against that of all packets of
 * the same windows of time, and how long the delay stays above a level. Queueing delay excludes the packet's own transmission. No
 * references are sent.
 */
public final class RliFigure1 implements Experiment {
    private static final double[] UTILIZATIONS = {0.55, 0.88};
    private static final double[] WINDOWS_MS = {0.1, 1, 10, 100, 1_000};
    private static final double[] LEVELS_MS = {0.01, 0.03, 0.1, 0.3, 1, 3, 10};
    private static final double[] DURATIONS_MS = {0.001, 0.01, 0.1, 1, 10, 100};
    private static final double NS_PER_MS = 1e6;
    private static final double HIGH = 0.88;
    /** What the paper says of its trace SANJ: 0.39 ms of mean delay, bursts above it of roughly 10 ms. */
    private static final double PAPER_BURST_MS = 10;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table localized = results.table("localized", "Error of a flow's mean queueing delay if it is taken from " +
            "all packets of the same windows; medians over flows, then seeds", "utilization", "window ms",
            "packets in a window, median", "median error %", "all packets' mean: median error %");
        final Table bursts = results.table("bursts", "Share of the time above a delay that is in bursts of at least so long; " +
            "seed 1", "utilization", "delay ms", "burst ms", "share of time above");
        final Table halves = results.table("halves", "Duration of bursts above the mean delay in which half of the time above " +
            "it is spent; medians", "utilization", "mean delay ms", "duration ms");
        final Plot errors = new Plot("localized", "Mean queueing delay of flows by that of all packets of the same window")
            .x("window, ms", true).y("median relative error, %", true);
        for (final double utilization : UTILIZATIONS) {
            final double[] row = setup.medians(seed -> figures(trace(setup, utilization, seed)));
            final double[] ys = new double[WINDOWS_MS.length];
            for (int i = 0; i < WINDOWS_MS.length; i++) {
                ys[i] = row[2 * i + 1];
                localized.row(utilization, WINDOWS_MS[i], row[2 * i], ys[i], row[2 * WINDOWS_MS.length]);
            }
            errors.add(PaperLink.percent(utilization), Plot.Style.MARKED_LINE, WINDOWS_MS, ys);
            halves.row(utilization, row[2 * WINDOWS_MS.length + 1], row[2 * WINDOWS_MS.length + 2]);
            final Queue queue = new Queue(trace(setup, utilization, 1));
            final Plot plot = new Plot("bursts-" + Math.round(100 * utilization), "Bursts of delay at " +
                PaperLink.percent(utilization)).x("duration of the burst, at least, ms", true)
                .y("share of the time above the delay", false).between(0, 1);
            for (final double level : LEVELS_MS) {
                final double[] shares = Arrays.stream(DURATIONS_MS)
                    .map(duration -> queue.shareAbove(level * NS_PER_MS, duration * NS_PER_MS)).toArray();
                for (int i = 0; i < shares.length; i++) {
                    bursts.row(utilization, level, DURATIONS_MS[i], shares[i]);
                }
                plot.add(level + " ms", Plot.Style.MARKED_LINE, DURATIONS_MS, shares);
            }
            results.plot(plot);
        }
        results.plot(errors);
        results.compare("packets in a window of 0.1 ms, median", 21, localized.number("packets in a window, median", HIGH, 0.1));
        results.compare("duration of half the time above the mean delay at 88 %, ms (SANJ, roughly)", PAPER_BURST_MS,
            halves.number("duration ms", HIGH));
        results.note("The paper's Figure 1 is of its trace CHIC and has its errors in the plot only. Runs here last 1.1 s at " +
            "the most, so windows of 1 s are the whole run.");
    }

    private static PathTrace trace(final Setup setup, final double utilization, final long seed) {
        return PathTrace.of(PaperSegment.of(
            utilization, PaperSegment.dropTail(), PaperLink.packets(setup), seed));
    }

    private static double[] figures(final PathTrace trace) {
        final Queue queue = new Queue(trace);
        final double[] row = new double[2 * WINDOWS_MS.length + 3];
        for (int i = 0; i < WINDOWS_MS.length; i++) {
            final double[] windowed = queue.localizedErrors(WINDOWS_MS[i] * NS_PER_MS);
            row[2 * i] = windowed[0];
            row[2 * i + 1] = windowed[1];
        }
        row[2 * WINDOWS_MS.length] = queue.localizedErrors(Double.MAX_VALUE)[1];
        final double meanNs = Numbers.mean(queue.delaysNs);
        row[2 * WINDOWS_MS.length + 1] = meanNs / NS_PER_MS;
        row[2 * WINDOWS_MS.length + 2] = queue.halfNs(meanNs) / NS_PER_MS;
        return row;
    }

    /** The queueing delay of each packet, in order of arrival at the queue. */
    private static final class Queue {
        private final PathTrace trace;
        private final double[] delaysNs;

        private Queue(final PathTrace trace) {
            this.trace = trace;
            delaysNs = new double[trace.packets()];
            for (int packet = 0; packet < delaysNs.length; packet++) {
                delaysNs[packet] = trace.isLost(packet) ? Double.NaN :
                    Math.max(0, trace.delayNsOf(packet) - 8e9 * trace.bytesOf(packet) / trace.capacityBps());
            }
        }

        /** The median number of packets in a packet's window, and the median error of flows, in percent. */
        private double[] localizedErrors(final double windowNs) {
            final double[] sumNs = new double[trace.flows()];
            final double[] localNs = new double[trace.flows()];
            final double[] counts = new double[delaysNs.length];
            final long startNs = trace.sentNsOf(0);
            int first = 0;
            while (first < delaysNs.length) {
                final long window = (long)((trace.sentNsOf(first) - startNs) / windowNs);
                int end = first;
                int count = 0;
                double windowSumNs = 0;
                for (; end < delaysNs.length && (long)((trace.sentNsOf(end) - startNs) / windowNs) == window; end++) {
                    count += Double.isNaN(delaysNs[end]) ? 0 : 1;
                    windowSumNs += Double.isNaN(delaysNs[end]) ? 0 : delaysNs[end];
                }
                for (int packet = first; packet < end; packet++) {
                    counts[packet] = count;
                    if (!Double.isNaN(delaysNs[packet])) {
                        sumNs[trace.flowOf(packet)] += delaysNs[packet];
                        localNs[trace.flowOf(packet)] += windowSumNs / count;
                    }
                }
                first = end;
            }
            final double[] errors = new double[trace.flows()];
            for (int flow = 0; flow < errors.length; flow++) {
                errors[flow] = sumNs[flow] == 0 ? Double.NaN : Math.abs(localNs[flow] - sumNs[flow]) / sumNs[flow];
            }
            return new double[] {Numbers.median(counts), 100 * Numbers.median(errors)};
        }

        /** Bursts of successive packets with a delay above a level, each until the next packet. */
        private double[] bursts(final double levelNs) {
            final double[] durations = new double[delaysNs.length];
            int count = 0;
            long startNs = -1;
            for (int packet = 0; packet <= delaysNs.length; packet++) {
                final boolean isAbove = packet < delaysNs.length && delaysNs[packet] > levelNs;
                if (isAbove && startNs < 0) {
                    startNs = trace.sentNsOf(packet);
                } else if (!isAbove && startNs >= 0 && (packet == delaysNs.length || !Double.isNaN(delaysNs[packet]))) {
                    durations[count++] = trace.sentNsOf(Math.min(packet, delaysNs.length - 1)) - startNs;
                    startNs = -1;
                }
            }
            return Arrays.copyOf(durations, count);
        }

        private double shareAbove(final double levelNs, final double durationNs) {
            final double[] durations = bursts(levelNs);
            final double all = Arrays.stream(durations).sum();
            return all == 0 ? Double.NaN : Arrays.stream(durations).filter(each -> each >= durationNs).sum() / all;
        }

        private double halfNs(final double levelNs) {
            final double[] durations = bursts(levelNs);
            Arrays.sort(durations);
            final double half = Arrays.stream(durations).sum() / 2;
            double sum = 0;
            int i = durations.length;
            while (i > 0 && sum < half) {
                sum += durations[--i];
            }
            return i < durations.length ? durations[i] : Double.NaN;
        }
    }
}
