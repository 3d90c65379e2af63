package io.flowlag.exporter.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

/** The captures of the shared data, if they lie beside the checkout. */
public final class RealCaptures {
    private static final String FOLDER = "shared/data/captures";

    private RealCaptures() {
    }

    /** {@return their paths, sorted; none without shared data} */
    public static List<Path> files() {
        Path above = Path.of("").toAbsolutePath();
        while (above != null && !Files.isDirectory(above.resolve(FOLDER))) {
            above = above.getParent();
        }
        if (above == null) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(above.resolve(FOLDER))) {
            return files.filter(Files::isRegularFile).filter((each) -> !each.toString().endsWith(".csv")).sorted().toList();
        } catch (final IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
