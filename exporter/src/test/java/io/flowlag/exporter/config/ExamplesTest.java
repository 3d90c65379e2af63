package io.flowlag.exporter.config;

import io.flowlag.exporter.docs.GeneratedDocs;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

class ExamplesTest {
    @Test
    void shouldShipExamplesThatHoldAsTheyStandAndCanRun() throws IOException {
        final List<Path> examples;
        try (Stream<Path> files = Files.list(GeneratedDocs.directory().resolve("examples"))) {
            examples = files.sorted().toList();
        }

        assertFalse(examples.isEmpty());
        for (final Path example : examples) {
            final ExporterConfig config = new ConfigLoader().file(example).conclude();
            final boolean isRouter = config.segment().role() == ExporterConfig.Role.BOTH;
            assertEquals(isRouter, config.capture().interfaces().isEmpty(), example.toString());
            assertFalse(config.exporting().destinations().isEmpty(), example.toString());
        }
    }
}
