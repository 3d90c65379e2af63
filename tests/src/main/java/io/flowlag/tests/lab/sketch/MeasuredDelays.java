package io.flowlag.tests.lab.sketch;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/** Delays that were measured: quantiles of a 5G downlink, linear between them. The file names its source. */
final class MeasuredDelays {
    private static final String FILE = "delay-5g-downlink.csv";
    private static final int HEADER_LINES = 2;
    private static final double[][] QUANTILES = read();

    private MeasuredDelays() {
    }

    private static double[][] read() {
        try (InputStream in = MeasuredDelays.class.getResourceAsStream(FILE);
            BufferedReader reader = new BufferedReader(new InputStreamReader(in, StandardCharsets.UTF_8))) {
            final List<String> lines = reader.lines().skip(HEADER_LINES).toList();
            return lines.stream().map(line -> Arrays.stream(line.split(",")).mapToDouble(Double::parseDouble).toArray())
                .toArray(double[][]::new);
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** The delay that a share of the packets does not exceed, ns. */
    static long delayNs(final double share) {
        int upper = 1;
        while (QUANTILES[upper][0] < share) {
            upper++;
        }
        final double[] low = QUANTILES[upper - 1];
        final double[] high = QUANTILES[upper];
        return Math.round(1e3 * (low[1] + (share - low[0]) / (high[0] - low[0]) * (high[1] - low[1])));
    }
}
