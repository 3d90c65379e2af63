package io.flowlag.tests.benchmark;

import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The options of {@code bin/benchmark files}, each {@code --name value}.
 *
 * @param packetCounts {@code --packets 5m,30m}: a table for each, and each profile; k and m are decimal.
 * @param profiles     {@code --profiles min64,mix}.
 * @param rounds       {@code --rounds 5}.
 * @param directory    {@code --directory target/benchmark}: captures, which are kept, and records.
 * @param exporters    {@code --exporters flowlag,yaf}; every one that is installed if empty.
 * @param programs     {@code --program yaf=/opt/yaf/bin/yaf}, repeatable: where programs are.
 */
record FileOptions(
    List<Integer> packetCounts, List<String> profiles, int rounds, Path directory, List<String> exporters,
    Map<String, Path> programs) {
    private static final long THOUSAND = 1_000;

    /**
     * Reads a command line.
     *
     * @throws IllegalArgumentException naming what is wrong.
     */
    static FileOptions of(final String[] arguments) {
        final Map<String, String> values = new HashMap<>(Map.of(
            "packets", "5m", "profiles", "min64,mix", "rounds", "5", "directory", "target/benchmark", "exporters", ""));
        final Map<String, Path> programs = new HashMap<>();
        for (int i = 0; i < arguments.length; i += 2) {
            final String name = arguments[i].startsWith("--") ? arguments[i].substring(2) : "";
            if (i + 1 == arguments.length) {
                throw new IllegalArgumentException("'" + arguments[i] + "' needs a value");
            }
            if (name.equals("program") && arguments[i + 1].indexOf('=') > 0) {
                final int equals = arguments[i + 1].indexOf('=');
                programs.put(arguments[i + 1].substring(0, equals), Path.of(arguments[i + 1].substring(equals + 1)));
            } else if (values.containsKey(name)) {
                values.put(name, arguments[i + 1]);
            } else {
                throw new IllegalArgumentException("'" + arguments[i] + "' is no option; bin/benchmark --help says more");
            }
        }
        return new FileOptions(
            list(values.get("packets")).stream().map(FileOptions::count).toList(), list(values.get("profiles")),
            count(values.get("rounds")), Path.of(values.get("directory")), list(values.get("exporters")), programs);
    }

    private static List<String> list(final String text) {
        return text.isEmpty() ? List.of() : Arrays.asList(text.split(","));
    }

    private static int count(final String text) {
        final String lower = text.toLowerCase(Locale.ROOT);
        final long unit = lower.endsWith("k") ? THOUSAND : lower.endsWith("m") ? THOUSAND * THOUSAND : 1;
        try {
            return Math.toIntExact(Math.multiplyExact(
                Long.parseLong(unit == 1 ? lower : lower.substring(0, lower.length() - 1)), unit));
        } catch (final NumberFormatException | ArithmeticException ex) {
            throw new IllegalArgumentException("'" + text + "' is no number such as 300, 100k or 5m", ex);
        }
    }

    /**
     * Whether an exporter is selected.
     *
     * @param exporter that may be.
     */
    boolean wants(final ComparedExporter exporter) {
        return exporters.isEmpty() || exporters.contains(exporter.exporterName());
    }
}
