package io.flowlag.exporter.decode;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** The real captures next to the checkout, their manifest, and the flows that tshark found in each. */
public final class SharedData {
    private static final int PORTS_END_COLUMN = 6;
    private static final int PACKETS_COLUMN = 6;
    private static final int IP_BYTES_COLUMN = 7;

    private static final Set<String> READ = ConcurrentHashMap.newKeySet();

    private SharedData() {
    }

    /** The data folder: in the folder named by FLOWLAG_SHARED, otherwise next to the checkout or above it. */
    public static Optional<Path> find() {
        final String shared = System.getenv("FLOWLAG_SHARED");
        if (shared != null) {
            return Optional.of(Path.of(shared, "data")).filter(data -> Files.isRegularFile(data.resolve("manifest.csv")));
        }
        return Stream.iterate(Path.of("").toAbsolutePath(), Objects::nonNull, Path::getParent)
            .map(above -> above.resolve("shared/data"))
            .filter(data -> Files.isRegularFile(data.resolve("manifest.csv"))).findFirst();
    }

    private static Path folder() {
        final Optional<Path> folder = find();
        assumeTrue(folder.isPresent(), "no ../shared/data beside the checkout");
        return folder.get();
    }

    /** A capture of the data folder, noted in target/captures-PID.txt; the test is skipped if there is none. */
    public static Path capture(final String name) {
        if (READ.add(name)) {
            try {
                Files.writeString(Path.of("target/captures-" + ProcessHandle.current().pid() + ".txt"), name + "\n",
                    StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return folder().resolve("captures").resolve(name);
    }

    /** A map from column to value for each capture; the test is skipped if there is none. */
    public static List<Map<String, String>> manifest() {
        final List<String> lines = lines(folder().resolve("manifest.csv"));
        final String[] names = lines.get(0).split(",");
        return lines.stream().skip(1).map(line -> row(names, line)).toList();
    }

    /** "packets ip_bytes" by "ip_version,src,dst,proto,sport,dport"; empty where the truth has no file. */
    static Map<String, String> flows(final Path capture) {
        final Map<String, String> flows = new TreeMap<>();
        final Path truth = capture.resolveSibling(capture.getFileName() + ".flows.csv");
        if (Files.exists(truth)) {
            for (final String line : lines(truth).subList(1, lines(truth).size())) {
                final String[] values = line.split(",");
                final String key = String.join(",", List.of(values).subList(0, PORTS_END_COLUMN));
                flows.put(key, values[PACKETS_COLUMN] + " " + values[IP_BYTES_COLUMN]);
            }
        }
        return flows;
    }

    private static List<String> lines(final Path file) {
        try {
            return Files.readAllLines(file);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static Map<String, String> row(final String[] names, final String line) {
        final String[] values = line.split(",(?=(?:[^\"]*\"[^\"]*\")*[^\"]*$)", -1);
        final Map<String, String> row = new HashMap<>();
        for (int i = 0; i < names.length; i++) {
            row.put(names[i], values[i]);
        }
        return row;
    }
}
