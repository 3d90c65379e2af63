package io.flowlag.tests.interop;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.SharedData;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What is said of TCP and of Ethernet in real captures, as tshark says it of each packet. */
@Tag("interop")
class TcpElementsTest {
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final long UNIT_NS = 1_000;

    @TempDir
    private Path directory;

    /** A direction of a connection. */
    private static final class Said {
        private String mac;
        private long synNs = -1;
        private long leastNs = Long.MAX_VALUE;
        private int again;
        private int closed;
    }

    private static Map<String, Said> tshark(final Path capture) {
        final Map<String, Said> flows = new HashMap<>();
        final Set<String> syns = new HashSet<>();
        final String lines = Command.of(Tools.require("tshark", "tshark"), "-n", "-r", capture, "-Y", "tcp", "-T", "fields",
            "-E", "separator=;", "-E", "occurrence=f", "-e", "frame.number", "-e", "ip.src", "-e", "ipv6.src",
            "-e", "tcp.srcport",
            "-e", "ip.dst", "-e", "ipv6.dst", "-e", "tcp.dstport", "-e", "tcp.flags.syn", "-e", "tcp.analysis.acks_frame",
            "-e", "tcp.analysis.ack_rtt", "-e", "tcp.analysis.retransmission", "-e", "tcp.analysis.out_of_order",
            "-e", "tcp.analysis.zero_window", "-e", "eth.src", "-e", "eth.dst").run().orFail().output();
        for (final String line : lines.lines().toList()) {
            final String[] field = line.split(";", -1);
            final String from = field[1] + field[2] + " " + field[3];
            final String to = field[4] + field[5] + " " + field[6];
            final Said own = flows.computeIfAbsent(from + " " + to, (key) -> new Said());
            own.mac = own.mac == null ? field[13] + " " + field[14] : own.mac;
            if ("1".equals(field[7])) {
                syns.add(field[0]);
            }
            own.again += field[10].isEmpty() && field[11].isEmpty() ? 0 : 1;
            own.closed += field[12].isEmpty() ? 0 : 1;
            final Said other = flows.computeIfAbsent(to + " " + from, (key) -> new Said());
            if (!field[9].isEmpty()) {
                final long roundTripNs = new BigDecimal(field[9]).movePointRight(9).longValue();
                if (!syns.contains(field[8])) {
                    other.leastNs = Math.min(other.leastNs, roundTripNs);
                } else if (other.synNs < 0) {
                    other.synNs = roundTripNs;
                }
            }
        }
        return flows;
    }

    @ParameterizedTest
    @CsvSource({"ipv6/nDPI__reddit.pcap, 110, 4", "traffic/PcapPlusPlus__many-protocols.pcap, 240, 33"})
    void shouldSayOfTcpWhatTsharkSays(final String name, final int leastSyns, final int again) throws IOException {
        final Path capture = SharedData.capture(name);
        final Path records = directory.resolve("tcp.ipfix");
        new Flowlag().inThisJvm().run("meter", "-r", capture, "--set", "metering.tcp=on", "--set", "metering.mac=on",
            "--active", "1d", "--idle", "1d", "--set", "metering.tcp-end-timeout=1d", "--export", "file:" + records).orFail();
        final String rows = new Flowlag().inThisJvm().run("collect", "-r", records, "--format", "json").orFail().output();
        final Map<String, Said> flows = tshark(capture);

        int syns = 0;
        long packetsAgain = 0;
        for (final String row : rows.lines().toList()) {
            final JsonNode record = JSON.readTree(row);
            if (!record.has("flowlagTcpRetransmittedPacketDeltaCount")) {
                continue;
            }
            final String version = record.has("sourceIPv4Address") ? "IPv4Address" : "IPv6Address";
            final String key = record.get("source" + version).asText() + " " + record.get("sourceTransportPort").asText() + " " +
                record.get("destination" + version).asText() + " " + record.get("destinationTransportPort").asText();
            final Said said = flows.get(key);
            assertEquals(
                said.mac, record.get("sourceMacAddress").asText() + " " + record.get("destinationMacAddress").asText(), key);
            assertEquals(said.again, record.get("flowlagTcpRetransmittedPacketDeltaCount").asLong() +
                record.get("flowlagTcpOutOfOrderPacketDeltaCount").asLong(), key);
            assertEquals(said.closed, record.get("flowlagTcpZeroWindowPacketDeltaCount").asLong(), key);
            packetsAgain += said.again;
            if (record.has("flowlagTcpSynRoundTripNanoseconds")) {
                assertEquals(said.synNs, record.get("flowlagTcpSynRoundTripNanoseconds").asLong(), UNIT_NS, key);
                syns++;
            }
            if (record.has("flowlagTcpRoundTripMinimumNanoseconds")) {
                final long leastNs = record.get("flowlagTcpRoundTripMinimumNanoseconds").asLong();
                assertTrue(said.leastNs == Long.MAX_VALUE || leastNs >= said.leastNs - UNIT_NS, key);
            }
        }
        assertEquals(again, packetsAgain);
        assertTrue(syns >= leastSyns, syns + " SYNs");
    }
}
