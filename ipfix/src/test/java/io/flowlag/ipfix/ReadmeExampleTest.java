package io.flowlag.ipfix;

import io.flowlag.ipfix.element.ElementRegistry;
import io.flowlag.ipfix.message.RecordEncoder;
import io.flowlag.ipfix.session.ExportingSession;
import io.flowlag.ipfix.session.SessionSettings;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.Endpoint;
import io.flowlag.ipfix.transport.UdpTransport;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The example of README.md works, and is the text that stands there. */
class ReadmeExampleTest {
    private static void export(final String host, final int port) {
        // README begin
        final TemplateCatalog catalog = new TemplateCatalog(ElementRegistry.iana());
        final Template flow = catalog.template(
            "sourceIPv4Address", "destinationIPv4Address", "packetDeltaCount", "flowStartMilliseconds");
        final UdpTransport transport = new UdpTransport(new Endpoint(host, port));
        final ExportingSession session =
            new ExportingSession(transport, new SessionSettings().observationDomainId(1), catalog);
        final RecordEncoder record = new RecordEncoder();

        final long nowMs = System.currentTimeMillis();
        session.doWork(nowMs); // connects; call it in a loop, it sends what has waited long enough
        final int offset = session.claim(flow, flow.recordLengthBytes(), nowMs);
        if (offset >= 0) { // else NOT_SENT: discarded and counted
            record.wrap(session.buffer(), offset, flow)
                .ipv4Address(0xC0000201)
                .ipv4Address(0xC6336401)
                .unsigned(42)
                .timeNs(nowMs * 1_000_000);
            session.commit();
        }
        session.close(System::currentTimeMillis, 1_000);
        // README end
    }

    @Test
    void shouldSendARecord() throws IOException {
        try (DatagramSocket socket = new DatagramSocket(0, InetAddress.getByName("127.0.0.1"))) {
            socket.setSoTimeout(10_000);
            export("127.0.0.1", socket.getLocalPort());
            final DatagramPacket packet = new DatagramPacket(new byte[1500], 1500);
            socket.receive(packet);
            final StrictParser parser = new StrictParser(1400);
            parser.parse(Arrays.copyOf(packet.getData(), packet.getLength()));
            assertEquals(1, parser.records().size());
        }
    }

    @Test
    void shouldBeTheTextOfTheReadme() throws IOException {
        final String source = Files.readString(Path.of("src/test/java/io/flowlag/ipfix/ReadmeExampleTest.java"));
        final String example =
            source.substring(source.indexOf("// README begin\n") + 16, source.indexOf("        // README end\n"));
        final String unindented = example.lines()
            .map(line -> line.startsWith("        ") ? line.substring(8) : line).collect(Collectors.joining("\n"));
        assertTrue(Files.readString(Path.of("README.md")).contains(unindented), "README.md and this test differ");
    }
}
