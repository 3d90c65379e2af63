package io.flowlag.exporter.runtime.delay;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.decode.SharedData;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.delay.exact.TruthWriter;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.exporter.runtime.selftest.SelfTestProcess;
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
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class DelayProcessTest {
    private static final String SWITCH = "twopoint/det6g_tsn_untagged_";

    @TempDir
    private Path directory;

    private final ByteArrayOutputStream out = new ByteArrayOutputStream();
    private final ByteArrayOutputStream err = new ByteArrayOutputStream();
    private final Terminal terminal = new Terminal(
        new PrintStream(out, true, StandardCharsets.UTF_8), new PrintStream(err, true, StandardCharsets.UTF_8), false);

    private ExporterConfig config(final String yaml) {
        return new ConfigLoader().text("test", yaml)
            .option("--stats", ConfigTable.STATS_FILE, List.of(directory.resolve("stats.json").toString())).conclude();
    }

    private DelayOptions options(
        final Path sender, final Path receiver, final ReferenceMode mode, final boolean isInterpolated, final boolean isExact) {
        return new DelayOptions(
            List.of(sender.toString()), List.of(receiver.toString()), mode, isInterpolated, false, isExact,
            directory.resolve("truth.csv"), 0);
    }

    private JsonNode delay() throws IOException {
        return new ObjectMapper().readTree(directory.resolve("stats.json").toFile()).get("delay");
    }

    @Test
    void shouldReproduceTheTruthOfARealSwitchToTheNanosecond() throws IOException {
        final DelayOptions options = options(
            SharedData.capture(SWITCH + "ingress.pcap"), SharedData.capture(SWITCH + "egress.pcap"), ReferenceMode.MARKED, false,
            true);
        assertEquals(ExitCode.DONE, DelayProcess.run(config("metering: {active-timeout: 1h}"), options, terminal));

        final List<String> truth = Files.readAllLines(directory.resolve("truth.csv"));
        assertEquals(
            List.of("10.2.0.1,10.2.0.2,17,6666,6666,1000,1000,4546.400,45.229,4410,4670"), truth.subList(1, truth.size()));
        assertEquals(0, delay().get("counters").get("match_lost").asLong());
        assertTrue(
            out.toString(StandardCharsets.UTF_8).matches(
                "(?s).* 4\\.546 +0\\.045 +\\S+ +exact-match +0 .*"), out::toString);
    }

    @Test
    void shouldFindTheTruthOfARealSwitchBySketchesAlone() throws IOException {
        final DelayOptions options = new DelayOptions(
            List.of(SharedData.capture(SWITCH + "ingress.pcap").toString()),
            List.of(SharedData.capture(SWITCH + "egress.pcap").toString()), ReferenceMode.MARKED, false, true, false, null, 0);
        final String yaml = "metering: {active-timeout: 1h}\njoint: {enabled: off}";
        assertEquals(ExitCode.DONE, DelayProcess.run(config(yaml), options, terminal));

        assertTrue(
            out.toString(StandardCharsets.UTF_8).matches(
                "(?s).* 4\\.546 +(0\\.0\\d\\d|-) +\\S+ +sketch +0 .*4\\.546 +\\+0\\.0\n.*"),
            out::toString);
        final JsonNode delay = delay();
        assertTrue(delay.get("identity").get("holds").asBoolean(), delay::toString);
        final JsonNode total = delay.get("sketches").get(0).get("total").get(0);
        assertEquals(1000, total.get("samples").asLong());
        assertEquals(4546, total.get("mean_ns").asLong());
        assertEquals(1, delay.get("counters").get("lds_bounds_held").asLong());
    }

    @Test
    void shouldEstimateBetweenPacketsOfARealSwitchWithoutAReference() throws IOException {
        final DelayOptions options = options(
            SharedData.capture(SWITCH + "ingress.pcap"), SharedData.capture(SWITCH + "egress.pcap"), ReferenceMode.MARKED, true,
            false);
        assertEquals(ExitCode.DONE, DelayProcess.run(
            config("rli: {policy: passive, passive-share: 0.1}\nmetering: {active-timeout: 1h}"), options, terminal));

        final JsonNode delay = delay();
        assertTrue(delay.get("identity").get("holds").asBoolean(), delay::toString);
        assertEquals("passive", delay.get("policy").asText());
        final long references = delay.get("counters").get("passive_matched").asLong();
        assertEquals(100, references, 40, "a tenth of 1000 packets");
        assertEquals(references, delay.get("counters").get("rli_references_settled").asLong());
        assertEquals(0, delay.get("counters").get("passive_refused").asLong());
        assertEquals(4546, delay.get("total").get(0).get("estimates").get("mean_ns").asLong(), 20);
    }

    /** With one key always: with another in some hundreds a cell has packets of both flows, and the mean is not exact. */
    @Test
    void shouldBoundTheLossOfASimulatedConnectionBySketches() throws IOException {
        final Path key = Files.writeString(directory.resolve("key"), "000102030405060708090a0b0c0d0e0f");
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
        final DelayOptions options = new DelayOptions(
            List.of(SharedData.capture("twopoint/trex_tcp2_http_drop_client.pcap").toString()),
            List.of(SharedData.capture("twopoint/trex_tcp2_http_drop_server.pcap").toString()), ReferenceMode.MARKED, true, true,
            false, null, 0);
        final String digestKey = "decode: {digest-key-file: " + key + "}";
        assertEquals(ExitCode.DONE, DelayProcess.run(
            config(digestKey + "\nsegment: {source: 16.0.0.0/8}"), options, terminal));

        assertTrue(
            out.toString(StandardCharsets.UTF_8).matches(
                "(?s).*16\\.0\\.0\\.1 +48\\.0\\.0\\.1 .* <=[0-9]+ .*25000\\.000 +\\+0\\.0\n.*"),
            out::toString);
        assertTrue(delay().get("identity").get("holds").asBoolean());

        out.reset();
        assertEquals(ExitCode.DONE, DelayProcess.run(config(digestKey), options, terminal));

        assertTrue(
            out.toString(StandardCharsets.UTF_8).matches(
                "(?s).*16\\.0\\.0\\.1 +48\\.0\\.0\\.1 .* <=[0-9]+ .*25000\\.000 +\\+0\\.0\n.*"),
            "without the direction what the other way lost came unexpected, which makes bounds larger: " + out);
    }

    /** Each is what the key allows alone. */
    @ParameterizedTest
    @CsvSource({"'metering: {max-flows: 8m}', metering.max-flows", "'lds: {waiting-records: 8m}', lds.waiting-records"})
    void shouldRefuseMoreFlowsAndRecordsThanFitOneBuffer(final String yaml, final String key) {
        final DelayOptions options = new DelayOptions(
            List.of(SharedData.capture(SWITCH + "ingress.pcap").toString()),
            List.of(SharedData.capture(SWITCH + "egress.pcap").toString()), ReferenceMode.MARKED, true, true, false, null, 0);
        final ExitException refusal = assertThrows(
            ExitException.class, () -> DelayProcess.run(config(yaml), options, terminal));
        assertEquals(ExitCode.CONFIGURATION, refusal.exitCode());
        assertTrue(refusal.getMessage().startsWith(key + "=8388608: must not be above "), refusal.getMessage());
    }

    @Test
    void shouldTellOfTheClocksOnlyWhatTheConfigurationSays() throws IOException {
        final Path bound = Files.writeString(directory.resolve("bound"), "350 ns\n");
        assertEquals(350, clockErrorNs("clock: {file: " + bound + "}"));
        assertEquals("flowlag: of 2070 packets, in no flow: 70 not ip\n", err.toString(StandardCharsets.UTF_8));
        assertEquals(42_000, clockErrorNs("clock: {error: 42us}"));
        assertEquals(-1, clockErrorNs(""), "captures of other hosts");
        assertEquals(-1, clockErrorNs("clock: {file: " + Files.writeString(directory.resolve("no"), "soon") + "}"));
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("such as 350ns or 0.2 ms; records do not tell"), err::toString);
    }

    private long clockErrorNs(final String yaml) throws IOException {
        final DelayOptions options = options(
            SharedData.capture(SWITCH + "ingress.pcap"), SharedData.capture(SWITCH + "egress.pcap"), ReferenceMode.MARKED, false,
            true);
        final ExporterConfig config = new ConfigLoader().text("test", yaml)
            .option("--stats", ConfigTable.STATS_FILE, List.of(directory.resolve("stats.json").toString()))
            .option("--export", ConfigTable.DESTINATIONS, List.of("file:" + directory.resolve("flows.ipfix"))).conclude();
        assertEquals(ExitCode.DONE, DelayProcess.run(config, options, terminal));
        final long told = delay().has("clock_error_ns") ? delay().get("clock_error_ns").asLong() : -1;
        final List<Map<String, List<String>>> flows = IpfixRecords.flows(directory.resolve("flows.ipfix"));
        assertTrue(!flows.isEmpty(), "no flows");
        for (final Map<String, List<String>> flow : flows) {
            assertEquals(
                told < 0 ? null : List.of(Long.toString(told)), flow.get("flowlagClockErrorBoundNanoseconds"));
        }
        return told;
    }

    @Test
    void shouldExportEveryIntervalOnceHoweverFastCapturesAreRead() throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        segment.writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        final String yaml = "rli: {capacity: 20m, classes: [0, 46]}\nsegment: {max-delay: 1s, interval: 10ms, id: 7}\n" +
            "clock: {error: 1us}\n";
        final ExporterConfig config = new ConfigLoader().text("test", yaml)
            .option("--stats", ConfigTable.STATS_FILE, List.of(directory.resolve("stats.json").toString()))
            .option("--export", ConfigTable.DESTINATIONS, List.of("file:" + directory.resolve("flows.ipfix"))).conclude();
        assertEquals(
            ExitCode.DONE, DelayProcess.run(config, options(sender, receiver, ReferenceMode.MARKED, true, false), terminal));

        final List<Map<String, List<String>>> options = IpfixRecords.options(directory.resolve("flows.ipfix"));
        for (final String name : List.of("estimates", "references")) {
            final List<Map<String, List<String>>> summaries =
                options.stream().filter((each) -> List.of(name).equals(each.get("selectorName"))).toList();
            final long count = summaries.stream()
                .mapToLong((each) -> Long.parseLong(each.get("flowlagDelaySampleCount").get(0))).sum();
            final Set<String> scopes = new TreeSet<>();
            summaries.forEach((each) -> scopes.add(each.get("ipClassOfService") + " " + each.get("observationTimeMilliseconds")));
            assertTrue(summaries.size() > 50, () -> name + " " + summaries.size());
            assertEquals(summaries.size(), scopes.size(), "an interval was told of twice");
            assertEquals(total(name), count, "an interval was skipped");
        }
        assertEquals(0, counters().get("interval_summaries_skipped").asLong());
        final Map<String, List<String>> described = options.stream()
            .filter((each) -> each.containsKey("interfaceName") && each.containsKey("flowlagSegmentId")).findFirst()
            .orElseThrow();
        assertEquals(List.of("7"), described.get("flowlagSegmentId"));
        assertEquals(List.of(sender.toString(), receiver.toString()), described.get("interfaceName"));
        assertEquals(List.of("both rli adaptive, classes 0 46, clock synchronized"), described.get("selectorName"));
        assertEquals(List.of("1000"), described.get("flowlagClockErrorBoundNanoseconds"));
    }

    private JsonNode counters() throws IOException {
        return new ObjectMapper().readTree(directory.resolve("stats.json").toFile()).get("counters");
    }

    private long total(final String name) throws IOException {
        long count = 0;
        for (final JsonNode each : delay().get("total")) {
            count += each.get(name).get("count").asLong();
        }
        return count;
    }

    @Test
    void shouldSayThatTwoCapturesAreNotOfTheSameTraffic() throws IOException {
        final Path capture = SharedData.capture(SWITCH + "ingress.pcap");
        final Path other = SharedData.capture("twopoint/trex_tcp2_http_drop_client.pcap");
        DelayProcess.run(config(""), options(capture, other, ReferenceMode.MARKED, true, true), terminal);
        assertTrue(err.toString(StandardCharsets.UTF_8).contains("do not see the same packets"), err::toString);
    }

    @Test
    void shouldMeasureReferencesInCapturesAndWriteTheSimulatedTruth() throws IOException {
        final SegmentProfile profile = SegmentProfile.demo();
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        segment.writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        final String yaml = "rli: {capacity: 20m, serialisation: capacity}\nsegment: {max-delay: 1s}\n";
        assertEquals(
            ExitCode.DONE,
            DelayProcess.run(config(yaml), options(sender, receiver, ReferenceMode.CAPTURED, true, false), terminal));

        final List<String> measured = Files.readAllLines(directory.resolve("truth.csv"));
        final Set<String> missing = new TreeSet<>(simulated(segment));
        assertEquals(missing.size(), measured.size() - 1);
        missing.removeAll(measured.stream().map(DelayProcessTest::withoutDecimals).toList());
        assertEquals(Set.of(), missing);
        final JsonNode delay = delay();
        assertTrue(delay.get("identity").get("holds").asBoolean(), delay::toString);
        assertEquals(0, delay.get("counters").get("rli_references_by_stamp").asLong());
        final double bounded = delay.get("counters").get("bounded_flows").asLong();
        final double held = delay.get("counters").get("bounds_held").asLong();
        assertTrue(bounded > 100 && held / bounded >= 0.95, held + " of " + bounded);
    }

    @Test
    void shouldFitTheTimeOfTransmissionToMarkedPacketsUnlessToldOtherwise() throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        segment.writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        final String yaml = "rli: {every-n: 10}\nsegment: {max-delay: 1s}\n";
        assertEquals(
            ExitCode.DONE,
            DelayProcess.run(config(yaml), options(sender, receiver, ReferenceMode.MARKED, true, false), terminal));

        final JsonNode delay = delay();
        final double bounded = delay.get("counters").get("bounded_flows").asLong();
        final double held = delay.get("counters").get("bounds_held").asLong();
        assertTrue(bounded > 100 && held / bounded >= 0.95, held + " of " + bounded);
        assertEquals(400, delay.get("gauges").get("serialisation_ns_per_byte").asDouble(), 100);
    }

    @Test
    void shouldBoundDelaysByPacketsThatAreMarkedByTime() throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        segment.writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        final String yaml = "rli: {policy: every-interval, every-interval: 1ms, capacity: 20m, serialisation: capacity}\n" +
            "segment: {max-delay: 1s}\n";
        assertEquals(
            ExitCode.DONE,
            DelayProcess.run(config(yaml), options(sender, receiver, ReferenceMode.MARKED, true, false), terminal));

        final double bounded = delay().get("counters").get("bounded_flows").asLong();
        final double held = delay().get("counters").get("bounds_held").asLong();
        assertTrue(bounded > 100 && held / bounded >= 0.95, held + " of " + bounded);
    }

    private static String withoutDecimals(final String line) {
        final String[] cells = line.split(",");
        return String.join(",", List.of(cells).subList(0, 7)) + "," + cells[9] + "," + cells[10];
    }

    private static List<String> simulated(final SimulatedSegment segment) {
        final SegmentTruth truth = segment.truth();
        final TrafficFlows flows = segment.flows();
        return IntStream.range(0, truth.flowCount()).mapToObj((flow) ->
            flows.sourceAddress(flow) + "," + flows.destinationAddress(flow) + "," + flows.protocol(flow) + "," +
            flows.sourcePort(flow) + "," + flows.destinationPort(flow) + "," + truth.sentPackets(flow) + "," +
            truth.receivedPackets(flow) + "," + truth.minimumNs(flow) + "," + truth.maximumNs(flow)).toList();
    }

    @Test
    void shouldFindTheDelayAndTheLossThatTheSelfTestAdds() throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = directory.resolve("sender.pcap");
        segment.writeCaptures(sender, directory.resolve("receiver.pcap"), CaptureWriter.Format.PCAP_NANOSECONDS);
        assertEquals(
            ExitCode.DONE, SelfTestProcess.run(config("rli: {every-n: 20}"), List.of(sender.toString()), terminal),
            () -> out.toString(StandardCharsets.UTF_8) + err.toString(StandardCharsets.UTF_8));
        assertTrue(out.toString(StandardCharsets.UTF_8).contains("found"), out::toString);
        assertEquals("", err.toString(StandardCharsets.UTF_8));
    }

    @Test
    void shouldTellADamagedCaptureOfTheSelfTestByItsExitCode() throws IOException {
        final SimulatedSegment segment = new SimulatedSegment(SegmentProfile.demo());
        final Path sender = directory.resolve("sender.pcap");
        segment.writeCaptures(sender, directory.resolve("receiver.pcap"), CaptureWriter.Format.PCAP_NANOSECONDS);
        try (FileChannel channel = FileChannel.open(sender, StandardOpenOption.WRITE)) {
            channel.truncate(channel.size() - 1);
        }
        assertEquals(
            ExitCode.DAMAGED_INPUT, SelfTestProcess.run(config("rli: {every-n: 20}"), List.of(sender.toString()), terminal));
        final String message = err.toString(StandardCharsets.UTF_8);
        assertTrue(message.matches("flowlag: .*sender\\.pcap.* everything before it was measured\n"), message);
        assertFalse(out.toString(StandardCharsets.UTF_8).contains("NOT FOUND"), out::toString);
    }

    @Test
    void shouldSayOfCapturesCutInTheirFirstPacketNothingButThat() throws IOException {
        final List<Path> files = List.of(directory.resolve("sender.pcap"), directory.resolve("receiver.pcap"));
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(
            files.get(0), files.get(1), CaptureWriter.Format.PCAP_NANOSECONDS);
        for (final Path file : files) {
            Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 24 + 16 + 1));
        }
        assertEquals(ExitCode.DAMAGED_INPUT, DelayProcess.run(
            config(""), options(files.get(0), files.get(1), ReferenceMode.MARKED, true, true), terminal));
        final String message = err.toString(StandardCharsets.UTF_8);
        assertTrue(message.matches("(flowlag: .*\\.pcap.* everything before it was measured\n){2}"), message);
    }

    @Test
    void shouldReadStandardInputAtOnePointAlone() {
        final DelayOptions options =
            new DelayOptions(List.of("-"), List.of("-"), ReferenceMode.MARKED, true, false, true, null, 0);
        final CaptureException refusal =
            assertThrows(CaptureException.class, () -> DelayProcess.run(config(""), options, terminal));
        assertEquals("standard input is named more than once; it can be read once only", refusal.getMessage());
    }

    @Test
    void shouldSayThatTrafficIsTooLittleForTheSelfTest() throws IOException {
        final Path capture = few("few.pcap", SWITCH + "ingress.pcap", 10);
        assertEquals(ExitCode.NO_INPUT, SelfTestProcess.run(config(""), List.of(capture.toString()), terminal));
        assertTrue(
            err.toString(StandardCharsets.UTF_8).startsWith("flowlag: self-test: too little traffic: 10 packets, "),
            err::toString);
    }

    @Test
    void shouldSayThatSmallCapturesAreNotOfTheSameTrafficAndHaveNoReferences() throws IOException {
        final Path sender = few("sender.pcap", SWITCH + "ingress.pcap", 30);
        final Path receiver = few("receiver.pcap", "twopoint/trex_tcp2_http_drop_client.pcap", 10);
        final DelayOptions options = new DelayOptions(List.of(sender.toString()), List.of(receiver.toString()),
            ReferenceMode.CAPTURED, true, false, true, Path.of("-"), 0);
        assertEquals(ExitCode.DONE, DelayProcess.run(config("segment: {max-delay: 1s}"), options, terminal));
        final List<String> lines = err.toString(StandardCharsets.UTF_8).lines().toList();
        assertTrue(lines.stream().anyMatch((line) -> line.contains("do not see the same packets")), err::toString);
        assertTrue(lines.get(lines.size() - 1).contains("no reference packets were found"), err::toString);
        assertTrue(out.toString(StandardCharsets.UTF_8).contains(TruthWriter.HEADER + "\n"), out::toString);
    }

    /** The first packets of a pcap file. */
    private Path few(final String name, final String capture, final int packets) throws IOException {
        final ByteBuffer octets = ByteBuffer.wrap(Files.readAllBytes(SharedData.capture(capture)));
        octets.order(octets.get(0) == (byte)0xA1 ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);
        int end = 24;
        for (int i = 0; i < packets; i++) {
            end += 16 + octets.getInt(end + 8);
        }
        return Files.write(directory.resolve(name), Arrays.copyOf(octets.array(), end));
    }
}
