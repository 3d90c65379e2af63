package io.flowlag.exporter.listing;

import io.flowlag.common.config.Names;

import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;

/** What rows are sorted by; each has a value, or null where it is unknown. */
public enum SortKey {
    MEAN((row) -> row.delay().meanNs()),
    BOUND((row) -> row.delay().boundNs()),
    SD((row) -> row.delay().spread().standardDeviationNs()),
    P50((row) -> row.delay().spread().p50Ns()),
    P90((row) -> row.delay().spread().p90Ns()),
    P99((row) -> row.delay().spread().p99Ns()),
    MAX((row) -> row.delay().spread().maximumNs()),
    LOST((row) -> row.loss().packets()),
    LOSS(FlowRow::lossShare),
    PACKETS((row) -> row.traffic().packets()),
    OCTETS((row) -> row.traffic().octets()),
    FLOWS((row) -> row.traffic().flows()),
    START((row) -> row.traffic().startNs()),
    DURATION((row) -> row.traffic().durationNs()),
    HANDSHAKE((row) -> row.tcp().handshakeNs()),
    RTT((row) -> row.tcp().roundTripMeanNs()),
    RETRANSMITTED((row) -> row.tcp().retransmitted()),
    REORDERED((row) -> row.tcp().outOfOrder()),
    ZERO_WINDOWS((row) -> row.tcp().zeroWindows());

    /** What other tools call a key. */
    private static final Map<String, String> OTHER_WORDS =
        Map.of("bytes", "octets", "size", "octets", "delay", "mean", "jitter", "sd", "retransmissions", "retransmitted");

    private final Function<FlowRow, Number> value;

    SortKey(final Function<FlowRow, Number> value) {
        this.value = value;
    }

    /** {@return its name on the command line} */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** {@return the value of a row; NaN if unknown} */
    public double of(final FlowRow row) {
        final Number number = value.apply(row);
        return number == null ? Double.NaN : number.doubleValue();
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
