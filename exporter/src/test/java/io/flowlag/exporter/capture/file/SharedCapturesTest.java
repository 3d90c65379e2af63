package io.flowlag.exporter.capture.file;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.decode.SharedData;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.TestFactory;

import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

import static java.util.Map.entry;
import static org.junit.jupiter.api.Assertions.assertEquals;

/** Every real capture of the shared data against its row in the manifest, whose figures come from tshark. */
class SharedCapturesTest {
    /**
     * Totals that differ from the manifest; a second, independent reading of the file confirmed all of them. As there: packets,
     * octets on the wire, first and last time in ns.
     */
    private static final Map<String, String> OTHER_TOTALS = Map.ofEntries(
        // A length on the wire below the captured one is raised to it.
        entry("cut/caplen_gt_origlen.pcap", "10,1368,1368908504837063000,1368908507885359000"),
        entry("link-107/tcpdump__icmp-icmp_print-oobr-2.pcap", "3,4258,168325184999999000,1398318605999999000"),
        entry("link-123/tcpdump__atm-heapoverflow.pcap", "1,262144,84999999000,84999999000"),
        entry("link-8/tcpdump__slip-sliplink_print-oobr.pcap", "1,255,1292339325999999000,1292339325999999000"),
        // A fraction of a second or more: tshark lets 32 bits overflow, or the manifest took ten digits for nine.
        entry("cut/usec_out_of_range.pcap", "10,1368,1368908504882198000,1368912798967295000"),
        entry("fmt-pcap-ns-le/nDPI__fuzz-2021-10-13.pcap", "1,524501,980658803882137472,980658803882137472"),
        entry("link-123/tcpdump__atm-oam-loopback-print-overrun.pcap", "1,65622,1544489736821166000,1544489736821166000"),
        // The last time is in the year 586524.
        entry("link-113/PcapPlusPlus__pcapng-example.pcapng", "159,57465,1422527998578402281," + PacketSource.MAX_TIMESTAMP_NS),
        // tshark takes these records for those of a modified format; libpcap does not.
        entry("corrupt-file/suricata__bug-6875-01__fuzz.pcap", "1,188,1508525002992213000,1508525002992213000"),
        // tshark refuses the file for a wrong length at the end of a block; the reference decoder reads it.
        entry("cut/total_len_mismatch.pcapng", "246,242924,1603816434507204968,1603816444721572231"),
        // tshark shows custom blocks as packets.
        entry("fmt-pcapng-blocks/pcapngtest__basic__test017.pcapng", "0,0,,"),
        // tshark does not read files of these link types at all.
        entry("libpcap-tests/libpcap__brcm-tag.pcap", "15,3410,7820634030000,7835081198000"),
        entry("link-132/tcpdump__hoobr_juniper3.pcap", "1,262144,808464432999999000,808464432999999000"),
        entry("link-164/tcpdump__juniper_monitor_invalid_cookie_length.pcap", "1,82,1432042456720640000,1432042456720640000"),
        entry("link-182/tcpdump__kday6.pcap", "1,262144,26756663614000,26756663614000"),
        entry("link-182/tcpdump__vtp_asan-3.pcap", "1,262144,1700306020999999000,1700306020999999000"),
        entry("link-182/tcpdump__vtp_asan.pcap", "5,524288,0,1700306020999999000"),
        entry("link-281/tcpdump__brcm-tag.pcap", "23,4082,7820634030000,7838321602000"),
        entry("link-282/tcpdump__brcm-tag-prepend.pcap", "15,1386,6756535079276000,6756542648563000"),
        entry("link-284/tcpdump__dsa.pcap", "8,722,80499544060000,80504560415000"),
        entry("link-285/tcpdump__edsa.pcap", "10,872,80504604675000,80509809342000"),
        entry("link-57842/ns3__ns3tcp-state1-response-vectors.pcap", "103,102064,0,856031000"),
        entry("link-57845/ns3__ns3tcp-loss-NewReno4-response-vectors.pcap", "207,208144,0,4941342000"));

    @TestFactory
    Stream<DynamicTest> shouldReadEveryCaptureAsTheManifestSays() {
        final List<Map<String, String>> rows = SharedData.manifest();
        assertEquals(705, rows.size());
        return rows.stream().map(row -> DynamicTest.dynamicTest(row.get("file"), () -> check(row)));
    }

    private static void check(final Map<String, String> row) {
        final String path = SharedData.capture(row.get("file")).toString();
        final PacketTotals totals = new PacketTotals();
        String outcome;
        try (PacketSource source = CaptureFiles.open(List.of(path), FilterSupplier.ALL)) {
            totals.drain(source);
            outcome = source.damage() == null ? "whole" : "damaged";
            assertEquals(totals.packetCount(), source.capturedCount());
        } catch (final CaptureException ex) {
            outcome = ex.kind() == CaptureException.Kind.NO_INPUT ? "refused" : "damaged";
        }
        assertEquals(expectedOutcome(row), outcome);
        assertEquals(expectedTotals(row), totals.toString());
    }

    private static String expectedTotals(final Map<String, String> row) {
        final String manifestTotals = "refuse-file".equals(row.get("expect"))
            ? "0,0,,"
            : String.join(",", row.get("packets"), row.get("wire_bytes"), row.get("first_ns"), row.get("last_ns"));
        return OTHER_TOTALS.getOrDefault(row.get("file"), manifestTotals);
    }

    private static String expectedOutcome(final Map<String, String> row) {
        return switch (row.get("expect")) {
            case "read-then-error" -> "damaged";
            case "refuse-file" -> "refused";
            default -> "whole";
        };
    }
}
