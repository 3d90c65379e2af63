package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.rli.sender.InjectionPolicy;
import io.flowlag.tests.lab.report.Setup;

import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** The link of the RLI paper, as its experiments use it: RED, adaptive injection, linear interpolation. */
final class PaperLink {
    static final double[] UTILIZATIONS = {0.20, 0.55, 0.70, 0.88};
    static final long FIRST_FIT_SEED = 1000;

    private PaperLink() {
    }

    /** Packets of a run whose accuracy is scored: 1.1 s of the link at the paper's scale. */
    static int packets(final Setup setup) {
        return setup.size(50_000, 100_000, 400_000);
    }

    /** Packets of a run of which there are many. */
    static int sweepPackets(final Setup setup) {
        return setup.size(50_000, 60_000, 100_000);
    }

    static SegmentProfile of(final double utilization, final int packets, final long seed) {
        return PaperSegment.of(utilization, PaperSegment.red(), packets, seed);
    }

    static RliExperiment adaptive(final double utilization, final int packets, final long seed) {
        return run(of(utilization, packets, seed), AdaptivePolicy.PAPER);
    }

    static RliExperiment run(final SegmentProfile profile, final InjectionPolicy policy) {
        return new RliExperiment(profile.with(ReferenceModel.of(policy)), Estimator.LINEAR);
    }

    /** References of one stream for each policy, or of one in a class, at least every 100 ms. */
    static ReferenceModel references(
        final List<InjectionPolicy> policies, final int sharedClass, final long ceilingBps, final double utilizationWeight) {
        return new ReferenceModel(policies, sharedClass, TimeUnit.MILLISECONDS.toNanos(100), ceilingBps, utilizationWeight,
            ReferenceModel.DEFAULT_PORT, 1, null);
    }

    static String percent(final double share) {
        return String.format(Locale.ROOT, "%.0f %%", 100 * share);
    }
}
