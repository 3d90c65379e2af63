package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.record.DestinationFactory;
import io.flowlag.exporter.status.Counters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DestinationsTest {
    @TempDir
    private Path directory;

    private final Destinations destinations =
        new Destinations(new DestinationFactory(false, new boolean[]{false}, Map.of(), new Counters()));

    private ExitException refused(final String uri, final Path spool) {
        final ExporterConfig config = new ConfigLoader()
            .option("--export", ConfigTable.DESTINATIONS, List.of(uri))
            .option("--set exporting.spool", ConfigTable.SPOOL, List.of(spool.toString()))
            .conclude();
        return assertThrows(ExitException.class, () -> destinations.of(config));
    }

    @Test
    void shouldSayThatASpoolCannotBeWritten() throws IOException {
        final Path spool = Files.writeString(directory.resolve("file"), "").resolve("spool");
        for (final String uri : List.of("tcp://127.0.0.1:1", "file:" + directory.resolve("out.ipfix"))) {
            final ExitException refused = refused(uri, spool);
            assertEquals(ExitCode.CANNOT_WRITE, refused.exitCode());
            assertTrue(refused.getMessage().startsWith(uri + ": the spool cannot be written: " + spool), refused::getMessage);
            assertTrue(refused.getMessage().endsWith(": check exporting.spool"), refused::getMessage);
        }
    }

    @Test
    void shouldNameTheLockOfASpoolThatCannotBeWritten() throws IOException {
        final Path spool = Files.createDirectory(directory.resolve("spool"));
        makeAndClose(spool);
        final Path lock;
        try (var found = Files.walk(spool)) {
            lock = found.filter((path) -> path.endsWith("lock")).findFirst().orElseThrow();
        }
        Files.delete(lock);
        Files.createDirectory(lock);
        assertEquals("tcp://127.0.0.1:1: the spool cannot be written: " + lock + ": Is a directory: check exporting.spool",
            refused("tcp://127.0.0.1:1", spool).getMessage());
    }

    private void makeAndClose(final Path spool) {
        final ExporterConfig config = new ConfigLoader()
            .option("--export", ConfigTable.DESTINATIONS, List.of("tcp://127.0.0.1:1?spool=" + spool)).conclude();
        new Destinations(new DestinationFactory(false, new boolean[]{false}, Map.of(), new Counters())).of(config)
            .forEach((destination) -> destination.close(0, 0));
    }
}
