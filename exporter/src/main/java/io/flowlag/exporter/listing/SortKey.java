package io.flowlag.exporter.listing;

import io.flowlag.common.config.Names;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/** What rows are sorted by; each has a value, or null where it is unknown. */
public enum SortKey {
    MEAN, BOUND, SD, P50, P90, P99, MAX, LOST, LOSS, PACKETS, OCTETS, FLOWS, START, DURATION, HANDSHAKE, RTT, RETRANSMITTED,
    REORDERED, ZERO_WINDOWS;

    /** What other tools call a key. */
    private static final Map<String, String> OTHER_WORDS =
        Map.of("bytes", "octets", "size", "octets", "delay", "mean", "jitter", "sd", "retransmissions", "retransmitted");

    /** {@return its name on the command line} */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** {@return the value of a row; NaN if unknown} */
    public double of(final FlowRow row) {
        final Number number = value(row);
        return number == null ? Double.NaN : number.doubleValue();
    }

    private Number value(final FlowRow row) {
        return switch (this) {
            case MEAN -> row.delay().meanNs();
            case BOUND -> row.delay().boundNs();
            case SD -> row.delay().spread().standardDeviationNs();
            case P50 -> row.delay().spread().p50Ns();
            case P90 -> row.delay().spread().p90Ns();
            case P99 -> row.delay().spread().p99Ns();
            case MAX -> row.delay().spread().maximumNs();
            case LOST -> row.loss().packets();
            case LOSS -> row.lossShare();
            case PACKETS -> row.traffic().packets();
            case OCTETS -> row.traffic().octets();
            case FLOWS -> row.traffic().flows();
            case START -> row.traffic().startNs();
            case DURATION -> row.traffic().durationNs();
            case HANDSHAKE -> row.tcp().handshakeNs();
            case RTT -> row.tcp().roundTripMeanNs();
            case RETRANSMITTED -> row.tcp().retransmitted();
            case REORDERED -> row.tcp().outOfOrder();
            case ZERO_WINDOWS -> row.tcp().zeroWindows();
        };
    }

    /** {@return whether it is known only where TCP is followed} */
    public boolean isOfTcp() {
        return compareTo(HANDSHAKE) >= 0;
    }

    /** {@return what a quantile takes, in words; empty for another key} */
    String need() {
        return switch (this) {
            case P50 -> " (20 delays or more in one record)";
            case P90 -> " (100 delays or more in one record)";
            case P99 -> " (1000 delays or more in one record)";
            default -> "";
        };
    }

    /** {@return the names, for help and errors} */
    public static String labels() {
        return Arrays.stream(values()).map(SortKey::label).collect(Collectors.joining(", "));
    }

    /** Finds a key by its name. Throws {@link IllegalArgumentException} if there is none. */
    static SortKey parse(final String text) {
        final String name = text.toLowerCase(Locale.ROOT);
        return Arrays.stream(values()).filter((each) -> each.label().equals(name)).findFirst()
            .orElseThrow(() -> new IllegalArgumentException("must be one of " + labels() + Names.didYouMean(
                OTHER_WORDS.getOrDefault(name, name), Arrays.stream(values()).map(SortKey::label).toList())));
    }
}
