package io.flowlag.tests.system;

import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.DelayFlow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.TapTruth;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * One process on a router with four interfaces measures the twelve segments between them. Captures of every interface in both
 * directions, whose packets are matched by the number that they carry, are the truth.
 */
@Tag("topology")
class RouterSegmentsTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(20);
    private static final int INTERFACES = 4;
    private static final int PORT = 6000;
    private static final int PAYLOAD_BYTES = 472;
    private static final int PACKETS = 100;
    private static final int BURST = 30;
    /** A short queue, which loses packets, and a long one; octets and octets a second. */
    private static final int SHORT = 1;
    private static final int LONG = 2;
    private static final double SHORT_BYTES = 6_000;
    private static final double SHORT_RATE = 125_000;
    private static final double LONG_RATE = 375_000;
    private static final double WIRE_BYTES = PAYLOAD_BYTES + 8 + 20 + 14;
    private static final double NS = 1e9;
    /** Two captures of a packet at one point differ by less. */
    private static final double STAMP_NS = 1_000;
    private static final String MOVED = "10.99.0.9";
    private static final String ELSEWHERE = "10.98.0.9";

    @TempDir
    private Path directory;
    private final List<NetworkNamespace> namespaces = new ArrayList<>();
    private final List<NetworkNamespace> hosts = new ArrayList<>();
    private final List<DatagramSocket> sockets = new ArrayList<>();
    private NetworkNamespace router;
    private long number;
    private long firstPackets;

    @BeforeEach
    void build() throws Exception {
        NetworkNamespace.assumeAvailable();
        router = namespace("loc-router");
        for (int i = 0; i < INTERFACES; i++) {
            final NetworkNamespace host = namespace("loc-host");
            hosts.add(host);
            router.connect("eth" + i, host, "line");
            router.addAddress("eth" + i, "10.77." + i + ".1/24");
            host.addAddress("line", "10.77." + i + ".2/24");
            host.ip("route", "add", "default", "via", "10.77." + i + ".1");
            if (i == 0 || i == INTERFACES - 1) {
                host.addAddress("lo", MOVED + "/32");
            }
            sockets.add(host.call(() -> new DatagramSocket(PORT)));
            for (final String each : List.of("rx", "tx", "gso", "gro", "tso")) {
                router.exec("ethtool", "-K", "eth" + i, each, "off");
                host.exec("ethtool", "-K", "line", each, "off");
            }
        }
        router.exec("sh", "-ec", "echo 1 > /proc/sys/net/ipv4/ip_forward; " +
            "for f in /proc/sys/net/ipv4/conf/*/rp_filter; do echo 0 > $f; done");
        final NetworkNamespace other = namespace("loc-other");
        router.connect("other", other, "line");
        router.addAddress("other", "10.78.0.1/24");
        other.addAddress("line", "10.78.0.2/24");
        sockets.add(router.call(() -> new DatagramSocket(PORT)));
        router.ip("route", "add", "10.98.0.0/24", "via", "10.78.0.2");
        router.ip("route", "add", "10.99.0.0/24", "via", "10.77.0.2");
        router.exec("tc", "qdisc", "add", "dev", "eth" + SHORT, "root", "tbf", "rate", "1mbit", "burst", "1600",
            "limit", "6000");
        router.exec("tc", "qdisc", "add", "dev", "eth" + LONG, "root", "tbf", "rate", "3mbit", "burst", "1600",
            "limit", "200000");
    }

    private NetworkNamespace namespace(final String purpose) throws IOException {
        final NetworkNamespace namespace = NetworkNamespace.create(purpose);
        namespaces.add(namespace);
        return namespace;
    }

    @AfterEach
    void tearDown() throws IOException {
        sockets.forEach(DatagramSocket::close);
        for (final NetworkNamespace namespace : namespaces) {
            namespace.close();
        }
    }

    @Test
    void shouldMeasureEveryPairOfInterfacesWhileARouteChanges() throws Exception {
        final Path records = directory.resolve("records.ipfix");
        final Path stats = directory.resolve("stats.json");
        final List<PacketTap> arriving = new ArrayList<>();
        final List<PacketTap> leaving = new ArrayList<>();
        try (Command.Running run = new Flowlag().under("ip", "netns", "exec", router.name())
            .command("run", "--router", "eth0,eth1,eth2,eth3", "--export", "file:" + records, "--stats", stats,
                "--set", "stats.interval=100ms").timeout(TIMEOUT).start()) {
            for (int i = 0; i < INTERFACES; i++) {
                arriving.add(tap(i, "in"));
                leaving.add(tap(i, "out"));
            }
            Flowlag.awaitMetering(run);
            awaitDecisions(stats);
            sendAll();
            sendWhileTheRouteMoves();
            sendToNoSegment();
            Deadline.await(TIMEOUT, () -> isDecided(stats), () -> number + " sent: " + Stats.read(stats));
            run.signal("TERM");
            assertEquals(0, run.finish().exitCode(), run::errors);
            judge(records, Stats.read(stats).orFailUnlessAccounted(), truths(arriving, leaving));
        } finally {
            arriving.forEach(PacketTap::close);
            leaving.forEach(PacketTap::close);
        }
    }

    /** What is sent at the start may have passed a point before it was watched, so that nothing is known of its loss. */
    private void awaitDecisions(final Path stats) throws Exception {
        final Flow toRouter = new Flow(1, "10.77.1.1");
        Deadline.await(TIMEOUT, () -> {
            toRouter.send();
            return Files.exists(stats) && Stats.read(stats).delayCounter("match_not_of_segment") > 0;
        }, () -> stats + " tells of no decision");
        firstPackets = number;
    }

    private PacketTap tap(final int index, final String direction) {
        final String source = ("in".equals(direction) ? "" : "not ") + "src host 10.77." + index + ".2";
        return new PacketTap(router, "eth" + index, direction, "udp dst port " + PORT + " and " + source,
            directory.resolve("eth" + index + direction + ".pcap"));
    }

    /** Bursts from each host to each other one, all at once. */
    private void sendAll() throws Exception {
        final List<Flow> flows = new ArrayList<>();
        for (int i = 0; i < INTERFACES; i++) {
            for (int j = 0; j < INTERFACES; j++) {
                if (i != j) {
                    flows.add(new Flow(i, "10.77." + j + ".2"));
                }
            }
        }
        for (int i = 0; i < BURST; i++) {
            for (final Flow flow : flows) {
                flow.send();
            }
        }
    }

    /** A route moves from the first interface to the fourth while packets pass, and none is lost. */
    private void sendWhileTheRouteMoves() throws Exception {
        final Flow flow = new Flow(1, MOVED);
        for (int i = 0; i < 2 * PACKETS; i++) {
            if (i == PACKETS) {
                router.ip("route", "replace", "10.99.0.0/24", "via", "10.77.3.2");
            }
            flow.send();
        }
    }

    private void sendToNoSegment() throws Exception {
        final Flow elsewhere = new Flow(1, ELSEWHERE);
        final Flow toRouter = new Flow(1, "10.77.1.1");
        final Flow toOtherAddress = new Flow(1, "10.77.3.1");
        final DatagramSocket own = router.call(() -> new DatagramSocket());
        sockets.add(own);
        final Flow byRouter = new Flow(own, "10.77.3.2");
        for (int i = 0; i < PACKETS; i++) {
            elsewhere.send();
            toRouter.send();
            toOtherAddress.send();
            byRouter.send();
        }
    }

    /** Datagrams from a socket of their own to an address. */
    private final class Flow {
        private final DatagramSocket socket;
        private final InetAddress to;

        private Flow(final int host, final String address) throws Exception {
            this(hosts.get(host).call(() -> new DatagramSocket()), address);
            sockets.add(socket);
        }

        private Flow(final DatagramSocket socket, final String address) throws IOException {
            this.socket = socket;
            to = InetAddress.getByName(address);
        }

        private void send() {
            final byte[] payload = ByteBuffer.allocate(PAYLOAD_BYTES).putLong(number++).array();
            try {
                socket.send(new DatagramPacket(payload, payload.length, to, PORT));
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }
    }

    /** All arrived but those that the router sent. */
    private boolean isDecided(final Path stats) {
        if (!Files.exists(stats)) {
            return false;
        }
        final Stats now = Stats.read(stats);
        return now.delayCounter("match_sent") >= number - PACKETS && now.delayCounter("match_sent_waiting") == 0 &&
            now.delayCounter("match_received_waiting") == 0;
    }

    private Map<Long, TapTruth> truths(final List<PacketTap> arriving, final List<PacketTap> leaving) {
        final List<Path> in = arriving.stream().map(PacketTap::finish).toList();
        final List<Path> out = leaving.stream().map(PacketTap::finish).toList();
        final Map<Long, TapTruth> truths = new TreeMap<>();
        for (int i = 0; i < INTERFACES; i++) {
            for (int j = 0; j < INTERFACES; j++) {
                if (i != j) {
                    truths.put(1000L * (i + 1) + j + 1, new TapTruth(in.get(i), out.get(j), (long)NS));
                }
            }
        }
        return truths;
    }

    private void judge(final Path file, final Stats stats, final Map<Long, TapTruth> truths) {
        final Map<Long, List<DelayFlow>> records = DelayFlow.read(file).stream().filter((each) -> each.segmentId() != null)
            .collect(Collectors.groupingBy(DelayFlow::segmentId, TreeMap::new, Collectors.toList()));
        assertEquals(truths.keySet(), records.keySet());
        truths.forEach((id, truth) -> {
            final long received = truth.flows().stream().mapToLong(TapTruth.Flow::received).sum();
            assertEquals(received, stats.delayCounter("match_matched_segment_" + id), () -> id + ": " + stats);
            for (final DelayFlow record : records.get(id)) {
                final TapTruth.Flow flow = truth.flow(record.key());
                assertEquals(flow.received(), record.packets(), record::toString);
                assertEquals(flow.meanNs(), record.meanNs(), STAMP_NS, record::toString);
                final boolean isMoved = record.key().contains(MOVED);
                assertEquals(isMoved ? null : Long.valueOf(flow.lost()), record.lostPackets(), record::toString);
                assertEquals(isMoved ? null : Long.valueOf(DelayFlow.LOSS_EXACT), record.lossKind(), record::toString);
                if (!isMoved) {
                    judgeQueue((int)(id % 1000) - 1, flow);
                }
            }
            final long lost = truth.byKey().entrySet().stream().filter((each) -> records.get(id).stream().anyMatch((record) ->
                record.key().equals(each.getKey()) && !record.key().contains(MOVED))).mapToLong((each) ->
                each.getValue().lost()).sum();
            assertEquals(lost, stats.delayCounter("match_lost_segment_" + id), () -> id + ": " + stats);
        });
        assertEquals(firstPackets + 3 * PACKETS,
            stats.delayCounter("match_not_of_segment") + stats.delayCounter("match_sent_undecided"), stats::toString);
        assertEquals(PACKETS, stats.delayCounter("match_unexpected") + stats.delayCounter("match_received_undecided"),
            stats::toString);
        assertEquals(0, stats.delayCounter("match_matched_segment_none"), stats::toString);
    }

    /** What the queue of an egress interface must give. */
    private static void judgeQueue(final int egress, final TapTruth.Flow flow) {
        if (egress == SHORT) {
            final double fullNs = NS * SHORT_BYTES / SHORT_RATE;
            assertTrue(flow.lost() > 0 && flow.mostNs() > fullNs / 2 && flow.mostNs() < 1.5 * fullNs, flow::toString);
        } else {
            assertEquals(0, flow.lost(), flow::toString);
        }
        if (egress == LONG) {
            final double lastNs = NS * (INTERFACES - 1) * BURST * WIRE_BYTES / LONG_RATE;
            assertTrue(flow.mostNs() > lastNs / 2 && flow.mostNs() < 1.5 * lastNs, flow::toString);
        }
    }
}
