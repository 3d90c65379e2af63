package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.decode.SharedData;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MeterProcessTest {
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    /** A reader who has gone, such as {@code head}, has what it wanted. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        No space left on device | (?s)flowlag: of .*: standard output: not all of . records were written: the disk is .* gone\\n
        Broken pipe             | ''
        """)
    void shouldSayWhyNoTableCouldBeWrittenUnlessItsReaderHasGone(final String reason, final String message) {
        final Terminal terminal = new Terminal(
            new ResultStream(new OutputStream() {
                @Override
                public void write(final int octet) throws IOException {
                    throw new IOException(reason);
                }
            }), new PrintStream(err, true, StandardCharsets.UTF_8), false);
        final Path capture = SharedData.capture("twopoint/det6g_tsn_untagged_ingress.pcap");

        assertEquals(ExitCode.CANNOT_WRITE, MeterProcess.run(
            new ConfigLoader().text("test", "").conclude(), List.of(capture.toString()), Listing.DEFAULT, terminal));

        final String told = err.toString(StandardCharsets.UTF_8);
        assertTrue(told.matches(message), told);
    }

    @Test
    void shouldGiveShortCapturesOneThreadAndOthersThreadsOfTheirOwn(@TempDir final Path folder) throws IOException {
        final String plain = Files.write(folder.resolve("plain"), new byte[100]).toString();
        final String packed = Files.write(folder.resolve("packed.gz"), new byte[100]).toString();
        final Threading several = Runtime.getRuntime().availableProcessors() > 1 ? Threading.PIPELINED : Threading.INVOKER;

        assertEquals(Threading.INVOKER, threading(200, plain, plain));
        assertEquals(several, threading(199, plain, plain));
        assertEquals(several, threading(200, packed));
        assertEquals(several, threading(200, folder.toString()));
        assertEquals(Threading.PIPELINED, threading(200, CaptureFiles.STANDARD_INPUT));
    }

    private static Threading threading(final long shortBytes, final String... files) {
        final ExporterConfig config = new ConfigLoader().text("test", "").conclude();
        return PipelineRun.threadsOfFiles(config, List.of(files), shortBytes).threading();
    }
}
