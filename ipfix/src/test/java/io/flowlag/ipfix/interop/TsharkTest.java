package io.flowlag.ipfix.interop;

import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.OptionsWriter;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.FileTransport;
import io.flowlag.ipfix.transport.TransportKind;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

/** Wireshark decodes the product's messages, in a capture of UDP and in a file. */
@Tag("interop")
class TsharkTest {
    private static final long NOW_MS = 1_700_000_000_000L;
    private static final int RECORDS = 300;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final Template ipv4 = catalog.template("sourceIPv4Address", "destinationIPv4Address", "protocolIdentifier",
        "packetDeltaCount", "flowStartMilliseconds", "flowStartNanoseconds", "flowStartMicroseconds",
        "testDelayMeanNanoseconds");
    private final Template ipv6 = catalog.template("sourceIPv6Address", "destinationIPv6Address", "protocolIdentifier",
        "packetDeltaCount", "interfaceName");

    @TempDir
    private Path directory;

    private void export(final ExportingSession session) {
        final RecordEncoder encoder = new RecordEncoder();
        final OptionsWriter options = new OptionsWriter(session, catalog);
        Records.registry().elements().stream().filter(e -> e.isEnterprise())
            .forEach(e -> options.typeInformation(e, NOW_MS));
        options.meteringStatistics(7, 1, 2, 3, NOW_MS);
        options.between(NOW_MS - 1, NOW_MS).exportingReliability(1, 2, 3, 4, NOW_MS);
        for (int i = 0; i < RECORDS; i++) {
            final int offset = session.claim(ipv4, ipv4.recordLengthBytes(), NOW_MS);
            encoder.wrap(session.buffer(), offset, ipv4).ipv4Address(0xC0000200 + i).ipv4Address(0xC6336401).unsigned(6)
                .unsigned(1000 + i).timeNs(NOW_MS * 1_000_000 + 123_000_000).timeNs(NOW_MS * 1_000_000 + 123_456_789)
                .timeNs(NOW_MS * 1_000_000 + 123_456_789).signed(-5);
            session.commit();
            if (i % 3 == 0) {
                final int other = session.claim(ipv6, 60, NOW_MS);
                encoder.wrap(session.buffer(), other, ipv6).ipv6Address(0x20010DB800000000L, i)
                    .ipv6Address(0x20010DB800000000L, 9).unsigned(17).unsigned(i).string("eth" + i);
                session.commit(encoder.encodedLengthBytes());
            }
        }
        assertTrue(session.flush(NOW_MS));
    }

    @Test
    void shouldFindNothingMalformedInACapture() throws Exception {
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.DATAGRAM);
        export(new ExportingSession(transport, new SessionSettings().observationDomainId(7), catalog));
        final Path capture = directory.resolve("udp.pcap");
        Files.write(capture, pcap(transport.messages()));
        final List<String> bad = tshark(capture, "-Y", "_ws.malformed || _ws.expert.severity >= 6291456 || !cflow");
        assertEquals(List.of(), bad);
        final List<String> sequences = tshark(capture, "-T", "fields", "-e", "cflow.sequence");
        assertEquals(transport.messages().size(), sequences.size());
        final String packets = String.join(",", tshark(capture, "-T", "fields", "-e", "cflow.packets"));
        for (int i = 0; i < RECORDS; i++) {
            assertTrue(("," + packets + ",").contains("," + (1000 + i) + ","), "record " + i);
        }
    }

    @Test
    void shouldShowTimesToTheNanosecond() throws Exception {
        final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.DATAGRAM);
        export(new ExportingSession(transport, new SessionSettings(), catalog));
        final Path capture = directory.resolve("times.pcap");
        Files.write(capture, pcap(transport.messages()));
        final String text = String.join("\n", tshark(capture, "-V"));
        assertTrue(text.contains("22:13:20.123456789"), "nanoseconds");
        assertTrue(text.contains("22:13:20.123456"), "microseconds");
        assertTrue(text.contains("22:13:20.123000"), "milliseconds");
        assertTrue(text.contains("testDelayMeanNanoseconds"), "type information");
    }

    @Test
    void shouldReadAFileMessageByMessage() throws Exception {
        final Path file = directory.resolve("flows.ipfix");
        try (ExportingSession session =
            new ExportingSession(new FileTransport(file), new SessionSettings().messageChecksum(true), catalog)) {
            export(session);
        }
        assertEquals(List.of(), tshark(file, "-Y", "_ws.malformed || _ws.expert.severity >= 6291456"));
        final String text = String.join("\n", tshark(file, "-V"));
        assertTrue(text.contains("192.0.2.1"), text.substring(0, Math.min(500, text.length())));
        assertTrue(text.contains("2001:db8::9"), "IPv6");
    }

    private List<String> tshark(final Path capture, final String... options) throws Exception {
        assumeTrue(Boolean.getBoolean("flowlag.require.tools") || Files.isExecutable(Path.of("/usr/bin/tshark")),
            "tshark is not installed");
        final List<String> command = new ArrayList<>(
            List.of("/usr/bin/tshark", "-n", "-r", capture.toString(), "-d", "udp.port==4739,cflow"));
        command.addAll(List.of(options));
        final Path out = directory.resolve("tshark.out");
        final ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("TZ", "UTC");
        final Process process = builder.redirectOutput(out.toFile())
            .redirectError(directory.resolve("tshark.err").toFile()).start();
        if (!process.waitFor(60, TimeUnit.SECONDS)) {
            process.destroyForcibly();
            throw new AssertionError("tshark takes more than a minute");
        }
        assertEquals(0, process.exitValue(), () -> errors());
        return Files.readAllLines(out).stream().filter(line -> !line.isEmpty()).collect(Collectors.toList());
    }

    private String errors() {
        try {
            return Files.readString(directory.resolve("tshark.err"));
        } catch (final IOException ex) {
            return ex.toString();
        }
    }

    /** A classic capture of raw IPv4 packets with our messages as UDP. */
    private static byte[] pcap(final List<byte[]> messages) {
        final ByteBuffer out = ByteBuffer.allocate(1 << 20).order(ByteOrder.BIG_ENDIAN);
        out.putInt(0xA1B2C3D4).putShort((short)2).putShort((short)4).putInt(0).putInt(0).putInt(65535).putInt(101);
        int seconds = (int)(NOW_MS / 1000);
        for (final byte[] message : messages) {
            final int length = 28 + message.length;
            out.putInt(seconds++).putInt(0).putInt(length).putInt(length);
            out.put((byte)0x45).put((byte)0).putShort((short)length).putInt(0).put((byte)64).put((byte)17).putShort((short)0);
            out.putInt(0x7F000001).putInt(0x7F000001);
            out.putShort((short)40000).putShort((short)4739).putShort((short)(8 + message.length)).putShort((short)0);
            out.put(message);
        }
        final byte[] capture = new byte[out.position()];
        out.flip().get(capture);
        return capture;
    }
}
