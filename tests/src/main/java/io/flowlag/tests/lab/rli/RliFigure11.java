package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.PathFaults;
import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.tests.lab.method.LdaMethod;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.RliMethod;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;

/** Figure 11 of the RLI paper: the mean of all packets, by LDA and by RLI with as much control traffic or more, over loss. */
public final class RliFigure11 implements Experiment {
    private static final double[] LOSS = {0, 0.001, 0.004, 0.01, 0.03, 0.1};
    private static final int[] REFERENCES_PER_SECOND = {288, 1440};
    private static final double UTILIZATION = 0.88;
    private static final double NS_PER_SECOND = 1e9;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("aggregate", "Relative error of the mean of all packets at 88 %, uniform loss behind " +
            "the queue; medians", "loss %", "LDA %", "RLI, 288/s %", "RLI, 1440/s %", "LDA, deviation %",
            "RLI, 288/s, deviation %", "RLI, 1440/s, deviation %", "LDA samples");
        final Plot plot = new Plot("aggregate", "Mean of all packets of 1.1 s at 88 % load").x("loss, % (0 drawn at 0.01)", true)
            .y("relative error of the mean, %", true);
        final double[] xs = new double[LOSS.length];
        final double[][] ys = new double[3][LOSS.length];
        for (int i = 0; i < LOSS.length; i++) {
            final double loss = LOSS[i];
            final double[] row = setup.medians(seed -> measure(setup, loss, seed));
            table.row(100 * loss, row[1], row[0], row[2], row[3], row[5], row[6], row[4]);
            xs[i] = Math.max(0.01, 100 * loss);
            ys[0][i] = row[1];
            ys[1][i] = row[0];
            ys[2][i] = row[2];
        }
        plot.add("LDA, 2 x 512", Plot.Style.MARKED_LINE, xs, ys[0]);
        plot.add("RLI, 288/s", Plot.Style.MARKED_LINE, xs, ys[1]);
        plot.add("RLI, 1440/s", Plot.Style.MARKED_LINE, xs, ys[2]);
        results.plot(plot);
        results.compare("RLI, 288/s, 1 % loss, % (at most)", 2.5, table.number("RLI, 288/s %", 1.0));
        results.compare("RLI, 1440/s, 1 % loss, % (at most)", 0.3, table.number("RLI, 1440/s %", 1.0));
        results.compare("LDA, 1 % loss, % (0.1 to 1.3)", 1.3, table.number("LDA %", 1.0));
        results.compare("RLI, 1440/s, 1 % loss, deviation, % (about)", 0.005, table.number("RLI, 1440/s, deviation %", 1.0));
        results.compare("LDA, 1 % loss, deviation, % (1 to 27)", 27, table.number("LDA, deviation %", 1.0));
        results.note("The paper loses packets in an overloaded queue, where delays are alike; here loss is uniform behind it, " +
            "which is harder for neither but leaves RLI's delays as different as they were.");
    }

    private static double[] measure(final Setup setup, final double loss, final long seed) {
        final double[] row = new double[7];
        for (int i = 0; i < REFERENCES_PER_SECOND.length; i++) {
            final SegmentProfile profile = PaperLink.of(UTILIZATION, setup.size(100_000, 200_000, 400_000), seed)
                .with(ReferenceModel.of(new EveryIntervalPolicy((long) (NS_PER_SECOND / REFERENCES_PER_SECOND[i]))))
                .with(new PathFaults(loss, loss, 0, 0, 0, 0));
            final PathTrace trace = PathTrace.of(profile);
            final double truthNs = trace.trueMeanNs();
            final double truthDeviationNs = deviationNs(trace, truthNs);
            final long[] estimatesNs = new long[trace.packets()];
            new RliMethod(Estimator.LINEAR).packets(trace, estimatesNs);
            final double[] estimated = Arrays.stream(estimatesNs).filter(estimate -> estimate != RliMethod.NONE)
                .asDoubleStream().toArray();
            final double meanNs = Numbers.mean(estimated);
            final double deviationNs =
                Math.sqrt(Arrays.stream(estimated).map(each -> (each - meanNs) * (each - meanNs)).average().orElseThrow());
            row[2 * i] = 100 * Math.abs(meanNs - truthNs) / truthNs;
            row[5 + i] = 100 * Math.abs(deviationNs - truthDeviationNs) / truthDeviationNs;
            if (i == 0) {
                final LdaEstimate lda = new LdaMethod(LdaMethod.twoBanks(trace.packets()), seed).estimate(trace);
                row[1] = lda.hasMean() ? 100 * Math.abs(lda.meanNs() - truthNs) / truthNs : Double.NaN;
                row[3] = lda.hasStandardDeviation() ? 100 * Math.abs(lda.standardDeviationNs() - truthDeviationNs) /
                    truthDeviationNs : Double.NaN;
                row[4] = lda.hasMean() ? lda.samples() : 0;
            }
        }
        return row;
    }

    private static double deviationNs(final PathTrace trace, final double meanNs) {
        double squares = 0;
        for (int packet = 0; packet < trace.packets(); packet++) {
            final double difference = trace.isLost(packet) ? 0 : trace.delayNsOf(packet) - meanNs;
            squares += difference * difference;
        }
        return Math.sqrt(squares / trace.receivedPackets());
    }
}
