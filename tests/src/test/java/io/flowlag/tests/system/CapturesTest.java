package io.flowlag.tests.system;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.Meter;
import io.flowlag.tests.support.SharedData;
import io.flowlag.tests.support.SharedData.Capture;
import io.flowlag.tests.support.SharedData.Expectation;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** Captures through {@code meter}: exit codes, flows against their truth, every packet accounted for. */
class CapturesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "PCAP_MICROSECONDS, little", "PCAP_MICROSECONDS, big", "PCAP_NANOSECONDS, little", "PCAP_NANOSECONDS, big",
        "PCAPNG_MICROSECONDS, little", "PCAPNG_NANOSECONDS, big"})
    void shouldMeterGeneratedTrafficExactly(final CaptureWriter.Format format, final String order) {
        final Path capture = directory.resolve("demo.cap");
        final ByteOrder byteOrder = "big".equals(order) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN;
        final List<Flow> truth =
            Flows.of(Captures.write(TrafficProfile.demo(), capture, format, byteOrder).flows());

        final Meter.Outcome outcome = new Meter(directory).run(capture);

        outcome.result().orFail();
        Flows.assertSame(truth, outcome.reception().orFail().flows(), capture.toString());
        assertEquals(TrafficProfile.demo().packetCount(),
            outcome.stats().orFailUnlessAccounted().counter(CounterId.METERED));
    }

    @Test
    void shouldMeterSeveralFilesAsOne() throws IOException {
        final TrafficProfile demo = TrafficProfile.demo();
        final Path first = directory.resolve("first.pcap");
        final Path second = directory.resolve("second.pcap");
        final List<Flow> truth = Stream.concat(
            Captures.writeDemo(first).stream(),
            Flows.of(Captures.write(
                demo.toBuilder().seed(7).startNs(demo.startNs() + demo.durationNs()).build(), second).flows()).stream()).toList();

        final Meter.Outcome outcome = new Meter(directory).run(first, second);

        outcome.result().orFail();
        Flows.assertSame(truth, outcome.reception().orFail().flows(), "two files");
        outcome.stats().orFailUnlessAccounted();
    }

    @Test
    void shouldExportEverythingBeforeACut() throws IOException {
        final Path whole = directory.resolve("whole.pcap");
        Captures.writeDemo(whole);
        final byte[] octets = Files.readAllBytes(whole);
        final Path cut = Files.write(directory.resolve("cut.pcap"), Arrays.copyOf(octets, octets.length - 1));

        final Meter.Outcome outcome = new Meter(directory).run(cut);

        assertEquals(65, outcome.exitCode(), outcome.result()::toString);
        assertEquals(1, outcome.result().errorLines().size(), outcome.result()::toString);
        assertEquals(TrafficProfile.demo().packetCount() - 1,
            outcome.reception().orFail().flows().stream().mapToLong(Flow::packets).sum());
        outcome.stats().orFailUnlessAccounted();
    }

    @Test
    void shouldFindNothingInACaptureWithoutPackets() throws IOException {
        final Path empty = directory.resolve("empty.pcap");
        new CaptureWriter(empty, CaptureWriter.Format.PCAP_MICROSECONDS).close();

        final Meter.Outcome outcome = new Meter(directory).run(empty);

        outcome.result().orFail();
        assertEquals(List.of(), outcome.reception().orFail().flows());
        assertEquals(0, outcome.stats().orFailUnlessAccounted().counter(CounterId.CAPTURED));
    }

    /** One capture of each kind. */
    @TestFactory
    Stream<DynamicTest> shouldMeterASampleOfSharedCaptures() {
        final Set<String> kinds = ConcurrentHashMap.newKeySet();
        return SharedData.manifest().stream()
            .filter(capture -> kinds.add(capture.expectation() + " " + capture.agreed() + " " + category(capture)))
            .filter(capture -> sizeBytes(capture) < 1 << 20)
            .limit(40)
            .map(this::test);
    }

    @TestFactory
    @Tag("slow")
    Stream<DynamicTest> shouldMeterEverySharedCapture() {
        return SharedData.manifest().stream().map(this::test);
    }

    private DynamicTest test(final Capture capture) {
        return DynamicTest.dynamicTest(capture.toString(), capture.file().toUri(), () -> meter(capture));
    }

    private void meter(final Capture capture) throws IOException {
        final Path output = Files.createTempDirectory(directory, "capture");
        final Meter.Outcome outcome = new Meter(output).by(new Flowlag().inThisJvm()).run(capture.file());

        assertEquals(capture.expectation().exitCode(), outcome.exitCode(), outcome.result()::toString);
        final long errorLines = outcome.result().errorLines().stream().filter(line -> !line.contains("link-layer type")).count();
        if (capture.expectation().exitCode() == 0) {
            assertEquals(0, errorLines, outcome.result()::toString);
        } else {
            assertEquals(1, errorLines, outcome.result()::toString);
        }
        if (Files.exists(outcome.statsFile())) {
            verifyRecords(capture, outcome);
        } else if (capture.expectation() != Expectation.REFUSE_FILE) {
            // Not even the header of the file could be read.
            assertEquals(List.of(), capture.truth(), "truth of a capture that was refused");
        }
    }

    private static void verifyRecords(final Capture capture, final Meter.Outcome outcome) {
        outcome.stats().orFailUnlessAccounted();
        final List<Flow> flows = outcome.reception().orFail().flows();
        if (capture.agreed()) {
            Flows.assertSameCounts(capture.truth(), flows, capture.toString());
        }
        if (capture.agreed() && capture.expectation() == Expectation.FLOWS) {
            assertEquals(capture.packets(), outcome.stats().counter(CounterId.CAPTURED), "packets captured");
        }
        if (capture.expectation() == Expectation.SKIP && capture.truth().isEmpty()) {
            assertEquals(outcome.stats().counter(CounterId.CAPTURED), outcome.stats().refused(), "packets refused");
        }
    }

    private static String category(final Capture capture) {
        return capture.file().getParent().getFileName().toString();
    }

    private static long sizeBytes(final Capture capture) {
        try {
            return Files.size(capture.file());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }
}
