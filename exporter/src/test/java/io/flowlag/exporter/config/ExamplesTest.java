package io.flowlag.exporter.config;

import io.flowlag.exporter.docs.GeneratedDocs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

class ExamplesTest {
    @TempDir
    private Path directory;

    @Test
    void shouldShipExamplesThatHoldAsTheyStandAndCanRun() throws IOException {
        final List<Path> examples;
        try (Stream<Path> files = Files.list(GeneratedDocs.directory().resolve("examples"))) {
            examples = files.sorted().toList();
        }

        assertFalse(examples.isEmpty());
        for (final Path example : examples) {
            final ExporterConfig config = load(example, directory);
            final boolean isRouter = config.segment().role() == ExporterConfig.Role.BOTH;
            assertEquals(isRouter, config.capture().interfaces().isEmpty(), example.toString());
            final boolean hasRecords = config.segment().role() != ExporterConfig.Role.SENDER || config.segment().senderRecords();
            assertEquals(hasRecords, !config.exporting().destinations().isEmpty(), example.toString());
        }
    }

    /** Loads an example whose key, which the user makes, is in a directory. */
    static ExporterConfig load(final Path example, final Path directory) throws IOException {
        final Path key = directory.resolve("flowlag.key");
        Files.writeString(key, "00".repeat(32));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final String text = Files.readString(example).replace("/etc/flowlag/flowlag.key", key.toString());
        return new ConfigLoader().text(example.getFileName().toString(), text).conclude();
    }
}
