package io.flowlag.network.locate;

import org.ejml.data.DMatrixRMaj;
import org.ejml.dense.row.CommonOps_DDRM;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

/**
 * W = Σ⁻¹ of Σ = D + C K Cᵀ, with D diagonal and C of a segment 1 at its receiver's clock and −1 at its sender's, by Woodbury's
 * identity: W = D⁻¹ − D⁻¹C M⁻¹ CᵀD⁻¹ with M = K⁻¹ + CᵀD⁻¹C. M⁻¹ is the covariance of the clocks if all else is known. Only M,
 * of the number of clocks, is dense. One thread.
 */
final class Precision {
    private static final int KNOWN = -1;

    /** Of each clock its row in M; {@link #KNOWN} if it is exact or no segment depends on it. */
    private final int[] rows;
    /** Of each row its clock. */
    private final int[] unknown;
    /** Of each segment the row of a clock. */
    private final int[] senderRows;
    private final int[] receiverRows;
    /** 1/D. */
    private final double[] weights;
    /** M⁻¹. */
    private final DMatrixRMaj covariance;
    private final double[] perClock;
    private final double[] offsets;

    /**
     * Factors Σ.
     *
     * @param segments   measured.
     * @param variances  D; above 0.
     * @param clockSigma √K; a clock of 0 is exact and no unknown.
     */
    Precision(final List<MeasuredSegment> segments, final double[] variances, final double[] clockSigma) {
        unknown = segments.stream().filter((segment) -> segment.senderClock() != segment.receiverClock())
            .flatMapToInt((segment) -> IntStream.of(segment.senderClock(), segment.receiverClock()))
            .filter((clock) -> clockSigma[clock] > 0).distinct().sorted().toArray();
        rows = new int[clockSigma.length];
        Arrays.fill(rows, KNOWN);
        covariance = new DMatrixRMaj(unknown.length, unknown.length);
        for (int row = 0; row < unknown.length; row++) {
            rows[unknown[row]] = row;
            covariance.set(row, row, 1 / (clockSigma[unknown[row]] * clockSigma[unknown[row]]));
        }
        senderRows = new int[variances.length];
        receiverRows = new int[variances.length];
        weights = new double[variances.length];
        perClock = new double[unknown.length];
        offsets = new double[unknown.length];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = 1 / variances[i];
            final MeasuredSegment segment = segments.get(i);
            final boolean isOne = segment.senderClock() == segment.receiverClock();
            senderRows[i] = isOne ? KNOWN : rows[segment.senderClock()];
            receiverRows[i] = isOne ? KNOWN : rows[segment.receiverClock()];
            add(senderRows[i], senderRows[i], weights[i]);
            add(receiverRows[i], receiverRows[i], weights[i]);
            add(senderRows[i], receiverRows[i], -weights[i]);
            add(receiverRows[i], senderRows[i], -weights[i]);
        }
        if (unknown.length > 0 && !CommonOps_DDRM.invertSPD(covariance, covariance)) {
            throw new IllegalStateException("variances of delays or clocks are not above 0");
        }
    }

    private void add(final int row, final int column, final double value) {
        if (row != KNOWN && column != KNOWN) {
            covariance.add(row, column, value);
        }
    }

    /** {@return clocks that are unknown, ascending; not to be changed} */
    int[] unknownClocks() {
        return unknown;
    }

    /** {@return the segments that depend on the clock of a row, ascending} */
    int[] clockSegments(final int row) {
        return IntStream.range(0, weights.length).filter((i) -> receiverRows[i] == row || senderRows[i] == row).toArray();
    }

    /** {@return of each of them, 1 if the clock is its receiver's, else −1} */
    double[] clockSigns(final int row) {
        return Arrays.stream(clockSegments(row)).mapToDouble((i) -> receiverRows[i] == row ? 1 : -1).toArray();
    }

    /** The standard deviation of a clock's offset if all else is known; 0 if the clock is exact. */
    double clockSigma(final int clock, final double[] clockSigma) {
        return rows[clock] == KNOWN ? clockSigma[clock] : Math.sqrt(covariance.get(rows[clock], rows[clock]));
    }

    /** The offsets of all clocks, M⁻¹CᵀD⁻¹r. */
    double[] clockOffsets(final double[] r) {
        solve(r);
        return Arrays.stream(rows).mapToDouble((row) -> row == KNOWN ? 0 : offsets[row]).toArray();
    }

    private void solve(final double[] r) {
        Arrays.fill(perClock, 0);
        for (int i = 0; i < weights.length; i++) {
            addTo(perClock, i, weights[i] * r[i]);
        }
        for (int row = 0; row < offsets.length; row++) {
            double sum = 0;
            for (int column = 0; column < offsets.length; column++) {
                sum += covariance.data[row * offsets.length + column] * perClock[column];
            }
            offsets[row] = sum;
        }
    }

    private void addTo(final double[] sums, final int segment, final double value) {
        if (senderRows[segment] != KNOWN) {
            sums[senderRows[segment]] -= value;
        }
        if (receiverRows[segment] != KNOWN) {
            sums[receiverRows[segment]] += value;
        }
    }

    /** W r. */
    void apply(final double[] r, final double[] result) {
        solve(r);
        for (int i = 0; i < weights.length; i++) {
            final double bySender = senderRows[i] == KNOWN ? 0 : offsets[senderRows[i]];
            final double byReceiver = receiverRows[i] == KNOWN ? 0 : offsets[receiverRows[i]];
            result[i] = weights[i] * (r[i] - byReceiver + bySender);
        }
    }

    /** aᵀW a of a column with few entries. */
    double square(final int[] segments, final double[] shares) {
        Arrays.fill(perClock, 0);
        double sum = 0;
        for (int i = 0; i < segments.length; i++) {
            sum += weights[segments[i]] * shares[i] * shares[i];
            addTo(perClock, segments[i], weights[segments[i]] * shares[i]);
        }
        final int[] touched = IntStream.concat(Arrays.stream(segments).map((segment) -> senderRows[segment]),
            Arrays.stream(segments).map((segment) -> receiverRows[segment])).filter((row) -> row != KNOWN).distinct().toArray();
        for (final int row : touched) {
            for (final int column : touched) {
                sum -= perClock[row] * covariance.data[row * offsets.length + column] * perClock[column];
            }
        }
        return sum;
    }
}
