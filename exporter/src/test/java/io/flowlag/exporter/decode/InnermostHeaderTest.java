package io.flowlag.exporter.decode;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Compares the addresses of packets' innermost IP headers, in real tunnels, with tshark's. */
@Tag("interop")
class InnermostHeaderTest {
    private static final Path TSHARK = Path.of("/usr/bin/tshark");

    /** Captures in which the two may differ, and why. */
    private static final Map<String, String> OTHERWISE = Map.of(
        "feat-erspan/arkime__gre-erspan-vxlan.pcap", "its VXLAN is on the port of VXLAN-GPE, which is not entered",
        "feat-6in4/peafowl__6in6_both.pcap", "tshark puts fragments together although it was told not to");

    @ParameterizedTest
    @ValueSource(strings = {
        "feat-6in4", "feat-erspan", "feat-geneve", "feat-gre", "feat-gtpu", "feat-ipip", "feat-pptp", "feat-vxlan"})
    void shouldFindTheInnermostHeadersThatTsharkFinds(final String category) throws IOException {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || Files.isExecutable(TSHARK), "tshark is not installed");
        final List<Path> captures = SharedData.manifest().stream()
            .filter(row -> category.equals(row.get("category")) && "agree".equals(row.get("trust")))
            .filter(row -> !OTHERWISE.containsKey(row.get("file")))
            .map(row -> SharedData.capture(row.get("file"))).toList();
        assertTrue(captures.size() > 0);
        for (final Path capture : captures) {
            assertEquals(tshark(capture), decoded(capture), capture.toString());
        }
    }

    private static Map<String, Long> decoded(final Path capture) {
        final DecodedFlows decoded = DecodedFlows.of(
            capture, new PacketDecoder.Context().fragmentPorts(false).innerTunnels(true));
        final Map<String, Long> packets = new TreeMap<>();
        decoded.flows.forEach((key, sums) -> {
            final String[] fields = key.split(",");
            packets.merge(fields[1] + " " + fields[2], Long.valueOf(sums.split(" ")[0]), Long::sum);
        });
        return packets;
    }

    private static Map<String, Long> tshark(final Path capture) throws IOException {
        final Process process = new ProcessBuilder(TSHARK.toString(), "-n", "-r", capture.toString(),
            "-o", "ip.defragment:FALSE", "-o", "ipv6.defragment:FALSE", "-T", "fields", "-E", "separator=|",
            "-e", "frame.protocols", "-e", "ip.src", "-e", "ip.dst", "-e", "ipv6.src", "-e", "ipv6.dst")
            .redirectError(ProcessBuilder.Redirect.DISCARD).start();
        final Map<String, Long> packets = new TreeMap<>();
        for (final String line : new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\n")) {
            final String addresses = innermost(line.split("\\|", -1));
            if (!addresses.isEmpty()) {
                packets.merge(addresses, 1L, Long::sum);
            }
        }
        return packets;
    }

    /** The addresses of the last IP header, without those quoted by ICMP errors. */
    private static String innermost(final String[] fields) {
        int ipv4Count = 0;
        int ipv6Count = 0;
        boolean isIpv4 = false;
        for (final String protocol : fields[0].split(":")) {
            if (protocol.startsWith("icmp")) {
                break;
            }
            if ("ip".equals(protocol)) {
                ipv4Count++;
                isIpv4 = true;
            } else if ("ipv6".equals(protocol)) {
                ipv6Count++;
                isIpv4 = false;
            }
        }
        if (ipv4Count + ipv6Count == 0) {
            return "";
        }
        final int index = (isIpv4 ? ipv4Count : ipv6Count) - 1;
        return fields[isIpv4 ? 1 : 3].split(",")[index] + " " + fields[isIpv4 ? 2 : 4].split(",")[index];
    }
}
