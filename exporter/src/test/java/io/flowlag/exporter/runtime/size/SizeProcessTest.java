package io.flowlag.exporter.runtime.size;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SizeProcessTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final int FLOWS = 500;
    private static final int PACKETS = 20_000;
    private static final long LONG_INTERVAL_NS = 86_400 * SECOND_NS;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(
        new PrintStream(out, false, StandardCharsets.UTF_8), new PrintStream(new ByteArrayOutputStream()), false);

    @TempDir
    Path directory;

    @Test
    void shouldPrintEveryLineOfASizing() {
        assertEquals(ExitCode.DONE, SizeProcess.run(options(146_000, 7_760_000, 0, 0), terminal));

        final String table = table();
        assertTrue(table.contains("\n  rows, columns, k         4 x "), table);
        final String[] first = table.split("\n", 4);
        assertEquals(List.of("Set at the receiver", "  metering.max-flows: 584000"), List.of(first).subList(0, 2), table);
        final String memory = first[2].replaceFirst("  memory: ([0-9]+m) .*", "$1");
        new ConfigLoader().text("size", "memory: " + memory + "\nmetering.max-flows: 584000\nsegment.role: receiver\n" +
            "exchange.listen: 8621\ncapture.interfaces: [a]\n").conclude(MemoryPlan::parts);
        assertTrue(table.contains("k = 1\n"), table);
        assertTrue(table.contains("\n  sampling rates           1, 1, 1, 1\n"), table);
        assertTrue(table.contains("--vlda 1 --rates 1,1,1,1\n"), table);
        assertTrue(table.contains("\n  mode flows                       10,527,608        84.2 Mbit/s\n"), table);
        assertEquals(128 + 32L * cells(table), cellBytes(table) - number(table, "witness flows"), 0.01 * cellBytes(table));
    }

    @ParameterizedTest
    @CsvSource({"2, 10", "10, 1000", "40_000_000, 400_000_000"})
    void shouldProposeWhatDelayTakes(final String flows, final String packets) {
        final long flowCount = Long.parseLong(flows.replace("_", ""));
        SizeProcess.run(options(flowCount, Long.parseLong(packets.replace("_", "")), 0, 0), terminal);

        final String[] proposed = table().lines().filter((line) -> line.contains("--rows")).findFirst().orElseThrow()
            .replaceFirst("[^-]*", "").split(" ");
        final ExporterConfig config = new ConfigLoader()
            .option(proposed[0], ConfigTable.LDS_ROWS, List.of(proposed[1]))
            .option(proposed[2], ConfigTable.LDS_COLUMNS, List.of(proposed[3]))
            .option(proposed[4], ConfigTable.LDS_VLDA, List.of(proposed[5]))
            .option(proposed[6], ConfigTable.LDS_RATES, List.of(proposed[7].split(","))).conclude();
        assertTrue(config.lds().shape().columns() >= 16, table());
    }

    @Test
    void shouldRefuseMoreColumnsThanDelayTakes() {
        final ExitException refusal = assertThrows(
            ExitException.class, () -> SizeProcess.run(options(1_000_000_000L, 100_000_000_000L, 0, 0), terminal));
        assertTrue(
            refusal.getMessage().contains(", more than the 4194304 that a row may have: ask for less"), refusal.getMessage());
    }

    @Test
    void shouldFitTheMeanWhereACaptureHasOneSizeOfFlows() throws IOException {
        final Path file = directory.resolve("one.pcap");
        try (CaptureWriter writer = new CaptureWriter(file, CaptureWriter.Format.PCAP_MICROSECONDS);
            GeneratedTraffic traffic = new GeneratedTraffic(
                TrafficProfile.demo().toBuilder().flowCount(1).packetCount(40).build())) {
            int polled = 0;
            while (polled != PacketSource.END_OF_SOURCE) {
                polled = traffic.poll(writer, 100);
            }
        }
        SizeProcess.run(new SizeOptions(0, 0, 0, 0.05, 0.985, 1_000, LONG_INTERVAL_NS, 0, List.of(file.toString())), terminal);
        assertTrue(table().contains("\n  packets                  40\n"), table());
        assertTrue(table().contains("fitted to the mean, since all flows"), table());
    }

    @Test
    void shouldLeadBanksDownToTheWorstLoss() {
        SizeProcess.run(options(146_000, 7_760_000, 0.001, 0), terminal);

        final String table = table();
        assertTrue(table.contains("k = 5\n"), table);
        assertTrue(table.contains("\n  sampling rates           1, 0.2"), table);
    }

    /** 7760 packets at most: 120 octets and 64 for each key; for a class, 56 + 64 + 24 for each of 1024 cells. */
    @Test
    void shouldPriceKeysAndClassesOfReconciliation() {
        SizeProcess.run(options(146_000, 7_760_000, 0.001, 0), terminal);

        final String table = table();
        assertEquals(496_760, number(table, "keys of lost flows"));
        assertEquals(24_696, number(table, "each traffic class"));
    }

    /** 72 octets a flow: 84.2 Mbit/s; the sketch: about 9 Mbit/s. */
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        0           | flows, which is exact: no --bandwidth limits it
        90_000_000  | flows, which is exact and fits 90.0 Mbit/s
        84_220_864  | flows, which is exact and fits
        84_220_863  | sketch: flows do not fit 84.2 Mbit/s
        1_000_000   | sketch, but neither fits 1.00 Mbit/s
        """)
    void shouldSayWhatAutoTakes(final String bandwidth, final String wanted) {
        SizeProcess.run(options(146_000, 7_760_000, 0, Long.parseLong(bandwidth.strip().replace("_", ""))), terminal);

        assertTrue(table().contains("\n  mode auto                " + wanted), table());
    }

    @Test
    void shouldFitTheTailOfACapture() throws IOException {
        final int[] sizes = new int[1];
        final Path file = capture(sizes);
        final FlowSizeCensus census = FlowSizeCensus.of(List.of(file.toString()), LONG_INTERVAL_NS, terminal);
        final long[] counted = census.busiest().clone();
        Arrays.sort(counted);
        assertEquals(FLOWS, counted.length);
        assertEquals(PACKETS, Arrays.stream(counted).sum());
        assertEquals(1, census.intervals());

        SizeProcess.run(new SizeOptions(0, 0, 0, 0.05, 0.985, 1_000, LONG_INTERVAL_NS, 0, List.of(file.toString())), terminal);

        final double above = 100.0 * Arrays.stream(counted).filter(size -> size > 50).count() / FLOWS;
        final String share = String.format(Locale.ROOT, "%.4g", above).replaceAll("\\.?0+$", "");
        assertTrue(table().contains("\n  flows                    500\n  packets                  20,000\n"), table());
        assertTrue(table().contains(": " + share + " % have more than 50 packets\n"), share + " in " + table());
    }

    @Test
    void shouldTellADamagedCaptureByItsExitCode() throws IOException {
        final Path file = capture(new int[1]);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() - 1);
        }
        assertEquals(ExitCode.DAMAGED_INPUT, SizeProcess.run(
            new SizeOptions(0, 0, 0, 0.05, 0.985, 1_000, LONG_INTERVAL_NS, 0, List.of(file.toString())), terminal));
        assertTrue(table().contains("\n  packets                  19,999\n"), table());
    }

    @Test
    void shouldCountIntervalByInterval() throws IOException {
        final Path file = capture(new int[1]);
        final FlowSizeCensus all = FlowSizeCensus.of(List.of(file.toString()), LONG_INTERVAL_NS, terminal);
        final FlowSizeCensus cut = FlowSizeCensus.of(List.of(file.toString()), 100_000_000, terminal);

        assertTrue(cut.intervals() > 1, "intervals " + cut.intervals());
        assertTrue(cut.busiest().length < all.busiest().length);
        assertTrue(Arrays.stream(cut.busiest()).sum() < PACKETS);
    }

    /** A damaged timestamp does not make one interval of all packets behind it. */
    @Test
    void shouldCountIntervalByIntervalBehindAPacketFromTheFuture() throws IOException {
        final Path file = capture(new int[1]);
        final FlowSizeCensus plain = FlowSizeCensus.of(List.of(file.toString()), 100_000_000, terminal);
        try (FileChannel channel = FileChannel.open(file, StandardOpenOption.WRITE)) {
            channel.write(ByteBuffer.allocate(Integer.BYTES).order(ByteOrder.nativeOrder()).putInt(0, Integer.MAX_VALUE), 24);
        }
        final FlowSizeCensus stray = FlowSizeCensus.of(List.of(file.toString()), 100_000_000, terminal);

        assertEquals(plain.intervals(), stray.intervals(), plain.intervals() / 10.0, "intervals");
        assertTrue(stray.busiest().length <= plain.busiest().length, "flows " + stray.busiest().length);
    }

    @Test
    void shouldLetTheCommandLineOverruleACapture() throws IOException {
        final Path file = capture(new int[1]);

        SizeProcess.run(new SizeOptions(
            9_000, 0, 0, 0.05, 0.985, 1_000, LONG_INTERVAL_NS, 0, List.of(file.toString())), terminal);

        assertTrue(table().contains("\n  flows                    9,000\n  packets                  20,000\n"), table());
    }

    @Test
    void shouldRefuseWhatTellsNothing() throws IOException {
        final Path empty = directory.resolve("empty.pcap");
        try (CaptureWriter writer = new CaptureWriter(empty, CaptureWriter.Format.PCAP_MICROSECONDS)) {
            assertEquals(0, writer.packetCount());
        }
        final ExitException refusal = assertThrows(ExitException.class, () -> SizeProcess.run(
            new SizeOptions(0, 0, 0, 0.05, 0.985, 1_000, SECOND_NS, 0, List.of(empty.toString())), terminal));
        assertEquals(ExitCode.DAMAGED_INPUT, refusal.exitCode());
        assertThrows(CaptureException.class, () -> SizeProcess.run(
            new SizeOptions(0, 0, 0, 0.05, 0.985, 1_000, SECOND_NS, 0, List.of(directory + "/none")), terminal));
        assertEquals("", table());
    }

    private static SizeOptions options(final long flows, final long packets, final double loss, final long bandwidthBps) {
        return new SizeOptions(flows, packets, loss, 0.05, 0.985, 1_000, SECOND_NS, bandwidthBps, List.of());
    }

    private Path capture(final int[] polled) throws IOException {
        final Path file = directory.resolve("traffic.pcap");
        Files.deleteIfExists(file);
        final TrafficProfile profile =
            TrafficProfile.demo().toBuilder().flowCount(FLOWS).packetCount(PACKETS).largestFlowPackets(4_000).build();
        try (GeneratedTraffic traffic = new GeneratedTraffic(profile);
            CaptureWriter writer = new CaptureWriter(file, CaptureWriter.Format.PCAP_MICROSECONDS)) {
            while (polled[0] != PacketSource.END_OF_SOURCE) {
                polled[0] = traffic.poll(writer, 100);
            }
        }
        return file;
    }

    private String table() {
        terminal.out().flush();
        return out.toString(StandardCharsets.UTF_8);
    }

    private static long cellBytes(final String table) {
        return number(table, "mode sketch");
    }

    private static long cells(final String table) {
        return number(table, "\n  cells");
    }

    private static long number(final String table, final String label) {
        final String rest = table.substring(table.indexOf(label) + label.length()).strip();
        return Long.parseLong(rest.split("[^0-9,]")[0].replaceAll(",", ""));
    }
}
