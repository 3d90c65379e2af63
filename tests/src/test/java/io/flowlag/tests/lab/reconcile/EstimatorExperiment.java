package io.flowlag.tests.lab.reconcile;

import io.flowlag.sketch.reconcile.SignedCounts;
import io.flowlag.tests.lab.comparator.DifferenceEstimator;
import io.flowlag.tests.lab.comparator.MinHashEstimator;
import io.flowlag.tests.lab.comparator.StrataEstimator;

import java.util.SplittableRandom;

/** Compares estimators of the set difference for late binding: all of about 8 KiB, a million packets. */
public final class EstimatorExperiment {
    private static final int PAPER_PACKETS = 1_000_000;

    private EstimatorExperiment() {
    }

    /**
     * Runs it.
     *
     * @param seeds how many, from 0.
     * @param scale share of the packets and differences.
     * @return for each difference the median and the largest relative error of each estimator.
     */
    public static Rows run(final int seeds, final double scale) {
        final Rows table = Rows.of("Relative error of the estimated set difference: median, largest", "difference",
            "signed counts", "largest", "MinHash", "largest ", "strata", "largest  ");
        for (final int paper : new int[]{10, 100, 1_000, 10_000, 100_000}) {
            final int items = (int)Math.max(1, paper * scale);
            final double[] row = new double[7];
            row[0] = items;
            for (int kind = 0; kind < 3; kind++) {
                final double[] errors = new double[seeds];
                for (int seed = 0; seed < seeds; seed++) {
                    errors[seed] = error(kind, seed, items, (int)(PAPER_PACKETS * scale));
                    row[2 + 2 * kind] = Math.max(row[2 + 2 * kind], errors[seed]);
                }
                row[1 + 2 * kind] = Rows.median(errors);
            }
            table.add(row);
        }
        return table;
    }

    private static double error(final int kind, final int seed, final int items, final int packets) {
        final SplittableRandom random = new SplittableRandom(seed);
        final DifferenceEstimator own = estimator(kind, seed);
        final DifferenceEstimator other = estimator(kind, seed);
        for (int packet = 0; packet < packets; packet++) {
            final long identifier = random.nextLong();
            if (packet >= items || packet % 2 == 0) {
                own.add(identifier);
            }
            if (packet >= items || packet % 2 != 0) {
                other.add(identifier);
            }
        }
        return Math.abs(own.estimate(other.image()) / items - 1);
    }

    private static DifferenceEstimator estimator(final int kind, final long seed) {
        return switch (kind) {
            case 0 -> DifferenceEstimator.of(new SignedCounts(1_024, seed));
            case 1 -> new MinHashEstimator(1_024, seed);
            default -> new StrataEstimator(14, 12, seed);
        };
    }
}
