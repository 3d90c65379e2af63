package io.flowlag.tests.system;

import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.tests.benchmark.Profiles;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Meter;
import io.flowlag.tests.support.SharedData;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Five million packets, and one million of the smallest size, metered exactly in a small heap that does not grow. */
@Tag("slow")
class FiveMillionTest {
    private static final int BATCH = 4_096;
    private static final int HEAP_MIB = 64;
    private static final int HEAP_AFTER_COLLECTION_MIB = 40;
    private static final Pattern SUMMARY =
        Pattern.compile("single-packet=(\\d+) max=(\\d+) .* tcp=(\\d+) udp=(\\d+) .* avg=([0-9.]+)");
    private static final Pattern COLLECTION = Pattern.compile("Pause.* (\\d+)M->(\\d+)M\\(\\d+M\\)");

    @TempDir
    private Path directory;

    /** That of another generator; ours, which benchmarks use, makes the same flows. */
    @ParameterizedTest
    @CsvSource({"min64, 1000000", "mix, 5000000"})
    void shouldMeterGeneratedTrafficExactly(final String profileName, final int packets) throws IOException {
        final Path capture = directory.resolve(profileName + ".pcap");
        final Path truth = directory.resolve(profileName + ".csv");
        final Command.Result theirs = Command.of(
            genpcap(), "--profile", profileName, "--packets", packets, "--out", capture, "--truth", truth).run().orFail();
        assertExact(capture, truth, packets);
        Files.delete(capture);
        if ("mix".equals(profileName)) {
            assertSameStatistics(theirs.output(), emitted(new GeneratedTraffic(Profiles.named(profileName))), packets);
        }
    }

    private static GeneratedTraffic emitted(final GeneratedTraffic traffic) {
        int taken = 0;
        while (taken != PacketSource.END_OF_SOURCE) {
            taken = traffic.poll(packet -> { }, BATCH);
        }
        return traffic;
    }

    private static void assertSameStatistics(
        final String theirSummary, final GeneratedTraffic ours, final int packets) {
        final Matcher theirs = SUMMARY.matcher(theirSummary);
        assertTrue(theirs.find(), theirSummary);
        long single = 0;
        long largest = 0;
        long tcpPackets = 0;
        for (int flow = 0; flow < ours.flows().flowCount(); flow++) {
            final int flowPackets = ours.flows().packets(flow);
            single += flowPackets == 1 ? 1 : 0;
            largest = Math.max(largest, flowPackets);
            tcpPackets += ours.flows().protocol(flow) == 6 ? flowPackets : 0;
        }
        assertNear(Long.parseLong(theirs.group(1)), single, 0.02);
        assertNear(Long.parseLong(theirs.group(2)), largest, 0.25);
        assertNear(Long.parseLong(theirs.group(3)), tcpPackets, 0.02);
        assertNear(Double.parseDouble(theirs.group(5)), (double) ours.consumedBytes() / packets, 0.02);
    }

    private static void assertNear(final double expected, final double actual, final double relativeTolerance) {
        assertEquals(expected, actual, expected * relativeTolerance);
    }

    private void assertExact(final Path capture, final Path truth, final int packets) {
        final Path log = directory.resolve("gc.log");
        final Meter.Outcome outcome = new Meter(directory)
            .by(Flowlag.with("meter").compiledFully().jvm("-Xms" + HEAP_MIB + "m", "-Xmx" + HEAP_MIB + "m",
                "-XX:MaxDirectMemorySize=1g", "-Xlog:gc:file=" + log))
            .option("--max-flows", "512k").run(capture);

        outcome.result().orFail();
        outcome.stats().orFailUnlessAccounted();
        assertHeapConstant(log);
        final Command.Result comparison = Command.of(Tools.require("python3", "python3"),
            SharedData.require().resolve("tools/ipfixcmp.py"), outcome.ipfixFile(), truth)
            .timeout(Duration.ofMinutes(5)).run().orFail();
        assertEquals(expectedComparison(truth, packets), comparison.output().lines().map(FiveMillionTest::comparable).toList(),
            comparison::toString);
    }

    private static List<String> expectedComparison(final Path truth, final int packets) {
        final long flows = lineCount(truth) - 1;
        return List.of(
            "distinct5tuples " + flows + " truth " + flows + " missing 0 extra 0",
            "pkts " + packets + " truth " + packets + " octets equal",
            "flow start error ns (exported-truth): min 0 median 0 max 0 exact " + flows + " of " + flows,
            "flows with wrong pkts 0 wrong octets 0");
    }

    /** Leaves out the number of records, which timeouts decide, and the sum of octets once it is equal on both sides. */
    private static String comparable(final String line) {
        return line.replaceFirst("^records \\d+ ", "").replaceFirst("octets (\\d+) truth \\1$", "octets equal")
            .replaceFirst(" split flows.*", "");
    }

    /** What survives a collection does not grow with the packets. */
    private static void assertHeapConstant(final Path log) {
        for (final String line : lines(log)) {
            final Matcher collection = COLLECTION.matcher(line);
            if (collection.find()) {
                assertTrue(Integer.parseInt(collection.group(2)) <= HEAP_AFTER_COLLECTION_MIB, line);
            }
        }
    }

    private static List<String> lines(final Path file) {
        try {
            return Files.readAllLines(file);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static long lineCount(final Path file) {
        try (Stream<String> lines = Files.lines(file)) {
            return lines.count();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Path genpcap() {
        final Path program = directory.resolve("genpcap");
        Command.of(Tools.require("gcc", "gcc"), "-O2", "-o", program, SharedData.require().resolve("tools/genpcap.c"), "-lm")
            .run().orFail();
        return program;
    }
}
