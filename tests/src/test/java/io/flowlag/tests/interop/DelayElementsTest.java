package io.flowlag.tests.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.status.Counters;
import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.IpfixDump;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Tools;
import io.flowlag.tests.support.TransportCapture;
import io.flowlag.tests.support.Tshark;
import io.flowlag.tests.support.UdpSink;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Records with delay, made here so that every element has a value that is known, through real collectors with the definition
 * files that {@code docs/collectors} ships: what its page says of each is what is seen here.
 */
@Tag("interop")
class DelayElementsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(30);
    private static final long START_NS = 1_700_000_000_123_000_000L;
    private static final long NS_PER_MS = 1_000_000L;
    private static final int PACKETS = 3;
    private static final int OCTETS = 300;
    private static final int PLUGINS = 3;
    private static final int PORT_OF_DELAYED = 1001;
    private static final int PORT_OF_NEGATIVE = 1002;
    private static final int PORT_OF_UNMEASURED = 1003;
    private static final List<Flow> FLOWS =
        List.of(flow(PORT_OF_DELAYED), flow(PORT_OF_NEGATIVE), flow(PORT_OF_UNMEASURED));

    @TempDir
    private Path directory;

    @Test
    void shouldShowDelayByNameInIpfixDumpWithTheShippedElementFile() throws IOException {
        final Path file = directory.resolve("delay.ipfix");
        export("file:" + file + "?options=off");

        final String dump = dump(file, "-e", shipped("libfixbuf-elements.xml"));

        assertTrue(dump.matches("(?s).*pathDelayMeanDeltaMicroseconds\\s*: 2000\\n.*"), dump);
        assertTrue(dump.matches("(?s).*pathDelayMinDeltaMicroseconds\\s*: 1000\\n.*"), dump);
        assertTrue(dump.matches("(?s).*pathDelayMaxDeltaMicroseconds\\s*: 3000\\n.*"), dump);
        assertTrue(dump.matches("(?s).*pathDelaySumDeltaMicroseconds\\s*: 6000\\n.*"), dump);
        assertTrue(dump.matches("(?s).*flowlagDelayMeanNanoseconds\\s*: 2000000\\n.*"), dump);
        assertTrue(dump.matches("(?s).*flowlagDelayMinimumNanoseconds\\s*: -3000000\\n.*"), dump);
        assertEquals(1, occurrences(dump, "pathDelayMeanDeltaMicroseconds"), "a negative or unknown mean is absent");
    }

    @Test
    void shouldShowEnterpriseElementsByNameInIpfixDumpFromTheTypeRecordsAlone() throws IOException {
        final Path file = directory.resolve("typed.ipfix");
        export("file:" + file);

        final String dump = dump(file, "--rfc5610");

        assertTrue(dump.matches("(?s).*flowlagDelayMinimumNanoseconds\\s*: -3000000\\n.*"), dump);
        assertFalse(dump.contains("pathDelayMeanDeltaMicroseconds"), "RFC 5610 does not describe elements of IANA");
        Flows.assertSame(FLOWS, IpfixDump.read(file).orFail().flows(), "ipfixDump");
    }

    @Test
    void shouldShowDelayInNfacctdWithTheShippedConfiguration() throws IOException {
        final int port = Ports.freeUdp();
        final Path configuration = Files.writeString(directory.resolve("nfacctd.conf"),
            Files.readString(shipped("pmacct-nfacctd.conf"))
                .replace("nfacctd_port: 4739", "nfacctd_port: " + port)
                .replace("aggregate_primitives: ", "aggregate_primitives: " + shipped("").toAbsolutePath() + "/")
                .replaceAll("(?m)(print_output_file\\[.*): ", "$1: " + directory + "/")
                .replace("print_refresh_time: 10", "print_refresh_time: 86400"));
        final String log;
        try (Command.Running nfacctd =
            Command.of(Tools.require("nfacctd", "pmacct"), "-f", configuration).timeout(TIMEOUT).start()) {
            Deadline.await(TIMEOUT, () -> isListening(nfacctd.output() + nfacctd.errors()), nfacctd::errors);
            export("udp://127.0.0.1:" + port);
            Deadline.await(TIMEOUT, () -> Ports.isUdpDrained(port), nfacctd::errors);
            nfacctd.signal("INT");
            log = nfacctd.finish().toString();
        }

        assertFalse(log.contains("WARN") || log.contains("ERROR"), log);
        assertEquals(FLOWS.size(), flowsByPort("flows.json").size());
        final Map<Integer, JsonNode> delays = flowsByPort("delay.json");
        assertTrue(delays.keySet().containsAll(Set.of(PORT_OF_DELAYED, PORT_OF_NEGATIVE)), delays::toString);
        assertEquals("2000000", delays.get(PORT_OF_DELAYED).get("flowlag_delay_mean_nanoseconds").asText());
        assertEquals(Long.toUnsignedString(-3 * NS_PER_MS),
            delays.get(PORT_OF_NEGATIVE).get("flowlag_delay_minimum_nanoseconds").asText());
        final Map<Integer, JsonNode> paths = flowsByPort("path.json");
        assertTrue(paths.containsKey(PORT_OF_DELAYED), paths::toString);
        assertEquals("2000", paths.get(PORT_OF_DELAYED).get("path_delay_mean_delta_microseconds").asText());
    }

    @Test
    void shouldLoseNothingInNfcapdWhichSkipsWhatItDoesNotKnow() throws IOException {
        final Path store = Files.createDirectory(directory.resolve("nfcapd"));
        try (Nfcapd nfcapd = new Nfcapd(store)) {
            export("udp://127.0.0.1:" + nfcapd.port());

            Flows.assertSame(FLOWS, nfcapd.finish().orFail().flows(), "nfcapd");
        }
    }

    @Test
    void shouldShowNumbersForUnknownElementsInTshark() throws IOException {
        final Path capture = directory.resolve("delay.pcap");
        final int port;
        try (UdpSink sink = new UdpSink()) {
            port = sink.port();
            export("udp://127.0.0.1:" + port);
            TransportCapture.writeUdp(sink.finish(), port, capture);
        }

        Flows.assertSame(FLOWS, Tshark.read(capture, port).orFail().flows(), "tshark");
        final String details = Command.of(Tools.require("tshark", "tshark"), "-n", "-r", capture,
            "-d", "udp.port==" + port + ",cflow", "-O", "cflow").run().orFail().output();
        assertTrue(details.contains("Type 530: Value (hex bytes): 00 00 07 d0"), details);
        assertTrue(details.contains(
            "(Example Enterprise Number for Documentation Use) Type 5: Value (hex bytes): 00 00 00 00 00 1e 84 80"), details);
    }

    private static void export(final String uri) throws IOException {
        final ExporterConfig config =
            new ConfigLoader().text("test", "exporting:\n  destinations: [\"" + uri + "\"]\n").conclude();
        final Destination destination = new DestinationFactory(true, new boolean[1], Map.of(), new Counters())
            .make(config, config.exporting().destinations().get(0));
        final long deadlineMs = System.currentTimeMillis() + TIMEOUT.toMillis();
        for (final UnsafeBuffer entry : entries()) {
            destination.doWork(System.currentTimeMillis());
            assertEquals(Destination.Outcome.DONE,
                destination.offer(entry, 0, entry.capacity(), System.currentTimeMillis()), destination.lastError());
        }
        while (!destination.close(System.currentTimeMillis(), deadlineMs)) {
            Thread.onSpinWait();
        }
        assertEquals(FLOWS.size(), destination.statistics().recordsExported(), destination.lastError());
    }

    private static List<UnsafeBuffer> entries() {
        return List.of(
            entry(PORT_OF_DELAYED, NS_PER_MS, 2 * NS_PER_MS, 3 * NS_PER_MS),
            entry(PORT_OF_NEGATIVE, -NS_PER_MS, -2 * NS_PER_MS, -3 * NS_PER_MS),
            entry(PORT_OF_UNMEASURED));
    }

    private static UnsafeBuffer entry(final int port, final long... delaysNs) {
        final UnsafeBuffer entry =
            new UnsafeBuffer(new byte[FlowEntry.BASE_LENGTH_BYTES + FlowDelay.LENGTH_BYTES]);
        FlowEntry.ipVersion(entry, 0, 4);
        FlowEntry.sourceLow(entry, 0, 0x0A000001L);
        FlowEntry.destinationLow(entry, 0, 0x0A000002L);
        FlowEntry.protocol(entry, 0, 17);
        FlowEntry.sourcePort(entry, 0, port);
        FlowEntry.destinationPort(entry, 0, 53);
        FlowEntry.packetCount(entry, 0, PACKETS);
        FlowEntry.octetCount(entry, 0, OCTETS);
        FlowEntry.startNs(entry, 0, START_NS);
        FlowEntry.endNs(entry, 0, START_NS + 7 * NS_PER_MS);
        FlowEntry.endReason(entry, 0, 1);
        for (final long delayNs : delaysNs) {
            DelayCounters.record(entry, FlowEntry.BASE_LENGTH_BYTES, delayNs);
            FlowDelay.estimator(entry, FlowEntry.BASE_LENGTH_BYTES, FlowDelay.ESTIMATOR_INTERPOLATED);
        }
        return entry;
    }

    private static Flow flow(final int port) {
        return new Flow("10.0.0.1", "10.0.0.2", 17, port, 53, PACKETS, OCTETS,
            START_NS / NS_PER_MS, START_NS / NS_PER_MS + 7);
    }

    private static String dump(final Path file, final Object... options) {
        final Command.Result result = Command.of(Tools.require("ipfixDump", "libfixbuf-tools"), "--in", file, "--data",
            options[0], options.length > 1 ? options[1] : "--data").run().orFail();
        assertEquals(List.of(), result.errorLines());
        return result.output();
    }

    private static boolean isListening(final String log) {
        return log.contains("waiting for NetFlow/IPFIX data") && log.split("object handlers", -1).length > PLUGINS;
    }

    private Map<Integer, JsonNode> flowsByPort(final String file) throws IOException {
        final ObjectMapper json = new ObjectMapper();
        return Files.readAllLines(directory.resolve(file)).stream().map((line) -> {
            try {
                return json.readTree(line);
            } catch (final IOException ex) {
                throw new AssertionError(line, ex);
            }
        }).collect(Collectors.toMap((node) -> node.get("port_src").asInt(), (node) -> node));
    }

    private static int occurrences(final String text, final String word) {
        return text.split(word, -1).length - 1;
    }

    private static Path shipped(final String file) {
        return Checkout.root().resolve("docs/collectors").resolve(file);
    }
}
