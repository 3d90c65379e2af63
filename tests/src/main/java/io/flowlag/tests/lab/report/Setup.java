package io.flowlag.tests.lab.report;

import java.util.Arrays;
import java.util.function.LongFunction;

/**
 * Size and seeds of an experiment.
 *
 * @param seeds     how many, 1 or more.
 * @param firstSeed of an experiment that takes one; 0 for its own.
 */
public record Setup(Scale scale, int seeds, long firstSeed) {
    /** Checks the seeds. */
    public Setup {
        if (seeds < 1) {
            throw new IllegalArgumentException("seeds=" + seeds + ": must be at least 1");
        }
    }

    /**
     * Seeds from where the experiment wants them.
     *
     * @param seeds how many, 1 or more.
     */
    public Setup(final Scale scale, final int seeds) {
        this(scale, seeds, 0);
    }

    /** Where seeds begin. Returns the seed that was asked for, else its own. */
    public long firstSeed(final long own) {
        return firstSeed == 0 ? own : firstSeed;
    }

    /** As many seeds as the scale has. */
    public static Setup of(final Scale scale) {
        return new Setup(scale, scale.seeds());
    }

    /** A number for each scale. */
    public int size(final int test, final int small, final int paper) {
        return switch (scale) {
            case TEST -> test;
            case SMALL -> small;
            case PAPER -> paper;
        };
    }

    /**
     * Runs something for every seed.
     *
     * @param row takes a seed, from 1 on, and gives a row of numbers, equally long for all.
     * @return the medians over seeds, column by column.
     */
    public double[] medians(final LongFunction<double[]> row) {
        final double[][] rows = new double[seeds][];
        for (int i = 0; i < seeds; i++) {
            rows[i] = row.apply(i + 1);
        }
        final double[] medians = new double[rows[0].length];
        for (int column = 0; column < medians.length; column++) {
            final int index = column;
            medians[column] = Numbers.median(Arrays.stream(rows).mapToDouble(values -> values[index]).toArray());
        }
        return medians;
    }
}
