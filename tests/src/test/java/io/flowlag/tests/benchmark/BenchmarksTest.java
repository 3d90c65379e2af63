package io.flowlag.tests.benchmark;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** In benchmarks every packet takes the whole path. Run times are not checked. */
@Timeout(180)
class BenchmarksTest {
    private static final int PACKETS = 100_000;
    private static final int FLOWS = 1_000;
    private static final int ROUNDS = 3;

    @TempDir
    Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();

    private int compare(final String... arguments) throws IOException, InterruptedException {
        return FileComparison.run(arguments, new PrintStream(out, true, StandardCharsets.UTF_8),
            new PrintStream(err, true, StandardCharsets.UTF_8));
    }

    @ParameterizedTest
    @ValueSource(strings = {
        "nothing", "rli", "lds", "rli+lds", "rli+lds+quantiles", "everything", "points", "matched", "sampled", "segments", "tcp"})
    void shouldTakeEveryPacketTheWholeWay(final String with) throws IOException {
        assertEquals(ROUNDS * PACKETS, PathBenchmark.play(FLOWS, PACKETS, with, ROUNDS).get(CounterId.METERED));
    }

    @Test
    void shouldCompareExportersOnTheSamePackets() throws IOException, InterruptedException {
        final boolean hasPeer = Tools.find("softflowd").isPresent();
        final int exitCode = compare("--packets", "2k", "--profiles", "mix", "--rounds", "1", "--directory", directory.toString(),
            "--exporters", "flowlag,softflowd", "--program", "flowlag=" + Checkout.root().resolve("bin/flowlag"));
        final List<String> lines = out.toString(StandardCharsets.UTF_8).lines().filter(line -> line.contains(" 2000 ")).toList();
        assertEquals(0, exitCode, () -> err.toString(StandardCharsets.UTF_8));
        assertEquals(hasPeer ? 3 : 2, lines.size(), () -> out.toString(StandardCharsets.UTF_8));
        assertTrue(lines.get(0).startsWith("mix: 2000 packets in 160 flows"), lines.get(0));
        assertTrue(lines.get(1).matches("flowlag +2000 +[0-9.]+ +[0-9.]+ +-?[0-9.]+ +[0-9.]+ +[0-9]+ +1\\.00 +1\\.00"),
            lines.get(1));
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("flowlag states "), () -> out.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldSayWhenAnExporterDidNotSeeEveryPacket() throws IOException, InterruptedException {
        final Path blind = Files.writeString(directory.resolve("blind"), "#!/bin/sh\nfor last; do :; done\n: >\"$last\"\n");
        assertTrue(blind.toFile().setExecutable(true));
        assertEquals(1, compare("--packets", "200", "--profiles", "min64", "--rounds", "1", "--directory", directory.toString(),
            "--exporters", "yaf", "--program", "yaf=" + blind));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("yaf saw 0 of 200 packets"),
            err.toString(StandardCharsets.UTF_8));
    }

    private int receive() throws IOException, InterruptedException {
        return compare("--packets", "20k", "--profiles", "mix", "--rounds", "0", "--directory", directory.toString(),
            "--exporters", "flowlag-receiver", "--program", "flowlag=" + Checkout.root().resolve("bin/flowlag"));
    }

    @Test
    void shouldMeasureTheReceiverOnlyIfEveryPacketIsEstimated() throws IOException, InterruptedException {
        assertEquals(0, receive(), () -> err.toString(StandardCharsets.UTF_8));
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("flowlag-receiver        20000"),
            () -> out.toString(StandardCharsets.UTF_8));
        final Path intervals = directory.resolve("mix-20000-1600-sent.intervals");
        Files.write(intervals, Arrays.copyOf(Files.readAllBytes(intervals), (int)Files.size(intervals) / 2));
        assertEquals(1, receive());
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("intervals without answer: 1, not 0"),
            () -> err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldReadTheCommandLine() throws IOException, InterruptedException {
        assertEquals(List.of(5_000_000, 300_000, 7), FileOptions.of(new String[] {"--packets", "5m,300k,7"}).packetCounts());
        assertThrows(IllegalArgumentException.class, () -> FileOptions.of(new String[] {"--packets", "much"}));
        assertEquals(64, compare("--pakets", "5m"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("'--pakets' is no option"));
    }

    @Test
    void shouldSteerPacketsToAProcessorThatThereIs() {
        assertFalse(LiveOptions.of(new String[] {"--steer", "off"}).isSteered());
        for (final String wrong : List.of("-1", "x", "4096")) {
            final String said = assertThrows(
                IllegalArgumentException.class, () -> LiveOptions.of(new String[] {"--steer", wrong})).getMessage();
            assertTrue(said.startsWith("--steer " + wrong + ": must be off, or one of"), said);
        }
        final LiveOptions options = LiveOptions.of(new String[0]);
        assertFalse(LiveOptions.numbers(options.processorsOfSender()).contains(options.receiver()));
        assertEquals(List.of(0, 1, 2, 3, 6, 8, 9), LiveOptions.numbers("0-3,6,8-9"));
    }

    @Test
    void shouldNameAProcessorAsTheKernelReadsIt() {
        assertEquals("2", LiveComparison.processorMask(1));
        assertEquals("80000000", LiveComparison.processorMask(31));
        assertEquals("1,00000000", LiveComparison.processorMask(32));
        assertEquals("8,00000000,00000000", LiveComparison.processorMask(67));
    }
}
