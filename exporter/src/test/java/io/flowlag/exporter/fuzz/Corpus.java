package io.flowlag.exporter.fuzz;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Inputs that are kept: {@code src/test/resources/fuzz/TARGET}, seeds and those that once broke a law. */
public final class Corpus {
    private Corpus() {
    }

    /**
     * Reads the inputs of a target.
     *
     * @param name of the target.
     * @return the inputs, by name of their files; none if there is no folder.
     */
    public static List<byte[]> of(final String name) {
        final URL folder = Corpus.class.getResource("/fuzz/" + name);
        if (folder == null) {
            return List.of();
        }
        try {
            return folder(Path.of(folder.toURI()));
        } catch (final URISyntaxException ex) {
            throw new IllegalStateException(ex);
        }
    }

    static List<byte[]> folder(final Path folder) {
        final List<byte[]> inputs = new ArrayList<>();
        try (Stream<Path> files = Files.list(folder)) {
            for (final Path file : files.sorted().toList()) {
                inputs.add(Files.readAllBytes(file));
            }
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return inputs;
    }
}
