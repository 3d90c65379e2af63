package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.export.IpfixRecords;
import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.runtime.delay.DelayProcess;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Laws of the records of {@code delay} for every set of estimators, with ample and with scarce memory. No record lacks a mean
 * that an estimator has, and the other fields of a mean are of the mean's own estimator.
 */
@Tag("slow")
class DelayModesTest {
    private static final String SECTIONS = "rli: {capacity: 20m}\n";
    private static final String ESTIMATOR = "flowlagDelayEstimator";
    private static final String MEAN = "flowlagDelayMeanNanoseconds";
    private static final String DEVIATION = "flowlagDelayStandardDeviationNanoseconds";
    private static final List<String> QUANTILES = List.of(
        "flowlagDelayP50Nanoseconds", "flowlagDelayP90Nanoseconds", "flowlagDelayP95Nanoseconds", "flowlagDelayP99Nanoseconds",
        "flowlagDelayP999Nanoseconds", "flowlagDelayVariationNanoseconds");

    @TempDir
    private static Path directory;

    @BeforeAll
    static void writeCaptures() throws IOException {
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(
            directory.resolve("s"), directory.resolve("r"), CaptureWriter.Format.PCAP_NANOSECONDS);
        final Path key = Files.writeString(directory.resolve("key"), "5e".repeat(16));
        Files.setPosixFilePermissions(key, PosixFilePermissions.fromString("rw-------"));
    }

    /** One key for all runs: which cells a flow has, and so whether it has a sketch mean, depends on it. */
    private static String digestKey() {
        return "decode: {digest-key-file: " + directory.resolve("key") + "}\n";
    }

    /** As the command makes it of {@code --estimators}. */
    private static List<Map<String, List<String>>> records(final String estimators, final String yaml) throws IOException {
        final Path file = directory.resolve("flows");
        Files.deleteIfExists(file);
        final ByteArrayOutputStream said = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        final boolean isJoint = estimators.contains("joint");
        final ExporterConfig config =
            new ConfigLoader().text("test", SECTIONS + digestKey() + yaml + "\nexporting: {destinations: ['file:" + file + "']}")
                .conclude();
        final DelayOptions options = new DelayOptions(
            List.of(directory.resolve("s").toString()), List.of(directory.resolve("r").toString()), ReferenceMode.MARKED,
            estimators.contains("rli"), estimators.contains("lds"), estimators.contains("exact"), directory.resolve("truth"), 0);
        assertEquals(ExitCode.DONE, DelayProcess.run(
            config.with(isJoint ? config.joint().on() : config.joint().off())
                .with(isJoint ? config.reconcile().on() : config.reconcile()),
            options, new Terminal(stream, stream, false)), said::toString);
        return IpfixRecords.flows(file);
    }

    private static String key(final Map<String, List<String>> record) {
        return "" + record.get("sourceIPv4Address") + record.get("sourceIPv6Address") + record.get("destinationIPv4Address") +
            record.get("destinationIPv6Address") + record.get("sourceTransportPort") + record.get("destinationTransportPort") +
            record.get("protocolIdentifier");
    }

    private static Set<String> flowsWithMean(final List<Map<String, List<String>>> records) {
        final Set<String> keys = new HashSet<>();
        records.stream().filter((each) -> each.containsKey(MEAN)).forEach((each) -> keys.add(key(each)));
        return keys;
    }

    private static double number(final Map<String, List<String>> record, final String element) {
        return Double.parseDouble(record.get(element).get(0));
    }

