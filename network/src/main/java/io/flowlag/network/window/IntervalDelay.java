package io.flowlag.network.window;

import java.util.Collection;
import java.util.Comparator;
import java.util.Optional;

/**
 * The delays of a segment in one measurement interval, as its record has them.
 *
 * @param source       of the mean.
 * @param packets      of the interval, at least 1.
 * @param samples      the packets that the mean was taken from, from 1 to {@code packets}.
 * @param meanNs       mean delay.
 * @param deviationNs  standard deviation of the samples, or NaN if the record has none.
 * @param boundNs      half width of the mean's 95 % interval, or NaN if the record has none.
 * @param clockBoundNs bound of the error of both clocks together.
 * @param minimumNs    smallest delay, or NaN if the record has none.
 * @param maximumNs    largest delay, or NaN with the smallest.
 */
public record IntervalDelay(MeanSource source, long packets, long samples, double meanNs, double deviationNs, double boundNs,
    double clockBoundNs, double minimumNs, double maximumNs) {
    /** {@return of several means of one interval the one to use: that of the best source} */
    public static Optional<IntervalDelay> best(final Collection<IntervalDelay> means) {
        return means.stream().min(Comparator.comparing(IntervalDelay::source));
    }
}
