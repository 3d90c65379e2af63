package io.flowlag.exporter.terminal;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

class LoggingTest {
    private static final Logger LOGGER = LoggerFactory.getLogger(LoggingTest.class);

    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(System.out, new PrintStream(err, true, StandardCharsets.UTF_8), false);

    @TempDir
    Path directory;

    @AfterEach
    void restore() {
        Logging.configure("WARN", null, Terminal.system());
    }

    @Test
    void shouldWriteOneLineAnEventFromTheLevelOn() {
        configure("INFO", null);
        LOGGER.debug("hidden");
        LOGGER.info("interface {} is up", "eth0");
        LOGGER.error("send failed", new IOException("refused"));
        LoggerFactory.getLogger("org.pcap4j.core.Pcaps").error("chatter");
        final String[] lines = err.toString(StandardCharsets.UTF_8).split("\\R");
        assertEquals(2, lines.length, err.toString(StandardCharsets.UTF_8));
        assertTrue(lines[0].matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z INFO  interface eth0 is up"),
            lines[0]);
        assertTrue(lines[1].endsWith(" ERROR send failed: java.io.IOException: refused"), lines[1]);
    }

    @Test
    void shouldShowStackTracesToWhoAsksForDetails() {
        configure("DEBUG", null);
        LOGGER.error("send failed", new IOException("refused"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("at io.flowlag.exporter.terminal.LoggingTest"));
    }

    @Test
    void shouldLogToAFileAndOpenItAnewWhenAskedAgain() throws IOException {
        final Path file = directory.resolve("flowlag.log");
        configure("INFO", file);
        assertTrue(Logging.isToFile());
        LOGGER.info("first");
        Files.move(file, directory.resolve("flowlag.log.1"));
        configure("INFO", file);
        LOGGER.info("second");
        configure("INFO", null);
        assertFalse(Logging.isToFile());
        assertTrue(Files.readString(directory.resolve("flowlag.log.1")).endsWith(" first\n"));
        assertTrue(Files.readString(file).endsWith(" second\n"));
        assertEquals("", err.toString(StandardCharsets.UTF_8));
    }

    /** Between the check of a reload and its use the directory may go. */
    @Test
    void shouldUseWhatWasOpenedBeforeWhateverBecomesOfItsPlace() throws IOException {
        final Path file = Files.createDirectory(directory.resolve("logs")).resolve("flowlag.log");
        final LogFile open = Logging.open(file, terminal);
        LOGGER.warn("not yet");
        Files.move(file.getParent(), directory.resolve("away"));
        Logging.use("INFO", open, terminal);
        LOGGER.info("first");
        configure("INFO", null);
        assertTrue(Files.readString(directory.resolve("away/flowlag.log")).endsWith(" first\n"));
        assertFalse(Files.readString(directory.resolve("away/flowlag.log")).contains("not yet"));
    }

    @Test
    void shouldFollowNoLinkAndBeReadByItsGroupAtMost() throws IOException {
        final Path file = directory.resolve("flowlag.log");
        configure("INFO", file);
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        final Path link = Files.createSymbolicLink(directory.resolve("link"), file);
        final ExitException refusal = assertThrows(ExitException.class, () -> configure("INFO", link));
        assertTrue(refusal.getMessage().contains("(is a link: name the file itself)"), refusal.getMessage());
        configure("INFO", null);
    }

    @Test
    void shouldSayThatTheFileCannotBeWritten() {
        final ExitException refusal = assertThrows(ExitException.class,
            () -> configure("INFO", directory.resolve("missing/flowlag.log")));
        assertEquals(ExitCode.CANNOT_WRITE, refusal.exitCode());
    }

    @Test
    void shouldGoOnAtTheTerminalWhenTheFileTakesNoMore() {
        final Path full = Path.of("/dev/full");
        assumeTrue(Files.exists(full));
        configure("INFO", full);
        LOGGER.info("first");
        LOGGER.info("second");
        final String[] lines = err.toString(StandardCharsets.UTF_8).split("\\R");
        assertEquals(3, lines.length, err.toString(StandardCharsets.UTF_8));
        assertEquals("flowlag: log.file=/dev/full cannot be written: No space left on device; the log goes on here", lines[0]);
        assertTrue(lines[1].endsWith(" first"), lines[1]);
        assertTrue(lines[2].endsWith(" second"), lines[2]);
    }

    @Test
    void shouldSayInWordsWhyTheFileCannotBeOpened() {
        final ExitException refusal = assertThrows(ExitException.class, () -> configure("INFO", directory));
        assertTrue(refusal.getMessage().startsWith(directory + ": the log cannot be written (Is a directory): "),
            refusal.getMessage());
    }

    private void configure(final String level, final Path file) {
        Logging.configure(level, file, terminal);
    }
}