    /** Too little room for a part of the flows, cells, packets or distributions takes no mean away. */
    @ParameterizedTest
    @ValueSource(strings = {
        "", "joint: {max-flows: 64}", "joint: {pending: 16}", "lds: {columns: 16}", "lds: {waiting-records: 16}",
        "segment: {interval: 500ms, max-delay: 300ms}", "metering: {max-flows: 32}\nlds: {columns: 32}",
        "quantiles: {memory: 2k}\nreconcile: {packets: 1k, cells: 1k}", "joint: {budget: 1ms}\nlds: {witnesses: 0}"})
    void shouldLackNoMeanThatAnEstimatorHas(final String yaml) throws IOException {
        final Set<String> byReferences = flowsWithMean(records("rli", yaml));
        final Set<String> bySketches = flowsWithMean(records("lds", yaml));
        assertTrue(byReferences.size() > 150, yaml + ": " + byReferences.size());
        for (final String estimators : List.of("rli,lds", "rli,lds,joint", "rli,lds,joint,exact")) {
            final List<Map<String, List<String>>> records = records(estimators, yaml);
            final Set<String> withMean = flowsWithMean(records);
            assertTrue(withMean.containsAll(byReferences), estimators + " " + yaml);
            assertTrue(withMean.containsAll(bySketches), estimators + " " + yaml);
            for (final Map<String, List<String>> record : records) {
                final boolean isKnown = record.containsKey("flowlagDelaySampleCount") ||
                    record.containsKey("flowlagDelayInterpolatedMeanNanoseconds") ||
                    record.containsKey("flowlagDelaySketchMeanNanoseconds");
                assertTrue(record.containsKey(MEAN) || !isKnown, record::toString);
                assertTrue(!estimators.contains("exact") || record.containsKey(MEAN), record::toString);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"exact", "rli", "lds", "rli,lds", "rli,lds,joint", "rli,exact", "rli,lds,joint,exact"})
    void shouldHaveDeviationAndQuantilesOfTheMeansEstimatorOrNone(final String estimators) throws IOException {
        int deviations = 0;
        int quantiles = 0;
        for (final String yaml : List.of("", "lds: {columns: 128}\nsegment: {interval: 1s, max-delay: 300ms}")) {
            final List<Map<String, List<String>>> records = records(estimators, yaml);
            final Map<String, String[]> truth = truth();
            for (final Map<String, List<String>> record : records) {
                final int estimator = record.containsKey(ESTIMATOR) ? (int)number(record, ESTIMATOR) : 0;
                final boolean hasQuantiles = QUANTILES.stream().anyMatch(record::containsKey);
                final boolean isOfSamples =
                    estimator == FlowDelay.ESTIMATOR_MATCHED || estimator == FlowDelay.ESTIMATOR_INTERPOLATED;
                assertTrue(isOfSamples || !hasQuantiles, record::toString);
                assertFalse(estimator == FlowDelay.ESTIMATOR_JOINT && record.containsKey(DEVIATION), record::toString);
                deviations += record.containsKey(DEVIATION) ? 1 : 0;
                quantiles += hasQuantiles ? 1 : 0;
                if (estimator == FlowDelay.ESTIMATOR_INTERPOLATED && record.containsKey(DEVIATION)) {
                    final double count = number(record, "flowlagDelaySampleCount");
                    final double sumNs = number(record, "flowlagDelaySumNanoseconds");
                    final double squares = number(record, "flowlagDelaySquareSum") - sumNs / count * sumNs;
                    final double deviationNs = Math.sqrt(Math.max(0, squares / (count - 1)));
                    assertEquals(deviationNs, number(record, DEVIATION), 1 + deviationNs / 1e4, record::toString);
                }
                final String[] line = truth.get(key(record));
                if (estimator == FlowDelay.ESTIMATOR_MATCHED && line != null && record.containsKey(DEVIATION) &&
                    Long.parseLong(line[6]) == (long)number(record, "packetDeltaCount")) {
                    assertEquals(Double.parseDouble(line[8]), number(record, DEVIATION), 1, record::toString);
                    for (final String quantile : QUANTILES.subList(0, 5)) {
                        assertTrue(!record.containsKey(quantile) ||
                            number(record, quantile) >= 0.95 * Double.parseDouble(line[9]) &&
                            number(record, quantile) <= 1.05 * Double.parseDouble(line[10]), record::toString);
                    }
                }
            }
        }
        final boolean isOfPacketsOften = estimators.contains("exact") || !estimators.contains("lds");
        assertTrue(quantiles > 0 || !isOfPacketsOften, estimators + ": quantiles " + quantiles);
        assertTrue(deviations > 0 || !isOfPacketsOften, estimators + ": deviations " + deviations);
    }

    private static Map<String, String[]> truth() throws IOException {
        final Map<String, String[]> lines = new HashMap<>();
        final List<String> all = Files.readAllLines(directory.resolve("truth"));
        for (final String line : all.subList(1, all.size())) {
            final String[] cells = line.split(",", -1);
            if (!cells[0].contains(":")) {
                lines.put("[" + hex(cells[0]) + "]null[" + hex(cells[1]) + "]null[" + cells[3] + "][" + cells[4] + "][" +
                    cells[2] + "]", cells);
            }
        }
        return lines;
    }

    private static String hex(final String address) {
        int value = 0;
        for (final String octet : address.split("\\.")) {
            value = value << 8 | Integer.parseInt(octet);
        }
        return Integer.toHexString(value);
    }

    /** The statistics, the options records and the summary tell of the same bounds. */
    @Test
    void shouldSayTheSameOfJointBoundsEverywhere() throws IOException {
        final Path file = directory.resolve("told");
        final Path stats = directory.resolve("stats");
        final ByteArrayOutputStream said = new ByteArrayOutputStream();
        final PrintStream stream = new PrintStream(said, true, StandardCharsets.UTF_8);
        final ExporterConfig config = new ConfigLoader().text("test", SECTIONS + "lds: {columns: 64}\nstats: {file: " + stats +
            "}\nexporting: {destinations: ['file:" + file + "?options=on']}").conclude();
        final DelayOptions options = new DelayOptions(
            List.of(directory.resolve("s").toString()), List.of(directory.resolve("r").toString()), ReferenceMode.MARKED, true,
            true, false, null, 0);
        assertEquals(ExitCode.DONE, DelayProcess.run(config.with(config.joint().on()).with(config.reconcile().on()),
            options, new Terminal(stream, stream, false)), said::toString);
        final String json = Files.readString(stats);
        final String vouched = json.replaceAll("(?s).*\"vouched_flows\" *: *([0-9]+).*", "$1");
        final String answered = json.replaceAll("(?s).*\"answered_flows\" *: *([0-9]+).*", "$1");
        final String bounds = "bounds for " + vouched + " of " + answered + " flows";
        assertTrue(Integer.parseInt(vouched) > 0, json);
        assertTrue(said.toString(StandardCharsets.UTF_8).contains("witness flows, " + bounds), said::toString);
        assertTrue(
            IpfixRecords.options(file).stream().anyMatch((each) -> each.toString().contains("witnesses, " + bounds)), bounds);
    }
}
