package io.flowlag.rli.reference;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** An outside reader of our packets. */
@Tag("interop")
class TsharkTest {
    private static final int PORT = 10_862;
    private static final int LINK_TYPE_RAW = 101;
    private static final long STAMP_NS = 1_767_225_600_123_456_789L;

    @TempDir
    private Path folder;

    /** A capture of one packet: IPv4, UDP, payload. */
    private static byte[] capture(final byte[] payload) {
        final int ipLengthBytes = 20 + 8 + payload.length;
        final ByteBuffer octets = ByteBuffer.allocate(24 + 16 + ipLengthBytes);
        octets.putInt(0xA1B2C3D4).putShort((short)2).putShort((short)4).putInt(0).putInt(0).putInt(65535)
            .putInt(LINK_TYPE_RAW);
        octets.putInt(1_767_225_600).putInt(200_000).putInt(ipLengthBytes).putInt(ipLengthBytes);
        octets.putShort((short)0x4500).putShort((short)ipLengthBytes).putInt(0).putInt(64 << 24 | 17 << 16)
            .putInt(0x0A000001).putInt(0x0A000002);
        octets.putShort((short)(PORT + 1)).putShort((short)PORT).putShort((short)(8 + payload.length)).putShort((short)0);
        return octets.put(payload).array();
    }

    private static boolean hasTshark() {
        return List.of("/usr/bin/tshark", "/usr/local/bin/tshark").stream().anyMatch(path -> Files.isExecutable(Path.of(path)));
    }

    private String[] read(final byte[] payload) throws IOException, InterruptedException {
        final Path file = Files.write(folder.resolve("reference.pcap"), capture(payload));
        final Path out = folder.resolve("out");
        final Process tshark = new ProcessBuilder(
            "tshark", "-n", "-r", file.toString(), "-d", "udp.port==" + PORT + ",twamp.test", "-T", "fields",
            "-e", "_ws.malformed", "-e", "twamp.test.seq_number", "-e", "twamp.test.timestamp",
            "-e", "twamp.test.error_estimate", "-e", "twamp.test.error_estimate.s", "-e", "twamp.test.error_estimate.scale",
            "-e", "twamp.test.error_estimate.multiplier", "-E", "separator=|", "-E", "occurrence=f")
            .redirectOutput(out.toFile()).redirectError(ProcessBuilder.Redirect.DISCARD).start();
        assertTrue(tshark.waitFor(60, TimeUnit.SECONDS));
        return Files.readString(out, StandardCharsets.UTF_8).strip().split("\\|", -1);
    }

    @Test
    void shouldBeReadByTshark() throws IOException, InterruptedException {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || hasTshark(), "tshark is not installed");
        final UnsafeBuffer buffer = new UnsafeBuffer(new byte[64]);
        final int lengthBytes = new ReferenceEncoder().wrap(buffer, 0, false).sequenceNumber(4242).stampNs(STAMP_NS)
            .errorEstimate(ErrorEstimate.of(1_000_000_000L, true)).ssid(7)
            .followUp(4241, STAMP_NS - 1_000_000, TimestampMethod.SOFTWARE_LOCAL).encodedLength();
        assertEquals(64, lengthBytes);

        final String[] fields = read(buffer.byteArray());

        assertEquals("", fields[0]);
        assertEquals("4242", fields[1]);
        assertTrue(fields[2].contains("Jan  1, 2026 00:00:00.123456789"), fields[2]);
        assertEquals(Integer.decode(fields[3]), 1 << 15 | 25 << 8 | 128);
        assertEquals("1", fields[4]);
        assertEquals("25", fields[5]);
        assertEquals("128", fields[6]);
    }
}
