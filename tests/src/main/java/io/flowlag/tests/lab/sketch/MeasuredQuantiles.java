package io.flowlag.tests.lab.sketch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** A distribution that was measured: its quantiles from a file that names its source in the first line. */
final class MeasuredQuantiles {
    private static final int HEADER_LINES = 2;

    private final double[][] quantiles;

    MeasuredQuantiles(final String file) {
        try (InputStream in = MeasuredQuantiles.class.getResourceAsStream(file);
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            quantiles = reader.lines().skip(HEADER_LINES)
                .map(line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
                .toArray(double[][]::new);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** The quantile of a share, linear between quantiles. */
    double linear(final double share) {
        final int upper = above(share);
        return quantiles[upper - 1][1] + position(upper, share) * (quantiles[upper][1] - quantiles[upper - 1][1]);
    }

    /** The quantile of a share, a power between quantiles, for sizes with a long tail. */
    double logarithmic(final double share) {
        final int upper = above(share);
        return quantiles[upper - 1][1] * Math.pow(quantiles[upper][1] / quantiles[upper - 1][1], position(upper, share));
    }

    private int above(final double share) {
        int upper = 1;
        while (upper < quantiles.length - 1 && quantiles[upper][0] < share) {
            upper++;
        }
        return upper;
    }

    private double position(final int upper, final double share) {
        return (share - quantiles[upper - 1][0]) / (quantiles[upper][0] - quantiles[upper - 1][0]);
    }
}
