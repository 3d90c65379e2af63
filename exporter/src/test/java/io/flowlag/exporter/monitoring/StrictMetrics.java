package io.flowlag.exporter.monitoring;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A reader of the Prometheus text format 0.0.4 and of OpenMetrics 1.0.0 that takes nothing that the formats do not allow:
 * written from
 * their specifications, not from the writer. Names and types are checked by the conventions too: base units, _total on
 * counters alone.
 */
final class StrictMetrics {
    private static final Pattern SAMPLE = Pattern.compile(
        "([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\\{((?:[a-zA-Z_][a-zA-Z0-9_]*=\"(?:[^\"\\\\\n]|\\\\[\\\\\"n])*\",?)*)\\})? (\\S+)");
    private static final Pattern LABEL = Pattern.compile("([a-zA-Z_][a-zA-Z0-9_]*)=\"((?:[^\"\\\\]|\\\\[\\\\\"n])*)\"(,|$)");
    private static final Pattern FOREIGN_UNIT = Pattern.compile(".*_(ns|us|ms|octets|bits|percent|ppb|ppm|minutes)(_.*)?");

    private final Map<String, String> types = new LinkedHashMap<>();
    private final Map<String, String> helps = new HashMap<>();
    private final Map<String, Double> samples = new LinkedHashMap<>();

    static StrictMetrics parse(final String text, final boolean isOpenMetrics) {
        final StrictMetrics metrics = new StrictMetrics();
        metrics.read(text, isOpenMetrics);
        return metrics;
    }

    Map<String, String> types() {
        return types;
    }

    Map<String, String> helps() {
        return helps;
    }

    /** {@return values by name with labels in their order} */
    Map<String, Double> samples() {
        return samples;
    }

    private static void require(final boolean condition, final String line) {
        if (!condition) {
            throw new AssertionError(line);
        }
    }

    private void read(final String text, final boolean isOpenMetrics) {
        require(text.endsWith("\n") && !text.contains("\r"), "line ends");
        final List<String> lines = new ArrayList<>(List.of(text.split("\n")));
        if (isOpenMetrics) {
            require("# EOF".equals(lines.remove(lines.size() - 1)), "no # EOF");
        }
        final Set<String> families = new HashSet<>();
        String family = null;
        for (final String line : lines) {
            if (line.startsWith("# HELP ")) {
                final String[] words = line.split(" ", 4);
                require(words.length == 4 && families.add(words[2]), "a family twice, or no help: " + line);
                require(words[3].matches("([^\\\\]|\\\\[\\\\n" + (isOpenMetrics ? "\"" : "") + "])+"), "escapes: " + line);
                family = words[2];
                helps.put(family, words[3]);
            } else if (line.startsWith("# TYPE ")) {
                final String[] words = line.split(" ");
                require(words.length == 4 && words[2].equals(family), "not behind its HELP: " + line);
                require(words[3].matches(isOpenMetrics ? "counter|gauge|histogram|unknown" : "counter|gauge|histogram|untyped"),
                    line);
                types.put(family, words[3]);
                checkName(family, words[3], isOpenMetrics);
            } else {
                require(!line.startsWith("#"), "another comment: " + line);
                sample(line, family, isOpenMetrics);
            }
        }
        checkHistograms();
    }

    private static void checkName(final String name, final String type, final boolean isOpenMetrics) {
        require(name.matches("flowlag_[a-z0-9]+(_[a-z0-9]+)*"), "name: " + name);
        require(!FOREIGN_UNIT.matcher(name).matches(), "no base unit: " + name);
        require(name.endsWith("_total") == ("counter".equals(type) && !isOpenMetrics), "_total: " + name + " " + type);
        require(!name.matches(".*_(bucket|count|sum)"), "reserved end: " + name);
    }

    private void sample(final String line, final String family, final boolean isOpenMetrics) {
        final Matcher matcher = SAMPLE.matcher(line);
        require(matcher.matches(), "no sample: " + line);
        final String name = matcher.group(1);
        final String type = types.get(family);
        final String suffix = name.startsWith(family) ? name.substring(family.length()) : "?";
        require(switch (type) {
            case "histogram" -> suffix.matches("_bucket|_sum|_count");
            case "counter" -> suffix.equals(isOpenMetrics ? "_total" : "");
            default -> suffix.isEmpty();
        }, "not of the family " + family + ": " + line);
        final Map<String, String> labels = new LinkedHashMap<>();
        if (matcher.group(2) != null) {
            final Matcher label = LABEL.matcher(matcher.group(2));
            int end = 0;
            while (label.find()) {
                require(label.start() == end, "labels: " + line);
                require(labels.put(label.group(1), label.group(2)) == null, "a label twice: " + line);
                end = label.end();
            }
            require(end == matcher.group(2).length() && !matcher.group(2).endsWith(","), "labels: " + line);
        }
        final String text = matcher.group(3);
        final double value = switch (text) {
            case "+Inf" -> Double.POSITIVE_INFINITY;
            case "-Inf" -> Double.NEGATIVE_INFINITY;
            case "NaN" -> Double.NaN;
            default -> {
                require(text.matches("-?[0-9]+(\\.[0-9]+)?([eE][+-]?[0-9]+)?"), "value: " + line);
                yield Double.parseDouble(text);
            }
        };
        require(!"counter".equals(type) || value >= 0, "a counter below 0: " + line);
        require(samples.put(name + labels, value) == null, "a sample twice: " + line);
    }

    private void checkHistograms() {
        final Map<String, Double> last = new HashMap<>();
        final Map<String, Double> boundaries = new HashMap<>();
        samples.forEach((key, value) -> {
            final Matcher bucket = Pattern.compile("(.*)_bucket\\{(.*), le=(.*)\\}").matcher(key);
            if (bucket.matches()) {
                final String series = bucket.group(1) + "_count{" + bucket.group(2) + "}";
                final double boundary = "+Inf".equals(bucket.group(3)) ? Double.POSITIVE_INFINITY :
                    Double.parseDouble(bucket.group(3));
                require(boundary > boundaries.getOrDefault(series, Double.NEGATIVE_INFINITY), "boundaries: " + key);
                require(value >= last.getOrDefault(series, 0.0), "buckets must not fall: " + key);
                boundaries.put(series, boundary);
                last.put(series, value);
            }
        });
        last.forEach((series, count) -> {
            require(boundaries.get(series) == Double.POSITIVE_INFINITY, "no +Inf: " + series);
            require(count.equals(samples.get(series)), "+Inf is not the count: " + series);
        });
    }
}
