package io.flowlag.tests.interop;

import io.flowlag.tests.support.Captures;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.IpfixDump;
import io.flowlag.tests.support.Nfacctd;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.PythonIpfix;
import io.flowlag.tests.support.SharedData;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TcpSink;
import io.flowlag.tests.support.TransportCapture;
import io.flowlag.tests.support.Tshark;
import io.flowlag.tests.support.UdpSink;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * One capture, metered and sent to each collector by each transport that it has: same flows, packets, octets and times to the
 * millisecond, no sequence error, no malformed message.
 */
@Tag("interop")
class InteropTest {
    /** Slow enough for the default socket buffers of collectors. */
    private static final String UDP_OPTIONS = "?rate-limit=20m";

    @TempDir
    private Path directory;

    /** Where the packets come from. */
    enum Traffic {
        /** Made by the product's generator: TCP, UDP, ICMP, IPv6, VLAN tags. */
        GENERATED,
        /** 70 000 packets in 8 908 flows from real networks. */
        REAL;

        private Path capture(final Path directory) {
            return this == REAL ? SharedData.capture("mix/mix_dev_70k_snap96.nsec.pcap") : directory.resolve("demo.pcap");
        }

        private List<Flow> prepare(final Path directory) {
            final Path capture = capture(directory);
            return this == REAL ? Flows.ofTruthFile(Path.of(capture + ".flows.csv")) : Captures.writeDemo(capture);
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReachNfcapd(final Traffic traffic) throws IOException {
        final List<Flow> truth = traffic.prepare(directory);
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")))) {
            export(traffic, "udp://127.0.0.1:" + nfcapd.port() + UDP_OPTIONS);

            Flows.assertSame(truth, nfcapd.finish().orFail().flows(), "nfcapd");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldReachNfacctd(final Traffic traffic) {
        final List<Flow> truth = traffic.prepare(directory);
        try (Nfacctd nfacctd = new Nfacctd(directory)) {
            export(traffic, "udp://127.0.0.1:" + nfacctd.port() + UDP_OPTIONS);

            Flows.assertSame(truth, nfacctd.finish().orFail().flows(), "nfacctd");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeReadByTsharkOverUdp(final Traffic traffic) {
        final List<Flow> truth = traffic.prepare(directory);
        try (UdpSink sink = new UdpSink()) {
            export(traffic, "udp://127.0.0.1:" + sink.port() + UDP_OPTIONS);
            final Path capture = directory.resolve("udp.pcap");
            TransportCapture.writeUdp(sink.finish(), sink.port(), capture);

            Flows.assertSame(truth, Tshark.read(capture, sink.port()).orFail().flows(), "tshark over UDP");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeReadByTsharkAndLibfixbufOverTcp(final Traffic traffic) throws IOException {
        final List<Flow> truth = traffic.prepare(directory);
        try (TcpSink sink = new TcpSink()) {
            export(traffic, "tcp://127.0.0.1:" + sink.port());
            final byte[] stream = sink.finish(1).get(0);
            final Path capture = directory.resolve("tcp.pcap");
            TransportCapture.writeTcp(stream, sink.port(), capture);

            Flows.assertSame(truth, Tshark.read(capture, sink.port()).orFail().flows(), "tshark over TCP");
            final Path file = Files.write(directory.resolve("tcp.ipfix"), stream);
            Flows.assertSame(truth, IpfixDump.read(file).orFail().flows(), "libfixbuf over TCP");
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldBeReadFromAFile(final Traffic traffic) {
        final List<Flow> truth = traffic.prepare(directory);
        final Path file = directory.resolve("flows.ipfix");
        export(traffic, "file:" + file);

        Flows.assertSame(truth, IpfixDump.read(file).orFail().flows(), "libfixbuf");
        Flows.assertSame(truth, PythonIpfix.read(file).orFail().flows(), "python ipfix");
    }

    @ParameterizedTest
    @EnumSource
    void shouldReachSeveralDestinationsAtOnce(final Traffic traffic) throws IOException {
        final List<Flow> truth = traffic.prepare(directory);
        final Path file = directory.resolve("flows.ipfix");
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd"))); TcpSink sink = new TcpSink()) {
            export(traffic, "udp://127.0.0.1:" + nfcapd.port() + UDP_OPTIONS, "tcp://127.0.0.1:" + sink.port(), "file:" + file);

            Flows.assertSame(truth, nfcapd.finish().orFail().flows(), "nfcapd");
            final Path stream = Files.write(directory.resolve("tcp.ipfix"), sink.finish(1).get(0));
            Flows.assertSame(truth, IpfixDump.read(stream).orFail().flows(), "TCP");
            Flows.assertSame(truth, IpfixDump.read(file).orFail().flows(), "file");
        }
    }

    private void export(final Traffic traffic, final String... destinations) {
        final Path stats = directory.resolve("stats.json");
        final List<Object> line = new ArrayList<>(List.of("meter", "-r", traffic.capture(directory),
            "--active", "1d", "--idle", "1d", "--fragments", "off", "--stats", stats));
        for (final String destination : destinations) {
            line.addAll(List.of("--export", destination));
        }
        new Flowlag().inThisJvm().run(line.toArray()).orFail();
        Stats.read(stats).orFailUnlessAccounted();
    }
}
