package io.flowlag.exporter.runtime.collect;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.decode.SharedData;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.listing.RowFormat;
import io.flowlag.ipfix.element.ElementRegistry;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetSocketAddress;
import java.net.SocketTimeoutException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Messages that other programs and devices made, read by us and by others. */
@Tag("interop")
@Timeout(180)
class ForeignMessagesTest {
    private static final DateTimeFormatter TSHARK_TIME =
        DateTimeFormatter.ofPattern("MMM d, yyyy HH:mm:ss.nnnnnnnnn z", Locale.ENGLISH);
    private static final Map<String, String> TSHARK_FIELDS = Map.of(
        "sourceIPv4Address", "cflow.srcaddr",
        "destinationIPv4Address", "cflow.dstaddr",
        "sourceIPv6Address", "cflow.srcaddrv6",
        "sourceTransportPort", "cflow.srcport",
        "destinationTransportPort", "cflow.dstport",
        "protocolIdentifier", "cflow.protocol",
        "packetDeltaCount", "cflow.packets",
        "octetDeltaCount", "cflow.octets",
        "flowStartMilliseconds", "cflow.abstimestart",
        "flowEndMilliseconds", "cflow.abstimeend");

    @TempDir
    private Path directory;
    private String statistics;

    private static Path capture(final String name) {
        final Path file = SharedData.capture(name);
        assumeTrue(Files.isReadable(file), file + " is not there");
        return file;
    }

    private static boolean isInstalled(final String program) {
        for (final String folder : System.getenv("PATH").split(":")) {
            if (Files.isExecutable(Path.of(folder, program))) {
                return true;
            }
        }
        return Files.isExecutable(Path.of("/usr/sbin", program));
    }

    private static void assumeInstalled(final String... programs) {
        for (final String program : programs) {
            assumeTrue(Boolean.getBoolean("flowlag.require.tools") || isInstalled(program), program + " is not installed");
        }
    }

