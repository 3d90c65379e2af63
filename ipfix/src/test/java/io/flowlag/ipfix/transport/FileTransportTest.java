package io.flowlag.ipfix.transport;

import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.OptionsWriter;
import io.flowlag.ipfix.session.SessionCounter;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.nio.file.attribute.PosixFilePermissions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class FileTransportTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final Path FULL = Path.of("/dev/full");

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template pair = catalog.template("sourceIPv4Address", "packetDeltaCount");

    @TempDir
    private Path directory;

    private void put(final ExportingSession session, final int count, final long nowMs) {
        for (int i = 0; i < count; i++) {
            Records.putPair(session, pair, i, i, nowMs);
        }
    }

    @Test
    void shouldWriteMessagesThatBeginWithTemplates() throws IOException {
        final Path file = directory.resolve("flows" + FileTransport.SUFFIX);
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        put(session, 100_000, NOW_MS);
        assertTrue(new OptionsWriter(session, catalog).timeWindow(NOW_MS - 5, NOW_MS, NOW_MS) > 0);
        assertTrue(session.close(System::currentTimeMillis, 1_000));
        final byte[] octets = Files.readAllBytes(file);
        assertEquals(0x000A, octets[0] << 8 | octets[1]);
        final StrictParser parser = new StrictParser(65535).parseAll(octets);
        assertEquals(100_001, parser.records().size());
        assertEquals(1, parser.messages.get(0).templates().size());
        assertEquals(100_000, session.statistics().recordsExported());
        assertEquals(octets.length, session.statistics().get(SessionCounter.OCTETS));
    }

    @Test
    void shouldWriteWhatIsBufferedWithinASecondOrTwo() throws IOException {
        final Path file = directory.resolve("slow.ipfix");
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        put(session, 1, NOW_MS);
        session.doWork(NOW_MS + 1_000);
        assertEquals(1, session.statistics().recordsWaiting());
        session.doWork(NOW_MS + 1_001);
        session.doWork(NOW_MS + 2_001);
        assertEquals(0, session.statistics().recordsWaiting());
        assertTrue(Files.size(file) > 0);
        session.close();
    }

    @Test
    void shouldWriteWhatIsBufferedWithinASecondOrTwoAfterAClockWasSetBack() throws IOException {
        final long dayMs = 86_400_000L;
        final Path file = directory.resolve("back.ipfix");
        final ExportingSession session = new ExportingSession(new FileTransport(file), new SessionSettings(), catalog);
        put(session, 1, NOW_MS);
        session.doWork(NOW_MS + 1_000);
        session.doWork(NOW_MS + 1_001);
        session.doWork(NOW_MS - dayMs);
        session.doWork(NOW_MS - dayMs + 1_000);
        assertEquals(0, session.statistics().recordsWaiting());
        session.close();
    }

    @Test
    void shouldFailEverythingOnAFullDiskAndSaySo() throws IOException {
        assumeTrue(Files.exists(FULL), "no /dev/full on this system");
        final ExportingSession session =
            new ExportingSession(new FileTransport(FULL), new SessionSettings().lossless(true), catalog);
        put(session, 50_000, NOW_MS);
        assertTrue(session.flush(NOW_MS));
        put(session, 10, NOW_MS);
        assertEquals(TransportState.FAILED, session.transport().state());
        assertEquals("cannot write /dev/full: No space left on device", session.transport().lastError());
        assertEquals(50_010, session.statistics().recordsFailed());
        assertEquals(0, session.statistics().recordsExported());
        Records.assertBooksBalance(session.statistics());
        session.close();
        assertEquals(TransportState.FAILED, session.transport().state());
    }

    @Test
    void shouldNotTryADeviceAgain() throws IOException {
        assumeTrue(Files.exists(FULL), "no /dev/full on this system");
        final FileTransport transport = new FileTransport(FULL, 1_000);
        final ExportingSession session = new ExportingSession(transport, new SessionSettings(), catalog);
        put(session, 50_000, NOW_MS);
        session.flush(NOW_MS);
        session.doWork(NOW_MS + 1);
        session.doWork(NOW_MS + 5_000);
        assertEquals(TransportState.FAILED, transport.state());
        session.close();
    }

    @Test
    void shouldRefuseAFileThatCannotBeWritten() {
        final IOException missing =
            assertThrows(IOException.class, () -> new FileTransport(directory.resolve("no/such/dir.ipfix")));
        assertEquals("cannot write " + directory.resolve("no/such/dir.ipfix") + ": no such file or directory",
            missing.getMessage());
        final IOException isDirectory = assertThrows(IOException.class, () -> new FileTransport(directory));
        assertTrue(isDirectory.getMessage().startsWith("cannot write " + directory), isDirectory.getMessage());
        assertFalse(isDirectory.getMessage().isEmpty());
    }

    @Test
    void shouldFollowNoLinkAndBeReadByItsGroupAtMost() throws IOException {
        final Path file = directory.resolve("flows.ipfix");
        new FileTransport(file).close();
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        Files.writeString(file, "stays");
        final Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        assertTrue(assertThrows(IOException.class, () -> new FileTransport(link)).getMessage()
            .endsWith(link + ": is a link: name the file itself"));
        assertEquals("stays", Files.readString(file));
        new FileTransport(Files.createSymbolicLink(directory.resolve("null"), Path.of("/dev/null"))).close();
    }

    @Test
    void shouldLeaveAFileAloneThatThisProcessWrites() throws IOException {
        final Path file = directory.resolve("twice.ipfix");
        final FileTransport first = new FileTransport(file);
        Files.writeString(file, "records");
        final String message = assertThrows(IOException.class, () -> new FileTransport(file)).getMessage();
        assertEquals("cannot write " + file + ": this process writes it already; name another file", message);
        assertEquals("records", Files.readString(file));
        first.close();
        new FileTransport(file).close();
        assertEquals(0, Files.size(file));
    }

    @Test
    void shouldLeaveAFileAloneThatAnotherProcessWrites() throws Exception {
        final Path file = directory.resolve("two.ipfix");
        Files.writeString(file, "records");
        final Process other = new ProcessBuilder(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-cp", Path.of(FileTransportTest.class.getProtectionDomain().getCodeSource().getLocation().toURI()).toString(),
            OtherProcess.class.getName(), file.toString()).redirectError(ProcessBuilder.Redirect.INHERIT).start();
        try {
            assertEquals('L', other.getInputStream().read(), "the other process has no lock");
            final String message = assertThrows(IOException.class, () -> new FileTransport(file)).getMessage();
            assertEquals("cannot write " + file + ": another process writes it; name another file", message);
            assertEquals("records", Files.readString(file));
        } finally {
            other.getOutputStream().close();
            other.waitFor();
        }
        new FileTransport(file).close();
        assertEquals(0, Files.size(file));
    }

    /** Locks a file, says so, and ends when its input does. */
    static final class OtherProcess {
        private OtherProcess() {
        }

        public static void main(final String[] arguments) throws IOException {
            try (FileChannel channel = FileChannel.open(Path.of(arguments[0]), StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
                System.out.print(lock.isValid() ? 'L' : 'N');
                System.out.flush();
                System.in.read();
            }
        }
    }
}
