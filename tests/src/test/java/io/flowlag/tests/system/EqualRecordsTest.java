package io.flowlag.tests.system;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Meter;
import io.flowlag.tests.support.SharedData;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The distribution of agents over threads does not change the records. */
class EqualRecordsTest {
    /** Element 148 and its octets. */
    private static final Pattern FLOW_ID = Pattern.compile("\\b0/148:[0-9a-f]{16} ");

    @TempDir
    private Path directory;

    @Test
    void shouldMakeEqualRecordsInEveryThreadingMode() throws IOException {
        final Path capture = directory.resolve("demo.pcap");
        Captures.writeDemo(capture);

        assertEqualRecords(capture);
    }

    @Test
    void shouldMakeEqualRecordsOfRealTrafficInEveryThreadingMode() throws IOException {
        assertEqualRecords(SharedData.capture("mix/mix_dev_70k_snap96.nsec.pcap"));
    }

    /** Each record is of one second, and has all packets of its flow in it, at both points but for packets under way. */
    @Test
    void shouldCutRecordsAtTheSameTimesAtBothPointsInEveryThreadingMode() throws IOException {
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        final Path config = Files.writeString(directory.resolve("cut.yaml"), "metering: {cut: 1s}");
        final List<Map<String, Flow>> points = new ArrayList<>();
        for (final Path capture : List.of(sender, receiver)) {
            assertEqualRecords(capture, "--config", config.toString());
            final List<Flow> flows = IpfixReader.read(directory.resolve("sharded/" + capture.getFileName() + ".ipfix"))
                .orFail().flows();
            flows.forEach((each) -> assertEquals(each.firstMs() / 1000, each.lastMs() / 1000, each::toString));
            points.add(flows.stream().collect(
                Collectors.toMap((each) -> each.key() + " " + each.firstMs() / 1000, Function.identity())));
        }
        final long alike = points.get(1).entrySet().stream().filter((each) -> points.get(0).containsKey(each.getKey()) &&
            points.get(0).get(each.getKey()).packets() == each.getValue().packets()).count();
        assertTrue(alike > points.get(1).size() / 2, alike + " of " + points.get(1).size());
    }

    /** With short timeouts, so that flows end for every reason. */
    private void assertEqualRecords(final Path capture, final String... options) throws IOException {
        final List<String> invoker = records(capture, "invoker", options);

        assertFalse(invoker.isEmpty());
        assertEquals(invoker, records(capture, "shared", options));
        assertEquals(invoker, records(capture, "pipelined", options));
        assertEquals(withoutFlowIds(invoker), withoutFlowIds(records(capture, "sharded", options)));
    }

    /** Flow ids are unique in every mode, but which flow has which differs. */
    private static List<String> withoutFlowIds(final List<String> records) {
        return records.stream().map((each) -> FLOW_ID.matcher(each).replaceFirst("")).sorted().toList();
    }

    private List<String> records(final Path capture, final String threading, final String... options) throws IOException {
        final Path output = Files.createDirectories(directory.resolve(threading));
        final Meter meter = new Meter(output).option("--threading", threading).option("--active", "3s").option("--idle", "1s");
        for (int i = 0; i < options.length; i += 2) {
            meter.option(options[i], options[i + 1]);
        }
        final Meter.Outcome outcome = meter.run(capture);
        outcome.result().orFail();
        outcome.stats().orFailUnlessAccounted();
        final IpfixReader reader = IpfixReader.of(outcome.ipfixFile());
        reader.reception().orFail();
        return reader.records().stream().sorted().toList();
    }
}
