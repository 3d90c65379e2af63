package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.estimate.Cells;
import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;

import java.util.ArrayList;
import java.util.List;

/**
 * Packets in flight, and packets that overtake one another, at the ends of intervals. Either each point cuts by its own clock, or
 * the receiver assigns a packet to the interval in which it was sent, as the product does.
 */
public final class LdsIntervals implements Experiment {
    private static final long SEED = 0x51;
    private static final int ROWS = 4;
    /** One cell for so many flows of the whole trace; an interval has a part of them. */
    private static final int CELL_SHARE = 16;
    private static final int LEAST_PACKETS = 50;
    private static final double[] LENGTHS_S = {0.1, 0.3, 1, 3};

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("cuts", "Weibull delays of 3 ms on average, packets out of order; flows of 50 " +
            "packets in an interval and more; medians", "cut by",
            "interval s", "usable, of cells with packets %", "flows without estimate %",
            "median error %");
        final Plot plot = new Plot("usable", "Cells that both points agree on").x("interval, s", true)
            .y("usable, of cells with packets, %", false).between(0, 100);
        final int flows = LdsFigure9.flows(setup);
        for (final boolean isSenders : new boolean[] {false, true}) {
            final String name = isSenders ? "the sender's interval" : "each point's own clock";
            final double[] usable = new double[LENGTHS_S.length];
            for (int i = 0; i < LENGTHS_S.length; i++) {
                final long lengthNs = Math.round(1e9 * LENGTHS_S[i]);
                final double[] row = setup.medians(seed -> measure(
                    LdsTrace.of(flows, DelayModel.INDEPENDENT, seed, 1, 0), flows, lengthNs, isSenders));
                table.row(name, LENGTHS_S[i], row[0], row[1], row[2]);
                usable[i] = row[0];
            }
            plot.add(name, Plot.Style.MARKED_LINE, LENGTHS_S, usable);
        }
        results.plot(plot);
    }

    private static double[] measure(
        final PathTrace trace, final int flows, final long lengthNs, final boolean isSenders) {
        final SketchGeometry geometry = SketchGeometry.lds(ROWS, Math.max(16, flows / CELL_SHARE / ROWS), 1);
        final List<Cut> cuts = new ArrayList<>();
        for (int packet = 0; packet < trace.packets(); packet++) {
            final int sentIn = (int) (trace.sentNsOf(packet) / lengthNs);
            final int bookedIn = isSenders ? sentIn : (int) (trace.arrivalNsOf(packet) / lengthNs);
            while (cuts.size() <= Math.max(sentIn, bookedIn)) {
                cuts.add(new Cut(geometry, flows, cuts.size(), lengthNs));
            }
            cuts.get(sentIn).send(trace, packet);
            cuts.get(bookedIn).receive(trace, packet);
        }
        double usable = 0;
        int missing = 0;
        final List<Double> errors = new ArrayList<>();
        // The first and the last interval are not whole.
        for (int i = 1; i + 1 < cuts.size(); i++) {
            usable += cuts.get(i).usableShare() / (cuts.size() - 2);
            missing += cuts.get(i).estimate(trace, errors);
        }
        final double[] all = errors.stream().mapToDouble(Double::doubleValue).toArray();
        return new double[] {100 * usable, 100.0 * missing / (missing + all.length), 100 * Numbers.median(all)};
    }

    /** One interval at both points, and the truth of the packets that were sent in it. */
    private static final class Cut {
        private final SketchGeometry geometry;
        private final LossyDifferenceSketch sender;
        private final LossyDifferenceSketch receiver;
        private final int[] sent;
        private final int[] booked;
        private final double[] sumsNs;

        Cut(final SketchGeometry geometry, final int flows, final long number, final long lengthNs) {
            this.geometry = geometry;
            sender = new LossyDifferenceSketch(geometry, SEED);
            receiver = new LossyDifferenceSketch(geometry, SEED);
            sender.begin(number, lengthNs);
            receiver.begin(number, lengthNs);
            sent = new int[flows];
            booked = new int[flows];
            sumsNs = new double[flows];
        }

        private void send(final PathTrace trace, final int packet) {
            final int flow = trace.flowOf(packet);
            sender.update(
                trace.flowHash(flow), trace.digestOf(packet), trace.sentNsOf(packet), trace.bytesOf(packet), 1);
            sent[flow]++;
            sumsNs[flow] += trace.delayNsOf(packet);
        }

        private void receive(final PathTrace trace, final int packet) {
            final int flow = trace.flowOf(packet);
            receiver.update(
                trace.flowHash(flow), trace.digestOf(packet), trace.arrivalNsOf(packet), trace.bytesOf(packet), 1);
            booked[flow]++;
        }

        private double usableShare() {
            int usable = 0;
            int filled = 0;
            for (int row = 0; row < geometry.rows(); row++) {
                for (int column = 0; column < geometry.columns(); column++) {
                    usable += Cells.usable(sender.image(), receiver.image(), row, column) ? 1 : 0;
                    filled += sender.image().count(row, column) > 0 || receiver.image().count(row, column) > 0 ? 1 : 0;
                }
            }
            return (double) usable / filled;
        }

        private int estimate(final PathTrace trace, final List<Double> errors) {
            final FlowEstimator estimator = new FlowEstimator(geometry, SEED);
            estimator.pair(sender.image(), receiver.image());
            final FlowEstimate estimate = new FlowEstimate();
            int missing = 0;
            for (int flow = 0; flow < sent.length; flow++) {
                if (sent[flow] >= LEAST_PACKETS && booked[flow] > 0) {
                    estimator.estimate(trace.flowHash(flow), 1, booked[flow], estimate);
                    final double truthNs = sumsNs[flow] / sent[flow];
                    if (estimate.hasMean()) {
                        errors.add(Math.abs(estimate.meanNs() - truthNs) / truthNs);
                    } else {
                        missing++;
                    }
                }
            }
            return missing;
        }
    }
}
