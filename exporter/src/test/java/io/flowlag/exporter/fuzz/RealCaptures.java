package io.flowlag.exporter.fuzz;

import io.flowlag.exporter.decode.SharedData;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/** The captures of the shared data, if they lie beside the checkout. */
public final class RealCaptures {
    private RealCaptures() {
    }

    /** {@return their paths, sorted; none without shared data} */
    public static List<Path> files() {
        final Optional<Path> data = SharedData.find();
        if (data.isEmpty()) {
            return List.of();
        }
        try (Stream<Path> files = Files.walk(data.get().resolve("captures"))) {
            return files.filter(Files::isRegularFile).filter((each) -> !each.toString().endsWith(".csv")).sorted().toList();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
