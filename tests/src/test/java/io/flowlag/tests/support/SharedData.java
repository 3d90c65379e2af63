package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The shared captures, their truth and tools: in the folder that {@code FLOWLAG_SHARED} names, otherwise in {@code ../shared}.
 * Not part of the repository. Writes to {@code target/captures-PID.txt} which captures the tests asked for.
 */
public final class SharedData {
    private static final Path ROOT = System.getenv("FLOWLAG_SHARED") == null ?
        Checkout.root().resolveSibling("shared") : Path.of(System.getenv("FLOWLAG_SHARED"));
    private static final Set<String> READ = ConcurrentHashMap.newKeySet();

    /** How {@code meter} must end, from the manifest's {@code expect}. */
    public enum Expectation {
        /** Flow records. */
        FLOWS("flows", 0),
        /** No packets. */
        EMPTY("empty", 0),
        /** Every packet refused. */
        SKIP("skip-or-other-linktype", 0),
        /** Everything before the damage exported. */
        READ_THEN_ERROR("read-then-error", 65),
        /** Refused as a whole. */
        REFUSE_FILE("refuse-file", 66);

        private final String text;
        private final int exitCode;

        Expectation(final String text, final int exitCode) {
            this.text = text;
            this.exitCode = exitCode;
        }

        /** {@return the product's exit code} */
        public int exitCode() {
            return exitCode;
        }

        private static Expectation of(final String text) {
            for (final Expectation expectation : values()) {
                if (expectation.text.equals(text)) {
                    return expectation;
                }
            }
            throw new IllegalArgumentException("expect=" + text);
        }
    }

    /** A line of the manifest. */
    public record Capture(Path file, Expectation expectation, boolean agreed, long packets) {
        /** {@return the ground truth's flows; none if there is no file of them} */
        public List<Flow> truth() {
            final Path csv = Path.of(file + ".flows.csv");
            return Files.exists(csv) ? Flows.ofTruthFile(csv) : List.of();
        }

        @Override
        public String toString() {
            return file.getParent().getFileName() + "/" + file.getFileName();
        }
    }

    private SharedData() {
    }

    /** {@return whether the shared data are there} */
    public static boolean isPresent() {
        return Files.isDirectory(ROOT);
    }

    /** {@return the directory, or the test ends here} */
    public static Path require() {
        if (!isPresent()) {
            throw Tools.missing(ROOT + " is not there");
        }
        return ROOT;
    }

    /**
     * A capture.
     *
     * @param relative path under {@code data/captures}.
     * @return the file; the test ends here if the shared data are not there.
     */
    public static Path capture(final String relative) {
        final Path file = require().resolve("data/captures").resolve(relative);
        if (READ.add(relative)) {
            try {
                Files.writeString(Checkout.root().resolve("tests/target/captures-" + ProcessHandle.current().pid() + ".txt"),
                    relative + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
        return file;
    }

    /** {@return every capture of the manifest} */
    public static List<Capture> manifest() {
        final List<List<String>> rows = Csv.read(require().resolve("data/manifest.csv"));
        final Map<String, Integer> column = new HashMap<>();
        for (int i = 0; i < rows.get(0).size(); i++) {
            column.put(rows.get(0).get(i), i);
        }
        final List<Capture> captures = new ArrayList<>();
        for (final List<String> row : rows.subList(1, rows.size())) {
            captures.add(new Capture(
                capture(row.get(column.get("file"))),
                Expectation.of(row.get(column.get("expect"))),
                "agree".equals(row.get(column.get("trust"))),
                row.get(column.get("packets")).isEmpty() ? 0 : Long.parseLong(row.get(column.get("packets")))));
        }
        return captures;
    }

    /** Just enough of RFC 4180: quoted fields with commas and doubled quotes, no line breaks in fields. */
    private static final class Csv {
        static List<List<String>> read(final Path file) {
            try {
                return Files.readAllLines(file).stream().filter(line -> !line.isEmpty()).map(Csv::fields).toList();
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }

        private static List<String> fields(final String line) {
            final List<String> fields = new ArrayList<>();
            final StringBuilder field = new StringBuilder();
            boolean quoted = false;
            for (int i = 0; i < line.length(); i++) {
                final char c = line.charAt(i);
                if (c == '"') {
                    if (quoted && i + 1 < line.length() && line.charAt(i + 1) == '"') {
                        field.append('"');
                        i++;
                    } else {
                        quoted = !quoted;
                    }
                } else if (c == ',' && !quoted) {
                    fields.add(field.toString());
                    field.setLength(0);
                } else {
                    field.append(c);
                }
            }
            fields.add(field.toString());
            return fields;
        }
    }
}
