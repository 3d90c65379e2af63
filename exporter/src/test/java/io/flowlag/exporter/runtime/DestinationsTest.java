package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.exchange.link.TestCredentials;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.status.Counters;
import io.flowlag.ipfix.transport.TlsCredentials;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.stream.Stream;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLServerSocket;
import javax.net.ssl.SSLSocket;

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

    @Test
    void shouldLeaveAllButDestinationsOfTlsAsTheyAreWhenCredentialsChange() throws Exception {
        new TestCredentials(directory).make("a", "IP:127.0.0.1");
        Files.setPosixFilePermissions(directory.resolve("a.key.pem"), PosixFilePermissions.fromString("rw-------"));
        final String[] uris = {"tls://127.0.0.1:1", "tcp://127.0.0.1:1", "udp://127.0.0.1:1", "file:" + directory.resolve("out")};
        final List<Destination> before = destinations.of(config("one.example.net", uris));
        final List<Destination> after = destinations.of(config("other.example.net", uris));
        assertNotSame(before.get(0), after.get(0));
        assertEquals(before.subList(1, uris.length), after.subList(1, uris.length));
        close(before);
        close(after);
    }

    /** As a program does that renews certificates: it keeps the file names, then makes the process read the files again. */
    @Test
    void shouldShowTheCertificateThatAReloadFoundRenewed() throws Exception {
        final TestCredentials files = new TestCredentials(directory);
        files.make("collector", "IP:127.0.0.1");
        files.make("exporter", "DNS:exporter.test");
        files.make("renewed", "DNS:renewed.test");
        for (final String key : List.of("exporter.key.pem", "renewed.key.pem")) {
            Files.setPosixFilePermissions(directory.resolve(key), PosixFilePermissions.fromString("rw-------"));
        }
        Files.write(directory.resolve("both.pem"), Stream.of("exporter.pem", "renewed.pem")
            .flatMap((name) -> lines(directory.resolve(name))).toList());
        final SSLContext context = TlsCredentials.load(directory.resolve("collector.key.pem"), directory.resolve("collector.pem"),
            directory.resolve("both.pem")).context();
        try (SSLServerSocket server = (SSLServerSocket)context.getServerSocketFactory()
            .createServerSocket(0, 8, InetAddress.getLoopbackAddress())) {
            server.setNeedClientAuth(true);
            final ExporterConfig config = new ConfigLoader().text("test", "exporting:\n  destinations: ['tls://127.0.0.1:" +
                server.getLocalPort() + "?reconnect-interval=10ms']\n  tls: {certificate: " + directory.resolve("exporter.pem") +
                ", key: " + directory.resolve("exporter.key.pem") + ", trust: " + directory.resolve("collector.pem") + "}\n")
                .conclude();
            final List<Destination> made = destinations.of(config);
            assertEquals("CN=exporter", shownName(server, made.get(0)));
            Files.move(directory.resolve("renewed.pem"), directory.resolve("exporter.pem"), StandardCopyOption.REPLACE_EXISTING);
            Files.move(directory.resolve("renewed.key.pem"), directory.resolve("exporter.key.pem"),
                StandardCopyOption.REPLACE_EXISTING);
            assertSame(made.get(0), destinations.of(config).get(0));
            assertEquals("CN=renewed", shownName(server, made.get(0)));
            close(made);
        }
    }

    private static Stream<String> lines(final Path file) {
        try {
            return Files.readAllLines(file).stream();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** Works a destination until it has connected, and breaks the connection. */
    private static String shownName(final SSLServerSocket server, final Destination destination) throws Exception {
        final FutureTask<String> shown = new FutureTask<>(() -> {
            try (SSLSocket socket = (SSLSocket)server.accept()) {
                return socket.getSession().getPeerPrincipal().getName();
            }
        });
        new Thread(shown, "collector").start();
        while (!shown.isDone()) {
            destination.doWork(System.currentTimeMillis());
            Thread.yield();
        }
        return shown.get();
    }

    private static void close(final List<Destination> made) {
        made.forEach((destination) -> destination.close(0, 0));
    }
}
