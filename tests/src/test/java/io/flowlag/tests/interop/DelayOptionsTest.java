package io.flowlag.tests.interop;

import io.flowlag.exporter.lab.CaptureWriter;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.IpfixDump;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.Nfacctd;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.PythonIpfix;
import io.flowlag.tests.support.Reception;
import io.flowlag.tests.support.Tools;
import io.flowlag.tests.support.TransportCapture;
import io.flowlag.tests.support.Tshark;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The options records of delay as another reader of IPFIX files sees them. */
@Tag("interop")
class DelayOptionsTest {
    @TempDir
    private static Path directory;

    private static Path file;

    @BeforeAll
    static void measure() throws IOException {
        final Path sender = directory.resolve("sender.pcap");
        final Path receiver = directory.resolve("receiver.pcap");
        file = directory.resolve("delay.ipfix");
        new SimulatedSegment(SegmentProfile.demo()).writeCaptures(sender, receiver, CaptureWriter.Format.PCAP_NANOSECONDS);
        new Flowlag().inThisJvm().run("delay", "-s", sender, "-r", receiver, "--compare", "--capacity", "20m",
            "--max-delay", "50ms", "--interval", "100ms", "--export", "file:" + file + "?max-message-size=1400").orFail();
    }

    @Test
    void shouldShowSegmentAndIntervalsInTshark() {
        final String details =
            Command.of(Tools.require("tshark", "tshark"), "-n", "-r", file, "-V").run().orFail().output();
        assertTrue(details.contains("Selector Name: both rli adaptive, clock unknown"), "the segment");
        assertTrue(details.matches("(?s).*IfName: \\S*sender\\.pcap.*IfName: \\S*receiver\\.pcap.*"),
            "its points");
        assertTrue(details.split("Selector Name: joint joint full, health", -1).length > 5, "what came of each interval");
        assertTrue(details.split("Selector Name: matched", -1).length > 5, "what was matched in each interval");
        assertTrue(details.split("Selector Name: estimates", -1).length > 5, "an estimate of each interval");
        assertTrue(details.matches("(?s).*Selector Name: references.*Type 19: Value \\(hex bytes\\).*"), "lost references");
    }

    /** Options records with packets, and octets of variable length, are no flows and break nothing. */
    @Test
    void shouldSkipHistogramsInEveryCollector() throws IOException {
        final List<Flow> flows = IpfixReader.read(file).orFail().flows();
        final List<byte[]> messages = messages(file);

        assertTrue(messages.stream().allMatch((message) -> message.length <= 1400));
        assertFalse(flows.isEmpty());
        assertTrue(new Flowlag().inThisJvm().run("collect", "-r", file, "--format", "json", "-v").orFail().output()
            .lines().filter((line) -> line.matches(".*\"_options\":true.*\"packetDeltaCount\":[0-9]+,.*" +
                "\"flowlagDelayHistogram\":\\{\"relativeError\":0\\.0[0-9]+,\"buckets\":\\[\\[[0-9]+,.*")).count() > 5);
        for (final String kind : List.of("matched", "joint joint full")) {
            assertTrue(new Flowlag().inThisJvm().run("collect", "-r", file, "--format", "json", "-v").orFail().output()
                .lines().filter((line) -> line.matches(".*\"selectorName\":\"" + kind +
                    ".*\"flowlagDelayErrorBoundNanoseconds\":[0-9]+.*")).count() > 5, "bound of " + kind);
        }
        assertTrue(Command.of(Tools.require("ipfixDump", "libfixbuf-tools"), "--in", file, "--data", "--rfc5610").run().orFail()
            .output().matches("(?s).*flowlagDelayHistogram.*"));
        Flows.assertSame(flows, IpfixDump.read(file).orFail().flows(), "ipfixDump");
        Flows.assertSame(flows, PythonIpfix.read(file).orFail().flows(), "python ipfix");
        final Path capture = directory.resolve("histograms.pcap");
        TransportCapture.writeUdp(messages, 4739, capture);
        Flows.assertSame(flows, Tshark.read(capture, 4739).orFail().flows(), "tshark");
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")))) {
            send(messages, nfcapd.port());
            final Reception reception = nfcapd.finish();
            Flows.assertSame(flows, reception.flows(), "nfcapd");
            assertTrue(reception.complaints().stream().allMatch((line) -> line.contains("equence")),
                () -> "it counts options records as missing: " + reception.complaints());
        }
        try (Nfacctd nfacctd = new Nfacctd(directory)) {
            send(messages, nfacctd.port());
            final Reception reception = nfacctd.finish();
            Flows.assertSame(flows, reception.flows(), "nfacctd");
            assertTrue(reception.complaints().stream().allMatch((line) -> line.contains("expecting flow")),
                () -> "it counts records by the template's length: " + reception.complaints());
        }
    }

    private static List<byte[]> messages(final Path file) throws IOException {
        final ByteBuffer octets = ByteBuffer.wrap(Files.readAllBytes(file));
        final List<byte[]> messages = new ArrayList<>();
        while (octets.hasRemaining()) {
            final byte[] message = new byte[octets.getShort(octets.position() + 2) & 0xFFFF];
            octets.get(message);
            messages.add(message);
        }
        return messages;
    }

    /** Some at a time, so that the collector's socket has room. */
    private static void send(final List<byte[]> messages, final int port) throws IOException {
        try (DatagramSocket socket = new DatagramSocket()) {
            for (int i = 0; i < messages.size(); i++) {
                socket.send(new DatagramPacket(
                    messages.get(i), messages.get(i).length, InetAddress.getByAddress(new byte[] {127, 0, 0, 1}), port));
                if (i % 20 == 0) {
                    Deadline.await(Duration.ofSeconds(30), () -> Ports.isUdpDrained(port), () -> "a collector reads");
                }
            }
        }
    }
}
