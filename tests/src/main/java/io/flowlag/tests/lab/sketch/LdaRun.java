package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;

import java.util.List;
import java.util.SplittableRandom;
import java.util.function.DoubleUnaryOperator;

/**
 * The LDA paper's interval: packets whose delays are independent, mean 0.2 µs, some of them lost, and several sketches of each
 * point over the same packets. Times are picoseconds. One run; the same seed gives the same packets and sampling.
 */
final class LdaRun {
    static final double MEAN_PS = 200_000;
    private static final double CONFIDENCE = 0.98;
    private static final int PACKET_BYTES = 250;
    private static final long PACKET_PS = 200_000;
    private static final double EPISODE_PACKETS = 100;

    /** Distributions of the paper's section IV; scaled to the mean of 0.2 µs. */
    enum Distribution {
        WEIBULL_06("Weibull 0.6", 1.5046, quantile -> Math.pow(-Math.log(1 - quantile), 1 / 0.6)),
        WEIBULL_08("Weibull 0.8", 1.1330, quantile -> Math.pow(-Math.log(1 - quantile), 1 / 0.8)),
        PARETO_3("Pareto 3", 1.5, quantile -> Math.pow(1 - quantile, -1 / 3.0)),
        PARETO_5("Pareto 5", 1.25, quantile -> Math.pow(1 - quantile, -1 / 5.0));

        final String title;
        private final double unscaledMean;
        private final DoubleUnaryOperator ofQuantile;

        Distribution(final String title, final double unscaledMean, final DoubleUnaryOperator ofQuantile) {
            this.title = title;
            this.unscaledMean = unscaledMean;
            this.ofQuantile = ofQuantile;
        }

        long delayPs(final double quantile) {
            return Math.round(MEAN_PS / unscaledMean * ofQuantile.applyAsDouble(quantile));
        }
    }

    /**
     * One sketch at each point under one loss.
     *
     * @param isInBursts whether packets are lost in episodes of 100 on average.
     */
    record Setting(double lossRate, boolean isInBursts, SketchGeometry geometry) {
    }

    private final List<Setting> settings;
    private final LdaEstimate[] estimates;
    private final double[] meansPs;
    private final double[] deviationsPs;

    LdaRun(final Distribution distribution, final int packets, final long seed, final List<Setting> settings) {
        this.settings = List.copyOf(settings);
        final int count = settings.size();
        estimates = new LdaEstimate[count];
        meansPs = new double[count];
        deviationsPs = new double[count];
        final LossyDifferenceAggregator[] senders = new LossyDifferenceAggregator[count];
        final LossyDifferenceAggregator[] receivers = new LossyDifferenceAggregator[count];
        for (int i = 0; i < count; i++) {
            senders[i] = new LossyDifferenceAggregator(settings.get(i).geometry(), seed);
            receivers[i] = new LossyDifferenceAggregator(settings.get(i).geometry(), seed);
        }
        play(distribution, packets, seed, senders, receivers);
        for (int i = 0; i < count; i++) {
            estimates[i] = new LdaEstimate();
            new LdaEstimator(CONFIDENCE).estimate(senders[i].image(), receivers[i].image(), estimates[i]);
        }
    }

    private void play(
        final Distribution distribution, final int packets, final long seed, final LossyDifferenceAggregator[] senders,
        final LossyDifferenceAggregator[] receivers) {
        final SplittableRandom random = new SplittableRandom(seed);
        final SplittableRandom losses = new SplittableRandom(seed + 5);
        final int count = settings.size();
        final double[] squares = new double[count];
        final long[] received = new long[count];
        final long[] episodeLeft = new long[count];
        for (int packet = 0; packet < packets; packet++) {
            final long digest = random.nextLong();
            final long delayPs = distribution.delayPs(random.nextDouble());
            final double draw = losses.nextDouble();
            final double length = losses.nextDouble();
            for (int i = 0; i < count; i++) {
                senders[i].update(digest, packet * PACKET_PS, PACKET_BYTES);
                if (!isLost(settings.get(i), draw, length, episodeLeft, i)) {
                    receivers[i].update(digest, packet * PACKET_PS + delayPs, PACKET_BYTES);
                    received[i]++;
                    meansPs[i] += delayPs;
                    squares[i] += (double) delayPs * delayPs;
                }
            }
        }
        for (int i = 0; i < count; i++) {
            meansPs[i] /= received[i];
            deviationsPs[i] = Math.sqrt(squares[i] / received[i] - meansPs[i] * meansPs[i]);
        }
    }

    private static boolean isLost(
        final Setting setting, final double draw, final double length, final long[] episodeLeft, final int index) {
        if (!setting.isInBursts()) {
            return draw < setting.lossRate();
        }
        if (episodeLeft[index] == 0 && draw < setting.lossRate() / EPISODE_PACKETS / (1 - setting.lossRate())) {
            episodeLeft[index] = Math.max(1, Math.round(-EPISODE_PACKETS * Math.log(1 - length)));
        }
        if (episodeLeft[index] == 0) {
            return false;
        }
        episodeLeft[index]--;
        return true;
    }

    /** The relative error of the mean; absent without one. */
    double error(final int setting) {
        return estimates[setting].hasMean() ?
            Math.abs(estimates[setting].meanNs() - meansPs[setting]) / meansPs[setting] : Double.NaN;
    }

    /** The relative error of the standard deviation; absent without one. */
    double deviationError(final int setting) {
        return estimates[setting].hasStandardDeviation() ?
            Math.abs(estimates[setting].standardDeviationNs() - deviationsPs[setting]) / deviationsPs[setting] : Double.NaN;
    }

    /** Half the width of the confidence interval over the mean; absent without a mean. */
    double bound(final int setting) {
        return estimates[setting].hasBound() ? estimates[setting].boundNs() / meansPs[setting] : Double.NaN;
    }

    /** Whether the mean is within its bound; absent without a mean. */
    double holds(final int setting) {
        return estimates[setting].hasMean() ? error(setting) <= bound(setting) ? 1 : 0 : Double.NaN;
    }

    double samples(final int setting) {
        return estimates[setting].hasMean() ? estimates[setting].samples() : 0;
    }

    double meanPs(final int setting) {
        return meansPs[setting];
    }

    double deviationPs(final int setting) {
        return deviationsPs[setting];
    }
}
