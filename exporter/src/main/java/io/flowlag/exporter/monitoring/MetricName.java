package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.CounterId;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Maps a label of the statistics to a metric's name: base units (seconds, bytes) as suffix, reasons, sessions and segments as
 * labels. Immutable.
 *
 * @param name   with the product's prefix, without _total.
 * @param labels names and values, alternating.
 * @param factor by which the value of the statistics is multiplied.
 */
record MetricName(String name, List<String> labels, double factor) {
    private static final String PREFIX = "flowlag_";
    private static final double NS = 1e-9;
    private static final Pattern SESSION = Pattern.compile(
        "(.+)_(session|segment)_([0-9]+|none)((?:_class_[0-9]+)?)");
    private static final Pattern CLASS = Pattern.compile("(.+)_class_([0-9]+)");
    /** Counters that differ only in a reason at the end. */
    private static final String[][] REASONS = {
        {"refused_", "refused_packets"},
        {"exchange_ended_", "exchange_ended_connections"},
        {"exchange_refused_", "exchange_refused_messages"}, {"flows_ended_", "flows_ended"}};
    private static final String REFERENCES = "references_";
    /** Only those of the process; the delay stage counts references too. */
    private static final List<String> REFUSED_REFERENCES = Arrays.stream(CounterId.values()).map(CounterId::label)
        .filter((label) -> label.startsWith(REFERENCES)).toList();

    /** The metric of a counter or gauge. The unit is empty where the label says it. */
    static MetricName of(final String label, final String unit) {
        final Matcher session = SESSION.matcher(label);
        if (session.matches()) {
            return of(session.group(1) + session.group(4), unit)
                .labelled(session.group(2) + "_", session.group(2), session.group(3));
        }
        final Matcher ofClass = CLASS.matcher(label);
        if (ofClass.matches()) {
            return of(ofClass.group(1), unit).labelled("", "class", ofClass.group(2));
        }
        if (REFUSED_REFERENCES.contains(label)) {
            return new MetricName(
                PREFIX + "refused_references", List.of("reason", label.substring(REFERENCES.length())), 1);
        }
        for (final String[] each : REASONS) {
            if (label.startsWith(each[0])) {
                return new MetricName(PREFIX + each[1], List.of("reason", label.substring(each[0].length())), 1);
            }
        }
        return inBaseUnits(label, unit);
    }

    private MetricName labelled(final String prefix, final String label, final String value) {
        final List<String> both = new ArrayList<>(labels);
        both.add(label);
        both.add(value);
        return new MetricName(PREFIX + prefix + name.substring(PREFIX.length()), List.copyOf(both), factor);
    }

    private static MetricName inBaseUnits(final String label, final String unit) {
        String name = "_" + label + "_";
        double factor = 1;
        String suffix = "";
        if (name.contains("_octets_") || name.contains("_bytes_") || "octets".equals(unit)) {
            name = name.replace("_octets_", "_").replace("_bytes_", "_");
            suffix = "bytes_";
        } else if (name.contains("_ns_per_byte_")) {
            name = name.replace("_ns_per_byte_", "_seconds_per_byte_");
            factor = NS;
        } else if (name.contains("_ns_") || "ns".equals(unit)) {
            name = name.replace("_ns_", "_");
            suffix = "seconds_";
            factor = NS;
        } else if (name.endsWith("_ppb_")) {
            name = name.replace("_ppb_", "_ratio_");
            factor = NS;
        } else if (name.startsWith("_utilization_") || name.startsWith("_reference_share_")) {
            suffix = "ratio_";
        } else if (!unit.isEmpty() && !name.contains("_" + unit.replace(' ', '_') + "_")) {
            suffix = unit.replace(' ', '_') + "_";
        }
        return new MetricName(PREFIX + (name + suffix).substring(1, (name + suffix).length() - 1), List.of(), factor);
    }
}
