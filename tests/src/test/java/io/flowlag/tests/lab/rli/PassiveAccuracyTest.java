package io.flowlag.tests.lab.rli;

import io.flowlag.exporter.lab.ReferenceModel;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.rli.sender.AdaptivePolicy;
import io.flowlag.tests.lab.report.Numbers;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Locale;
import java.util.stream.DoubleStream;
import java.util.stream.LongStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Policy passive against adaptive at the same rate of references, on the laboratory's model of the RLI paper's link. With {@code
 * -Dflowlag.scale=paper} it prints the figures of docs/rli.md.
 */
class PassiveAccuracyTest {
    private static final boolean IS_PAPER_SCALE = "paper".equals(System.getProperty("flowlag.scale"));
    private static final int PACKETS = IS_PAPER_SCALE ? 200_000 : 60_000;
    private static final int SEEDS = IS_PAPER_SCALE ? 5 : 1;

    private static double median(final DoubleStream values) {
        return Numbers.quantile(values.toArray(), 0.5);
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.20, 0.55, 0.70, 0.88})
    void shouldDoAboutAsWellAsAdaptiveAtTheSameRateAndDisturbNothing(final double utilization) {
        final double[] adaptiveErrors = new double[SEEDS];
        final double[] passiveErrors = new double[SEEDS];
        final double[] rareErrors = new double[SEEDS];
        final double[] addedUs = new double[SEEDS];
        final double[] biasesUs = new double[SEEDS];
        final double[] rates = new double[SEEDS];
        for (int i = 0; i < SEEDS; i++) {
            final SegmentProfile profile = PaperSegment.of(utilization, PaperSegment.red(), PACKETS, 1 + i);
            final RliExperiment adaptive = new RliExperiment(
                profile.with(ReferenceModel.of(AdaptivePolicy.PAPER)), Estimator.LINEAR);
            rates[i] = adaptive.injectionRate();
            final PassiveExperiment passive = new PassiveExperiment(profile, rates[i]);
            final PassiveExperiment rare = new PassiveExperiment(profile, rates[i] / 8);
            adaptiveErrors[i] = adaptive.medianMeanError();
            passiveErrors[i] = passive.medianMeanError();
            rareErrors[i] = rare.medianMeanError();
            addedUs[i] = adaptive.trueMeanUs() - passive.trueMeanUs();
            biasesUs[i] = passive.biasUs();
            final long references = passive.count("rli_references");
            assertEquals(rates[i] * passive.count("rli_packets"), references, 0.15 * references, "references");
            assertTrue(passive.estimatedShare() > 0.97, "estimated: " + passive.estimatedShare());
            assertTrue(passive.isAccountedFor());
        }
        final double adaptiveError = median(DoubleStream.of(adaptiveErrors));
        final double passiveError = median(DoubleStream.of(passiveErrors));
        final double rareError = median(DoubleStream.of(rareErrors));
        System.out.printf(Locale.ROOT, "load %.0f %%: references %.2f %% of packets, median error of means: adaptive %.1f %%, " +
            "passive %.1f %%, passive with an eighth %.1f %%; adaptive adds %.2f us of delay, bias of passive %.2f us " +
            "(%d packets, seeds %s)%n", 100 * utilization, 100 * median(DoubleStream.of(rates)), 100 * adaptiveError,
            100 * passiveError, 100 * rareError, median(DoubleStream.of(addedUs)), median(DoubleStream.of(biasesUs)), PACKETS,
            LongStream.rangeClosed(1, SEEDS).boxed().toList());
        assertTrue(passiveError < 2 * adaptiveError, passiveError + " " + adaptiveError);
        assertTrue(passiveError < rareError, passiveError + " " + rareError);
    }
}
