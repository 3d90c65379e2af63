package io.flowlag.tests.interop;

import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.HandMadeIpfix;
import io.flowlag.tests.support.IpfixDump;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Nfacctd;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.PythonIpfix;
import io.flowlag.tests.support.Reception;
import io.flowlag.tests.support.TcpSink;
import io.flowlag.tests.support.TransportCapture;
import io.flowlag.tests.support.Tshark;
import io.flowlag.tests.support.UdpSink;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

/** Tests of the collectors as witnesses: each reports what it received, and complains when a message is missing or truncated. */
@Tag("interop")
class CollectorsTest {
    private static final List<Flow> FLOWS = HandMadeIpfix.someFlows();
    private static final List<byte[]> MESSAGES = new HandMadeIpfix(FLOWS).messages();

    @TempDir
    private Path directory;

    @Test
    void shouldReadFlowsThroughNfcapd() throws IOException {
        try (Nfcapd nfcapd = new Nfcapd(directory)) {
            send(MESSAGES, nfcapd.port());

            Flows.assertSame(FLOWS, nfcapd.finish().orFail().flows(), "nfcapd");
        }
    }

    @Test
    void shouldHearNfcapdComplainOfAGap() throws IOException {
        try (Nfcapd nfcapd = new Nfcapd(directory)) {
            send(withGap(), nfcapd.port());

            assertFalse(nfcapd.finish().complaints().isEmpty());
        }
    }

    @Test
    void shouldReadFlowsThroughNfacctd() throws IOException {
        try (Nfacctd nfacctd = new Nfacctd(directory)) {
            send(MESSAGES, nfacctd.port());

            Flows.assertSame(FLOWS, nfacctd.finish().orFail().flows(), "nfacctd");
        }
    }

    @Test
    void shouldHearNfacctdComplainOfAGap() throws IOException {
        try (Nfacctd nfacctd = new Nfacctd(directory)) {
            send(withGap(), nfacctd.port());

            assertFalse(nfacctd.finish().complaints().isEmpty());
        }
    }

    @Test
    void shouldReadDatagramsThroughTshark() throws IOException {
        try (UdpSink sink = new UdpSink()) {
            send(MESSAGES, sink.port());
            final List<byte[]> datagrams = sink.finish();
            final Path capture = directory.resolve("udp.pcap");
            TransportCapture.writeUdp(datagrams, sink.port(), capture);

            assertEquals(MESSAGES.size(), datagrams.size());
            Flows.assertSame(FLOWS, Tshark.read(capture, sink.port()).orFail().flows(), "tshark");
        }
    }

    @Test
    void shouldHearTsharkComplainOfAGap() {
        final Path capture = directory.resolve("gap.pcap");
        TransportCapture.writeUdp(withGap(), 4739, capture);

        assertFalse(Tshark.read(capture, 4739).complaints().isEmpty());
    }

    @Test
    void shouldReadATcpStreamThroughTshark() throws IOException {
        try (TcpSink sink = new TcpSink()) {
            try (Socket socket = new Socket(InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), sink.port())) {
                socket.getOutputStream().write(stream(MESSAGES));
            }
            final Path capture = directory.resolve("tcp.pcap");
            TransportCapture.writeTcp(sink.finish(1).get(0), sink.port(), capture);

            Flows.assertSame(FLOWS, Tshark.read(capture, sink.port()).orFail().flows(), "tshark over TCP");
        }
    }

    @Test
    void shouldReadAFileThroughEveryDecoder() throws IOException {
        final Path file = Files.write(directory.resolve("whole.ipfix"), stream(MESSAGES));

        Flows.assertSame(FLOWS, IpfixDump.read(file).orFail().flows(), "ipfixDump");
        Flows.assertSame(FLOWS, PythonIpfix.read(file).orFail().flows(), "python ipfix");
        Flows.assertSame(FLOWS, IpfixReader.read(file).orFail().flows(), "the tests' own reader");
    }

    @Test
    void shouldHearDecodersComplainOfAGap() throws IOException {
        final Path file = Files.write(directory.resolve("gap.ipfix"), stream(withGap()));

        assertFalse(IpfixDump.read(file).complaints().isEmpty());
        assertFalse(IpfixReader.read(file).complaints().isEmpty());
    }

    @Test
    void shouldHearEveryDecoderComplainOfACutFile() throws IOException {
        final byte[] whole = stream(MESSAGES);
        final Path file = Files.write(directory.resolve("cut.ipfix"), Arrays.copyOf(whole, whole.length - 10));

        for (final Reception reception :
            List.of(IpfixDump.read(file), PythonIpfix.read(file), IpfixReader.read(file))) {
            assertFalse(reception.complaints().isEmpty());
        }
    }

    /** After the second message, since nfacctd does not check it against the first. */
    private static List<byte[]> withGap() {
        return List.of(MESSAGES.get(0), MESSAGES.get(1), MESSAGES.get(3));
    }

    private static byte[] stream(final List<byte[]> messages) throws IOException {
        final ByteArrayOutputStream octets = new ByteArrayOutputStream();
        for (final byte[] message : messages) {
            octets.write(message);
        }
        return octets.toByteArray();
    }

    private static void send(final List<byte[]> messages, final int port) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            for (final byte[] message : messages) {
                socket.send(new DatagramPacket(
                    message, message.length, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
            }
        }
    }
}
