package io.flowlag.exporter.listing;

import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A duration of the command line: a number, which may have decimals, and a unit. Has no state. */
public final class DurationText {
    /** The units, for messages. */
    public static final String UNIT_NAMES = "ns, us, ms, s, m, h";

    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) ?(ns|us|ms|s|m|h)");
    private static final Map<String, Double> UNITS =
        Map.of("ns", 1.0, "us", 1e3, "ms", 1e6, "s", 1e9, "m", 6e10, "h", 3.6e12);

    private DurationText() {
    }

    /** {@return the duration in ns; null if the text is none} */
    public static Double ns(final String text) {
        final Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
        return matcher.matches() ? Double.parseDouble(matcher.group(1)) * UNITS.get(matcher.group(2)) : null;
    }
}
