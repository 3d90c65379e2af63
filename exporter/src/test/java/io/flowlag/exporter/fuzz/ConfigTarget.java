package io.flowlag.exporter.fuzz;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.config.ExporterConfig;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;

/** Configuration files: each is a configuration, or refused with at least one line that says why. */
final class ConfigTarget implements FuzzTarget {
    private static final int MAX_BYTES = 384;
    private static final int LINES_OF_A_PIECE = 3;

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("config"));
        Path above = Path.of("").toAbsolutePath();
        while (!Files.isDirectory(above.resolve("docs/examples"))) {
            above = above.getParent();
        }
        try (Stream<Path> examples = Files.list(above.resolve("docs/examples"))) {
            for (final Path each : examples.sorted().toList()) {
                seeds.add(Files.readAllBytes(each));
            }
            addPieces(Files.readAllLines(above.resolve("docs/flowlag.example.yaml")), seeds);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
        return seeds;
    }

    /** Every section of the whole example, with its keys no longer behind a number sign. */
    private static void addPieces(final List<String> lines, final List<byte[]> seeds) {
        final StringBuilder piece = new StringBuilder();
        int count = 0;
        for (final String line : lines) {
            final String key = line.replaceFirst("^( *)#( *[a-z-]+:.*)$", "$1$2");
            if (!key.isBlank() && !key.strip().startsWith("#")) {
                piece.append(key).append('\n');
                count++;
            }
            if (count >= LINES_OF_A_PIECE && !key.startsWith("  ")) {
                seeds.add(piece.toString().getBytes(StandardCharsets.UTF_8));
                piece.setLength(0);
                count = 0;
            }
        }
        seeds.add(piece.toString().getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public List<byte[]> dictionary() {
        return Stream.concat(ConfigTable.keys().stream().map((each) -> each.name() + ": "),
            Stream.of("10ms", "1h", "64k", "on", "off", "[a, b]", "{a: b}", "&a ", "*a", "!!int ", "|\n  ", "- ", "\n", "\t",
                ": ", "# ", "\"", "'", "udp://192.0.2.1:4739", "tls://[2001:db8::1]:4740", "10.0.0.0/8", "300.1.1.1/24", "1e9",
                "0x10", "-1", "99999999999999999999", "~", "---\n", "...\n", "<<: *a\n"))
            .map((each) -> each.getBytes(StandardCharsets.UTF_8)).toList();
    }

    @Override
    public long take(final byte[] octets, final int length) {
        try {
            final ExporterConfig config = new ConfigLoader().text(
                "fuzz.yaml", new String(octets, 0, length, StandardCharsets.UTF_8)).conclude();
            return 1 + Math.abs(Objects.hash(config.metering(), config.capture())) % 64;
        } catch (final ConfigurationException ex) {
            if (ex.errors().isEmpty() || ex.errors().stream().anyMatch(String::isBlank)) {
                throw new AssertionError("a refusal without a word", ex);
            }
            return -1 - ex.errors().size() - 100L * (ex.errors().get(0).length() % 64);
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 16L << 20;
    }
}
