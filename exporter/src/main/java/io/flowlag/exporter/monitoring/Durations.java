package io.flowlag.exporter.monitoring;

import java.util.Locale;

/** Formats numbers for narrow columns. Stateless. */
final class Durations {
    private static final double[] SCALES = {1e9, 1e6, 1e3, 1};
    private static final String[] UNITS = {"s", "ms", "us", "ns"};
    private static final double[] COUNTS = {1e12, 1e9, 1e6, 1e3};
    private static final String[] LETTERS = {"T", "G", "M", "k"};

    private Durations() {
    }

    /** {@return such as 1.23ms; - for null} */
    static String text(final Long ns) {
        if (ns == null) {
            return "-";
        }
        for (int i = 0; i < SCALES.length; i++) {
            if (Math.abs((double)ns) >= SCALES[i] || i == SCALES.length - 1) {
                final double value = ns / SCALES[i];
                final int digits = i == SCALES.length - 1 || Math.abs(value) >= 100 ? 0 : Math.abs(value) >= 10 ? 1 : 2;
                return String.format(Locale.ROOT, "%." + digits + "f%s", value, UNITS[i]);
            }
        }
        throw new IllegalStateException();
    }

    /** {@return such as 12.3k; the number itself below 10 000} */
    static String count(final double value) {
        if (Math.abs(value) >= 10_000) {
            for (int i = 0; i < COUNTS.length; i++) {
                if (Math.abs(value) >= COUNTS[i]) {
                    return String.format(Locale.ROOT, "%.1f%s", value / COUNTS[i], LETTERS[i]);
                }
            }
        }
        return String.format(Locale.ROOT, "%.0f", value);
    }

    /** {@return such as 1:02:03} */
    static String clock(final long ms) {
        final long seconds = Math.max(0, ms) / 1000;
        return String.format(Locale.ROOT, "%d:%02d:%02d", seconds / 3600, seconds / 60 % 60, seconds % 60);
    }
}
