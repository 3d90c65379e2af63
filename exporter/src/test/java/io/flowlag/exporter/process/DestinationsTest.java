package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.exchange.TestCredentials;
import io.flowlag.exporter.record.Destination;
import io.flowlag.exporter.record.DestinationFactory;
import io.flowlag.exporter.status.Counters;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DestinationsTest {
    @TempDir
    private Path directory;

    private final Destinations destinations =
        new Destinations(new DestinationFactory(false, new boolean[]{false}, Map.of(), new Counters()));

    private static ExporterConfig config(final String uri) {
        return new ConfigLoader().option("--export", ConfigTable.DESTINATIONS, List.of(uri)).conclude();
    }

    private ExitException refused(final String uri) {
        return assertThrows(ExitException.class, () -> destinations.of(config(uri)));
    }

    @Test
    void shouldSayThatASpoolCannotBeWritten() throws IOException {
        final Path spool = Files.writeString(directory.resolve("file"), "").resolve("spool");
        for (final String uri : List.of("tcp://127.0.0.1:1", "file:" + directory.resolve("out.ipfix"))) {
            final ExitException refused = refused(uri + "?spool=" + spool);
            assertEquals(ExitCode.CANNOT_WRITE, refused.exitCode());
            assertTrue(refused.getMessage().startsWith(uri + ": the spool cannot be written: " + spool), refused::getMessage);
            assertTrue(refused.getMessage().endsWith(": check exporting.spool"), refused::getMessage);
        }
    }

    @Test
    void shouldNameTheLockOfASpoolThatCannotBeWritten() throws IOException {
        final String uri = "tcp://127.0.0.1:1?spool=" + directory;
        close(destinations.of(config(uri)));
        destinations.of(new ConfigLoader().conclude());
        final Path lock;
        try (Stream<Path> found = Files.walk(directory)) {
            lock = found.filter((path) -> path.endsWith("lock")).findFirst().orElseThrow();
        }
        Files.delete(lock);
        Files.createDirectory(lock);
        assertEquals("tcp://127.0.0.1:1: the spool cannot be written: " + lock + ": Is a directory: check exporting.spool",
            refused(uri).getMessage());
    }

    @Test
    void shouldNotBeginAFileInUseAnewUnderAnotherName() throws IOException {
        final Path file = directory.resolve("out.ipfix");
        final List<Destination> inUse = destinations.of(config("file:" + file));
        final String link = "file:" + Files.createSymbolicLink(directory.resolve("link"), file);
        final ExitException refused = refused(link);
        assertEquals(ExitCode.CONFIGURATION, refused.exitCode());
        assertEquals(
            link + ": the file is in use with other settings; they need a restart, which empties it", refused.getMessage());
        close(inUse);
    }

    private ExporterConfig config(final String peer, final String... uris) {
        final String tls = "exporting: {tls: {key: %1$s/a.key.pem, certificate: %1$s/a.pem, trust: %1$s/a.pem, peers: [%2$s]}}";
        return new ConfigLoader().text("f", String.format(tls, directory, peer))
            .option("--export", ConfigTable.DESTINATIONS, List.of(uris)).conclude();
    }

    private TestCredentials credentials() throws Exception {
        final TestCredentials credentials = new TestCredentials(directory);
        credentials.make("a", "IP:127.0.0.1");
        Files.setPosixFilePermissions(directory.resolve("a.key.pem"), PosixFilePermissions.fromString("rw-------"));
        return credentials;
    }

    @Test
    void shouldLeaveAllButDestinationsOfTlsAsTheyAreWhenCredentialsChange() throws Exception {
        credentials();
        final String[] uris = {"tls://127.0.0.1:1", "tcp://127.0.0.1:1", "udp://127.0.0.1:1", "file:" + directory.resolve("out")};
        final List<Destination> before = destinations.of(config("one.example.net", uris));
        final List<Destination> after = destinations.of(config("other.example.net", uris));
        assertNotSame(before.get(0), after.get(0));
        assertEquals(before.subList(1, uris.length), after.subList(1, uris.length));
        close(before);
        close(after);
    }

    @Test
    void shouldTakeACertificateThatWasRenewedInItsPlace() throws Exception {
        final TestCredentials credentials = credentials();
        final ExporterConfig config = config("collector.example.net", "tls://127.0.0.1:1");
        final List<Destination> before = destinations.of(config);
        assertSame(before.get(0), destinations.of(config).get(0));
        credentials.make("b", "IP:127.0.0.1");
        Files.move(directory.resolve("b.pem"), directory.resolve("a.pem"), StandardCopyOption.REPLACE_EXISTING);
        Files.move(directory.resolve("b.key.pem"), directory.resolve("a.key.pem"), StandardCopyOption.REPLACE_EXISTING);
        final List<Destination> after = destinations.of(config);
        assertNotSame(before.get(0), after.get(0));
        close(before);
        close(after);
    }

    private static void close(final List<Destination> made) {
        made.forEach((destination) -> destination.close(0, 0));
    }
}
