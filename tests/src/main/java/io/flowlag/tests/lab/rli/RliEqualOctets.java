package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.CombinedPolicy;
import io.flowlag.rli.sender.EveryIntervalPolicy;
import io.flowlag.rli.sender.EveryNPolicy;
import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Plot;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;

import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/** Load between 20 and 90 %, and every policy with at least as many octets as adaptive takes. */
public final class RliEqualOctets implements Experiment {
    private static final String[] NAMES = {"adaptive", "every-n", "every-interval", "combined"};
    private static final int BISECTIONS = 12;
    private static final int COLUMNS = 9;

    @Override
    public void run(final Setup setup, final Results results) {
        final Table table = results.table("policies", "Load between 20 and 90 %, equal octets; RED; medians", "policy",
            "references", "median error %", "90th percentile %", "flows above 100 us, median %", "median error us",
            "standard deviation, median error %", "delay added us", "error against undisturbed delays %",
            "reference octets over adaptive's");
        final double[] flat = setup.medians(seed -> {
            final SegmentProfile profile = varyingLoad(PaperLink.sweepPackets(setup), seed);
            final SegmentTruth undisturbed = new SimulatedSegment(profile).truth();
            final double aloneUs = new RliTable1.Truth(profile).meanUs;
            final RliExperiment[] runs = equalBytes(profile);
            return Arrays.stream(runs).flatMapToDouble(run -> Arrays.stream(new double[] {
                run.references(), 100 * run.medianMeanError(), 100 * run.meanError(flow -> true, 0.9),
                100 * run.meanError(run.slowerThan(100_000), 0.5), run.medianAbsoluteErrorUs(flow -> true),
                100 * run.medianDeviationError(flow -> true), run.trueMeanUs() - aloneUs,
                100 * run.medianErrorAgainst(undisturbed),
                (double) run.referenceBytes() / runs[0].referenceBytes()})).toArray();
        });
        final Plot plot = new Plot("policies", "What a policy's accuracy costs the traffic").x("delay added to packets, µs", true)
            .y("median relative error, %", true);
        for (int i = 0; i < NAMES.length; i++) {
            final double[] row = Arrays.copyOfRange(flat, i * COLUMNS, (i + 1) * COLUMNS);
            table.row(NAMES[i], row[0], row[1], row[2], row[3], row[4], row[5], row[6], row[7], row[8]);
            plot.add(NAMES[i], Plot.Style.POINTS, new double[] {row[6]}, new double[] {row[1]});
        }
        results.plot(plot);
    }

    /** The load of the paper's trace, swinging between 20 and 90 % of a link as it has at 55 %. */
    private static SegmentProfile varyingLoad(final int packets, final long seed) {
        final SegmentProfile profile = PaperLink.of(0.55, packets, seed);
        return profile.with(profile.load().swinging(0.20, 0.90, TimeUnit.MILLISECONDS.toNanos(250)));
    }

    /** Adaptive, every-n, every-interval and combined; the last three inject at least as much as the first. */
    private static RliExperiment[] equalBytes(final SegmentProfile profile) {
        final RliExperiment adaptive = PaperLink.run(profile, AdaptivePolicy.PAPER);
        final long wanted = adaptive.references();
        final RliExperiment everyN = PaperLink.run(profile, new EveryNPolicy(adaptive.regularPackets() / wanted));
        final RliExperiment everyInterval =
            PaperLink.run(profile, new EveryIntervalPolicy(adaptive.elapsedNs() / (wanted + 1)));
        long low = adaptive.regularPackets() / wanted;
        long high = 2 * low;
        final long intervalNs = 2 * adaptive.elapsedNs() / wanted;
        RliExperiment combined = PaperLink.run(profile, new CombinedPolicy(low, intervalNs));
        for (int i = 0; i < BISECTIONS && low < high - 1; i++) {
            final long middle = (low + high) / 2;
            final RliExperiment candidate = PaperLink.run(profile, new CombinedPolicy(middle, intervalNs));
            if (candidate.references() >= wanted) {
                combined = candidate;
                low = middle;
            } else {
                high = middle;
            }
        }
        return new RliExperiment[] {adaptive, everyN, everyInterval, combined};
    }
}
