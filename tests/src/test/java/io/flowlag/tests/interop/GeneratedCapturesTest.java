package io.flowlag.tests.interop;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Tools;
import io.flowlag.tests.support.Tshark;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** The generator and the capture writer as tshark sees them: nothing malformed, no checksum wrong, times kept. */
@Tag("interop")
class GeneratedCapturesTest {
    @TempDir
    private Path directory;

    @ParameterizedTest
    @CsvSource({
        "PCAP_MICROSECONDS, big", "PCAP_NANOSECONDS, big", "PCAP_NANOSECONDS, little", "PCAPNG_MICROSECONDS, big",
        "PCAPNG_NANOSECONDS, little"})
    void shouldBeWellFormed(final CaptureWriter.Format format, final String order) {
        final TrafficProfile profile = TrafficProfile.demo();
        final Path capture = directory.resolve("demo.cap");
        Captures.write(profile, capture, format, "big".equals(order) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN);

        assertEquals(profile.packetCount(), Tshark.matching(capture, "ip or ipv6").size());
        assertEquals(List.of(), Tshark.matching(capture, "_ws.malformed or ip.checksum.status == \"Bad\" or " +
            "tcp.checksum.status == \"Bad\" or udp.checksum.status == \"Bad\" or icmp.checksum.status == \"Bad\" or " +
            "icmpv6.checksum.status == \"Bad\"").stream().limit(3).toList());
    }

    @ParameterizedTest
    @CsvSource({"PCAP_NANOSECONDS, little, 1", "PCAPNG_MICROSECONDS, big, 1000", "PCAPNG_NANOSECONDS, big, 1"})
    void shouldKeepTimestamps(final CaptureWriter.Format format, final String order, final long unitNs) {
        final Path capture = directory.resolve("demo.cap");
        final long[] firstNs = {Long.MAX_VALUE};
        final var flows = Captures.write(TrafficProfile.demo(), capture, format,
            "big".equals(order) ? ByteOrder.BIG_ENDIAN : ByteOrder.LITTLE_ENDIAN).flows();
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            firstNs[0] = Math.min(firstNs[0], flows.firstNs(flow));
        }

        final String shown = Command.of(Tools.require("tshark", "tshark"), "-r", capture, "-c", 1, "-T", "fields",
            "-e", "frame.time_epoch").run().orFail().output().trim();

        assertEquals(firstNs[0] / unitNs * unitNs, Long.parseLong(shown.replace(".", "")));
    }
}
