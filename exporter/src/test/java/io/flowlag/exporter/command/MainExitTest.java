package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.terminal.ResultStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The code with which each command ends, and what it says of errors. */
class MainExitTest extends CommandLines {
    @ParameterizedTest
    @EnumSource(ExitCode.class)
    void shouldEndWithTheCodeOfTheProcess(final ExitCode exitCode) {
        recorder.exitCode = exitCode;
        assertEquals(exitCode.number(), main("demo"));
        recorder.failure = new ExitException(exitCode, "x: way out");
        assertEquals(exitCode.number(), main("demo"));
        assertEquals("flowlag: x: way out" + System.lineSeparator(), errors());
    }

    @ParameterizedTest
    @CsvSource({"NO_INPUT,66", "DAMAGED,65", "NO_PERMISSION,77", "UNAVAILABLE,66", "BAD_FILTER,78"})
    void shouldTurnCaptureFailuresIntoCodes(final CaptureException.Kind kind, final int exitCode) {
        recorder.failure = new CaptureException(kind, "x.pcap: no such file: check the path");
        assertEquals(exitCode, main("meter", "-r", "x.pcap"));
        assertEquals("flowlag: x.pcap: no such file: check the path" + System.lineSeparator(), errors());
    }

    @Test
    void shouldCallABadFilterOfTheCommandLineUsage() {
        recorder.failure = new CaptureException(CaptureException.Kind.BAD_FILTER, "syntax error");
        assertEquals(64, main("meter", "-r", "x.pcap", "--filter", "ipp"));
    }

    @Test
    void shouldSayInternalErrorsInOneLineAndMoreOnlyWhenAsked() throws IOException {
        recorder.failure = new IllegalStateException("first\nsecond");
        assertEquals(70, main("demo"));
        assertEquals(1, errors().lines().count(), errors());
        assertTrue(errors().startsWith("flowlag: internal error: java.lang.IllegalStateException: first at "), errors());
        err.reset();
        assertEquals(70, main("demo", "-v"));
        assertTrue(errors().contains("\tat io.flowlag.exporter.command.MainExitTest"), errors());
        err.reset();
        final Path log = directory.resolve("log");
        assertEquals(70, main("demo", "--log-file", log.toString()));
        assertEquals(1, errors().lines().count(), errors());
        assertTrue(Files.readString(log).contains("\tat io.flowlag.exporter.command.MainExitTest"));
    }

    @Test
    void shouldSurviveErrorsOfTheMachine() {
        recorder.error = new OutOfMemoryError("Java heap space");
        assertEquals(70, main("demo"));
        assertTrue(errors().startsWith("flowlag: out of memory: "), errors());
        err.reset();
        recorder.error = new StackOverflowError();
        assertEquals(70, main("demo"));
        assertEquals(1, errors().lines().count(), errors());
    }

    @ParameterizedTest
    @ValueSource(strings = {"--version", "--help", "size --flows 1000 --packets 100k", "check-config", "meter -r x.pcap"})
    void shouldEndWith73WhereResultsCannotBeWritten(final String line) throws IOException {
        final String file = "check-config".equals(line) ? " " + write("log: {level: warn}") : "";
        recorder.work = (terminal) -> terminal.out().println("a result");
        assertEquals(73, main(inVain("No space left on device"), (line + file).split(" ")));
        assertEquals(
            "flowlag: standard output cannot be written: the disk is full, or the reader has gone\n", errors());
    }

    @Test
    void shouldSayNothingWhereTheReaderHasGone() {
        assertEquals(73, main(inVain("Broken pipe"), "--help"));
        assertEquals("", errors());
    }

    @Test
    void shouldKeepTheExitCodeOfAnErrorWhereResultsCannotBeWrittenToo() {
        recorder.work = (terminal) -> terminal.out().println("a result");
        recorder.exitCode = ExitCode.DAMAGED_INPUT;
        assertEquals(65, main(inVain("No space left on device"), "meter", "-r", "x.pcap"));
        assertEquals("", errors());
    }

    private static PrintStream inVain(final String reason) {
        return new ResultStream(new OutputStream() {
            @Override
            public void write(final int octet) throws IOException {
                throw new IOException(reason);
            }
        });
    }
}
