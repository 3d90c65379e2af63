package io.flowlag.exporter.runtime.selftest;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.runtime.ScriptedPoint;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SelfTestProcessTest {
    private static final long START_NS = 1_790_000_000_000_000_000L;
    private static final int FLOWS = 5_000;

    @TempDir
    private Path directory;

    /** Everything passes both points here: of a flow with a single packet that is taken out the receiver point sees nothing. */
    @Test
    void shouldFindTheLossOfFlowsWithASinglePacket() throws IOException {
        final Path file = directory.resolve("capture.pcap");
        try (CaptureWriter writer = new CaptureWriter(file, CaptureWriter.Format.PCAP_NANOSECONDS)) {
            for (int i = 0; i < FLOWS; i++) {
                final byte[] frame = ScriptedPoint.frame(0x0A01_0001, 1_000 + i, 53, new byte[100]);
                writer.write(new UnsafeBuffer(frame), 0, frame.length, frame.length, START_NS + i * 200_000L);
            }
        }
        final ByteArrayOutputStream said = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        assertEquals(ExitCode.DONE, SelfTestProcess.run(
            new ConfigLoader().text("test", "rli: {capacity: 100m}").conclude(), List.of(file.toString()),
            new Terminal(stream, stream, false)), said::toString);
    }
}