    private List<String> run(final String... command) throws IOException, InterruptedException {
        final Path output = directory.resolve(command[0] + ".out");
        final Process process = new ProcessBuilder(command)
            .redirectOutput(output.toFile()).redirectError(directory.resolve(command[0] + ".err").toFile()).start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS), command[0] + " does not end");
        assertEquals(0, process.exitValue(), Files.readString(directory.resolve(command[0] + ".err")));
        return Files.readAllLines(output);
    }

    /** Every value of a field that tshark finds, in order. */
    private List<String> byTshark(final String field, final String... input) throws IOException, InterruptedException {
        final List<String> command = new ArrayList<>(List.of("tshark"));
        command.addAll(List.of(input));
        command.addAll(List.of("-T", "fields", "-E", "occurrence=a", "-E", "aggregator=;", "-e", field));
        final List<String> values = new ArrayList<>();
        for (final String line : run(command.toArray(new String[0]))) {
            for (final String value : line.split(";")) {
                if (!value.isEmpty()) {
                    values.add(field.startsWith("cflow.abstime") ? millis(value) : value);
                }
            }
        }
        return values;
    }

    private static String millis(final String tsharkTime) {
        final String plain = tsharkTime.replaceAll(" +", " ");
        return Long.toString(ZonedDateTime.parse(plain, TSHARK_TIME).toInstant().toEpochMilli());
    }

    private List<JsonNode> byUs(final Path file) throws Exception {
        final ByteArrayOutputStream out = new ByteArrayOutputStream();
        final ByteArrayOutputStream err = new ByteArrayOutputStream();
        final CollectOptions options =
            CollectOptions.DEFAULTS.withListing(Listing.of(RowFormat.JSON)).withFiles(List.of(file.toString()));
        Collector.run(options, ElementRegistry.iana(), out, new PrintStream(err, true, StandardCharsets.UTF_8), () -> false);
        statistics = err.toString(StandardCharsets.UTF_8);
        final List<JsonNode> records = new ArrayList<>();
        for (final String line : out.toString(StandardCharsets.UTF_8).lines().toList()) {
            records.add(new ObjectMapper().readTree(line));
        }
        return records;
    }

    private void assertSame(final List<JsonNode> records, final String... tsharkInput) throws Exception {
        for (final Map.Entry<String, String> field : TSHARK_FIELDS.entrySet()) {
            final List<String> ours = records.stream().filter((record) -> record.has(field.getKey()))
                .map((record) -> record.get(field.getKey()).asText()).toList();
            assertEquals(byTshark(field.getValue(), tsharkInput), ours, field.getKey());
        }
    }

    @Test
    void shouldReadARouterAsTsharkDoes() throws Exception {
        assumeInstalled("tshark");
        final String capture = capture("feat-netflow/scapy__ipfix.pcap").toString();
        final Path file = directory.resolve("router.ipfix");
        for (final String payload : run("tshark", "-r", capture, "-Y", "udp", "-T", "fields", "-e", "udp.payload")) {
            final byte[] message = HexFormat.of().parseHex(payload.replace(":", ""));
            Files.write(file, message, StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        final List<JsonNode> records = byUs(file);
        assertEquals(1, records.size());
        assertSame(records, "-d", "udp.port==9995,cflow", "-r", capture);
        assertTrue(statistics.contains(" 0 messages refused"), statistics);
    }

    @Test
    void shouldReadPmacctAsTsharkAndLibfixbufDo() throws Exception {
        assumeInstalled("tshark", "pmacctd", "ipfixDump");
        final Path file = directory.resolve("pmacct.ipfix");
        receiveFromPmacct(capture("traffic/PcapPlusPlus__many-protocols.pcap"), file);

        final List<JsonNode> records = byUs(file);

        assertTrue(records.size() > 400, () -> "only " + records.size() + " records");
        assertSame(records, "-r", file.toString());
        final String totals = String.join("\n", run("ipfixDump", "--in", file.toString()));
        assertTrue(totals.contains(" " + records.size() + " Data Records"), totals.substring(totals.length() - 200));
        assertTrue(statistics.contains(" 0 messages refused"), statistics);
    }

    private void receiveFromPmacct(final Path capture, final Path file) throws Exception {
        try (DatagramSocket socket = new DatagramSocket(new InetSocketAddress("127.0.0.1", 0))) {
            socket.setReceiveBufferSize(1 << 20);
            socket.setSoTimeout(200);
            final Path config = Files.writeString(directory.resolve("pmacctd.conf"), String.join("\n",
                "daemonize: false",
                "pcap_savefile: " + capture,
                "plugins: nfprobe",
                "nfprobe_receiver: 127.0.0.1:" + socket.getLocalPort(),
                "nfprobe_version: 10",
                "aggregate: src_host,dst_host,src_port,dst_port,proto,tos,tcpflags",
                ""));
            final Process pmacctd = new ProcessBuilder("pmacctd", "-f", config.toString())
                .redirectErrorStream(true).redirectOutput(directory.resolve("pmacctd.log").toFile()).start();
            try {
                drain(socket, file, pmacctd);
            } finally {
                pmacctd.destroyForcibly().waitFor();
            }
        }
    }

    /** Writes every datagram to the file, until the sender has ended and nothing more comes. */
    private static void drain(final DatagramSocket socket, final Path file, final Process sender) throws IOException {
        final ByteArrayOutputStream messages = new ByteArrayOutputStream();
        final DatagramPacket packet = new DatagramPacket(new byte[65_535], 65_535);
        boolean isOver = false;
        while (!isOver) {
            try {
                socket.receive(packet);
                messages.write(packet.getData(), 0, packet.getLength());
            } catch (final SocketTimeoutException ex) {
                isOver = !sender.isAlive();
            }
        }
        Files.write(file, messages.toByteArray());
    }
}
