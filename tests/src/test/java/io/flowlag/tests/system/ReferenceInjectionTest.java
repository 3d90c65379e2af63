package io.flowlag.tests.system;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.delay.ReferenceTransmitter.SendTimeHandler;
import io.flowlag.exporter.reference.InjectionException;
import io.flowlag.exporter.reference.OffloadState;
import io.flowlag.exporter.reference.QueueCapacity;
import io.flowlag.exporter.reference.ReferencePort;
import io.flowlag.exporter.reference.StampPoint;
import io.flowlag.exporter.reference.TransmitterOptions;
import io.flowlag.exporter.reference.UdpReferenceTransmitter;
import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.reference.ReferenceSession;
import io.flowlag.rli.sender.ReferenceSource;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Tools;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.math.BigDecimal;
import java.net.DatagramPacket;
import java.net.DatagramSocket;
import java.net.InetAddress;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** References on a real kernel, from one network namespace to another. */
@Tag("topology")
class ReferenceInjectionTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final String SENDER = "sender";
    private static final String RECEIVER = "receiver";
    private static final int PORT = 8620;
    private static final int SSID = 7;
    private static final int REFERENCES = 20;
    private static final int EXPEDITED = 46 << 2;
    private static final int BEST_EFFORT = 0;

    @TempDir
    private Path directory;
    private NetworkNamespace here;
    private NetworkNamespace there;

    /** What a capture says of one reference. */
    private record Seen(long arrivalNs, long sequenceNumber, long stampNs, int errorEstimate, int dscp) {
    }

    @BeforeEach
    void connect() throws IOException {
        NetworkNamespace.assumeAvailable();
        here = NetworkNamespace.create("inject", true);
        there = NetworkNamespace.create("target", true);
        here.connect(SENDER, there, RECEIVER);
        here.addAddress(SENDER, "10.86.0.1/24");
        there.addAddress(RECEIVER, "10.86.0.2/24");
        here.addAddress(SENDER, "fd86::1/64");
        there.addAddress(RECEIVER, "fd86::2/64");
    }

    @AfterEach
    void disconnect() throws IOException {
        if (here != null) {
            here.close();
        }
        if (there != null) {
            there.close();
        }
    }

    private static long count(final UdpReferenceTransmitter transmitter, final String name) {
        final Map<String, Long> counters = new HashMap<>();
        transmitter.counters(counters::put);
        return counters.get("transmit_" + name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10.86.0.2", "fd86::2"})
    void shouldBeReadByTsharkInTheirClasses(final String target) throws Exception {
        final int errorEstimate = ErrorEstimate.of(1_000_000, true);
        final List<long[]> sendTimes = new ArrayList<>();
        final Path capture;
        try (ReferencePort port = there.call(() -> ReferencePort.bind(PORT));
            Capture tap = new Capture(there, RECEIVER, "in", "there");
            UdpReferenceTransmitter transmitter = open(target, StampPoint.BEFORE_QUEUE, EXPEDITED, BEST_EFFORT)) {
            assertEquals(2, port.ipVersionCount());
            for (int stream = 0; stream < 2; stream++) {
                send(transmitter, stream, REFERENCES, errorEstimate, (index, number, sentNs, method) ->
                    sendTimes.add(new long[]{index, number, sentNs}));
            }
            assertEquals(2 * REFERENCES, transmitter.sentCount());
            assertEquals(0, count(transmitter, "unreachable") + count(transmitter, "busy") + count(transmitter, "failed"));
            assertTrue(transmitter.hasKernelStamps());
            assertEquals(target.indexOf(':') < 0 ? 42 : 62, transmitter.headerLengthBytes());
            capture = tap.finish(2 * REFERENCES);
        }
        final List<Seen> seen = read(capture);
        assertEquals(2 * REFERENCES, seen.size());
        for (int i = 0; i < seen.size(); i++) {
            final Seen reference = seen.get(i);
            assertEquals(i % REFERENCES, reference.sequenceNumber());
            assertEquals(errorEstimate, reference.errorEstimate());
            assertEquals(i < REFERENCES ? 46 : 0, reference.dscp());
            assertEquals(i % REFERENCES, sendTimes.get(i)[1]);
            assertEquals(i / REFERENCES, sendTimes.get(i)[0]);
            assertTrue(reference.stampNs() <= sendTimes.get(i)[2], reference::toString);
            assertTrue(sendTimes.get(i)[2] <= reference.arrivalNs(), reference::toString);
        }
    }

    /** A queue of several milliseconds: the stamp before it must tell its delay, the one behind it must not. */
    @ParameterizedTest
    @ValueSource(strings = {"BEFORE_QUEUE", "AFTER_QUEUE"})
    void shouldStampOnTheRightSideOfTheQueue(final StampPoint point) throws Exception {
        here.exec("tc", "qdisc", "add", "dev", SENDER, "root", "tbf", "rate", "500kbit", "burst", "2000", "limit", "100000");
        final long[] sentNs = new long[REFERENCES];
        final Path capture;
        try (ReferencePort port = there.call(() -> ReferencePort.bind(PORT));
            Capture tap = new Capture(here, SENDER, "out", "egress");
            DatagramSocket ballast = here.call(() -> new DatagramSocket());
            UdpReferenceTransmitter transmitter = open("10.86.0.2", point, EXPEDITED)) {
            assertEquals(2, port.ipVersionCount());
            for (int i = 0; i < 20; i++) {
                ballast.send(new DatagramPacket(new byte[1000], 1000, InetAddress.getByName("10.86.0.2"), PORT));
            }
            send(transmitter, 0, REFERENCES, 1, (index, number, timeNs, method) -> sentNs[number] = timeNs);
            assertEquals(REFERENCES, count(transmitter, "stamps"));
            assertEquals(0, count(transmitter, "stamps_strange") + count(transmitter, "stamps_missing"));
            capture = tap.finish(REFERENCES);
        }
        final List<Seen> seen = read(capture);
        assertEquals(REFERENCES, seen.size());
        // Twenty packets of 1042 octets are in front, 330 ms, less what left before the first reference was sent.
        final long queueNs = 50_000_000;
        for (int i = 0; i < REFERENCES; i++) {
            final long delayNs = seen.get(i).arrivalNs() - sentNs[i];
            if (point == StampPoint.BEFORE_QUEUE) {
                assertTrue(delayNs > queueNs, "delay " + delayNs + " ns of a queue of " + queueNs + " ns");
            } else {
                assertTrue(Math.abs(delayNs) < queueNs / 3, "delay " + delayNs + " ns behind the queue");
            }
        }
    }

    @Test
    void shouldCountWhatTheReceiverRefuses() throws Exception {
        try (UdpReferenceTransmitter transmitter = open("10.86.0.2", StampPoint.BEFORE_QUEUE, BEST_EFFORT)) {
            final long[] count = new long[1];
            Deadline.await(TIMEOUT, () -> {
                send(transmitter, 0, 1, 1, (index, number, timeNs, method) -> count[0]++);
                return count(transmitter, "unreachable") > 0;
            }, transmitter::lastError);
            assertEquals("connection refused", transmitter.lastError());
            assertEquals(transmitter.sentCount(), count[0], "each reference has its stamp, those after a refusal too");
            assertEquals(0, count(transmitter, "failed"));
        }
    }

    @Test
    void shouldCountWhatHasNoRoom() throws Exception {
        here.exec("tc", "qdisc", "add", "dev", SENDER, "root", "tbf", "rate", "8kbit", "burst", "2000", "limit", "10000000");
        try (ReferencePort port = there.call(() -> ReferencePort.bind(PORT));
            UdpReferenceTransmitter transmitter = open("10.86.0.2", StampPoint.BEFORE_QUEUE, BEST_EFFORT)) {
            final ReferenceSource source = new ReferenceSource(ReferenceSession.unauthenticated(SSID), 1);
            final UnsafeBuffer packet = new UnsafeBuffer(new byte[256]);
            int attempts = 0;
            while (count(transmitter, "busy") == 0 && attempts++ < 10_000) {
                final int lengthBytes = source.encode(packet, 0, attempts);
                if (transmitter.send(0, packet, 0, lengthBytes)) {
                    source.onSent();
                }
                transmitter.poll((index, number, timeNs, method) -> { }, 64);
            }
            assertTrue(count(transmitter, "busy") > 0, "the socket's buffer never filled");
            assertEquals(transmitter.sentCount(), count(transmitter, "stamps"));
            assertEquals(2, port.ipVersionCount());
        }
    }

    @Test
    void shouldAllocateNothingForAReference() throws Exception {
        try (ReferencePort port = there.call(() -> ReferencePort.bind(PORT));
            UdpReferenceTransmitter transmitter = open("10.86.0.2", StampPoint.BEFORE_QUEUE, BEST_EFFORT)) {
            assertEquals(2, port.ipVersionCount());
            final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
            final UnsafeBuffer packet = new UnsafeBuffer(new byte[64]);
            final SendTimeHandler handler = (index, number, sentNs, method) -> packet.putLong(8, sentNs);
            long leastBytes = Long.MAX_VALUE;
            for (int repetition = 0; repetition < 10; repetition++) {
                final long beforeBytes = threads.getCurrentThreadAllocatedBytes();
                final long idleBytes = threads.getCurrentThreadAllocatedBytes() - beforeBytes;
                for (int i = 0; i < 500; i++) {
                    transmitter.send(0, packet, 0, 44);
                    transmitter.poll(handler, 8);
                }
                leastBytes = Math.min(
                    leastBytes, threads.getCurrentThreadAllocatedBytes() - beforeBytes - 2 * idleBytes);
            }
            assertEquals(0, leastBytes);
            assertEquals(transmitter.sentCount(), count(transmitter, "stamps"));
        }
    }

    @Test
    void shouldSayWhatCannotBeBoundOrReached() throws Exception {
        try (DatagramSocket taken = there.call(() -> new DatagramSocket(PORT))) {
            final InjectionException refusal =
                assertThrows(InjectionException.class, () -> there.call(() -> ReferencePort.bind(PORT)));
            assertTrue(refusal.getMessage().contains("port " + taken.getLocalPort() + ": address already in use"),
                refusal.getMessage());
        }
        final InjectionException unreachable = assertThrows(InjectionException.class,
            () -> open("192.0.2.1", StampPoint.BEFORE_QUEUE, BEST_EFFORT));
        assertTrue(unreachable.getMessage().contains("192.0.2.1 port 8620: network is unreachable"), unreachable.getMessage());
    }

    @Test
    void shouldNameTheLineThatSwitchesOffloadsOff() throws Exception {
        Tools.require("ethtool", "ethtool");
        here.exec("ethtool", "-K", SENDER, "gro", "on", "tso", "on", "gso", "on");
        final OffloadState on = here.call(() -> OffloadState.of(SENDER));
        assertTrue(on.isOn());
        assertTrue(on.on().containsAll(List.of("gro", "gso", "tso")), on.line(false));
        assertTrue(on.line(false).startsWith("ethtool -K " + SENDER + " "), on.line(false));

        here.exec(on.line(false).split(" "));
        final OffloadState off = here.call(() -> OffloadState.of(SENDER));
        assertEquals(List.of(), off.on());
        assertFalse(off.isOn());
        assertEquals("", off.unreadable());
        assertEquals("", off.line(false));
        assertEquals("", here.call(() -> on.turn(true)));
        assertEquals(on, here.call(() -> OffloadState.of(SENDER)));
        assertEquals("", here.call(() -> on.turn(false)));
        assertEquals(off, here.call(() -> OffloadState.of(SENDER)));

        assertEquals("no such device", here.call(() -> OffloadState.of("nowhere")).unreadable());
        assertFalse(here.call(() -> OffloadState.of("nowhere")).isOn());
    }

    @Test
    void shouldReadTheRateOfTheShaper() throws Exception {
        assertEquals(QueueCapacity.UNKNOWN_BPS, capacity().rateBps());
        here.exec("tc", "qdisc", "replace", "dev", SENDER, "root", "tbf", "rate", "50mbit", "burst", "2000", "latency", "48ms");
        assertEquals(new QueueCapacity("tbf", 50_000_000), capacity());
        here.exec("tc", "qdisc", "replace", "dev", SENDER, "root", "tbf", "rate", "100gbit", "burst", "2m", "latency", "48ms");
        assertEquals(new QueueCapacity("tbf", 100_000_000_000L), capacity());
        here.exec("tc", "qdisc", "delete", "dev", SENDER, "root");
        here.exec("tc", "qdisc", "add", "dev", SENDER, "root", "handle", "1:", "htb", "default", "20");
        here.exec("tc", "class", "add", "dev", SENDER, "parent", "1:", "classid", "1:1",
            "htb", "rate", "10mbit", "ceil", "20mbit");
        here.exec("tc", "class", "add", "dev", SENDER, "parent", "1:1", "classid", "1:20", "htb", "rate", "5mbit");
        assertEquals(new QueueCapacity("htb", 20_000_000), capacity());
        here.exec("tc", "class", "add", "dev", SENDER, "parent", "1:", "classid", "1:2", "htb", "rate", "10mbit");
        assertEquals(new QueueCapacity("htb", QueueCapacity.UNKNOWN_BPS), capacity(), "two roots have no common rate");
    }

    private QueueCapacity capacity() throws Exception {
        return here.call(() -> QueueCapacity.of(SENDER));
    }

    private UdpReferenceTransmitter open(final String target, final StampPoint point, final int... trafficClasses)
        throws Exception {
        final InetAddress address = InetAddress.getByName(target);
        return here.call(() -> UdpReferenceTransmitter.open(
            new TransmitterOptions(address, PORT, null, null, trafficClasses, point)));
    }

    /** Sends references one by one, each when the time of the one before is known. */
    private static void send(final UdpReferenceTransmitter transmitter, final int stream, final int count,
        final int errorEstimate, final SendTimeHandler handler) {
        final ReferenceSource source = new ReferenceSource(ReferenceSession.unauthenticated(SSID + stream), errorEstimate);
        final UnsafeBuffer packet = new UnsafeBuffer(new byte[256]);
        for (int i = 0; i < count; i++) {
            final Instant now = Instant.now();
            final int lengthBytes = source.encode(packet, 0, now.getEpochSecond() * 1_000_000_000L + now.getNano());
            assertTrue(transmitter.send(stream, packet, 0, lengthBytes), transmitter::lastError);
            final int sent = source.onSent();
            Deadline.await(TIMEOUT, () -> transmitter.poll((index, number, timeNs, method) -> {
                assertEquals(sent, number);
                source.onObserved(number, timeNs, method);
                handler.onSendTime(index, number, timeNs, method);
            }, 1) > 0, () -> "send time of reference " + sent);
        }
    }

    private static List<Seen> read(final Path capture) {
        return Command.of(Tools.require("tshark", "tshark"), "-n", "-r", capture, "-Y", "twamp.test",
            "-d", "udp.port==" + PORT + ",twamp.test", "-T", "fields", "-E", "separator=|", "-E", "occurrence=f",
            "-e", "frame.time_epoch", "-e", "twamp.test.seq_number", "-e", "twamp.test.timestamp",
            "-e", "twamp.test.error_estimate", "-e", "ip.dsfield.dscp", "-e", "ipv6.tclass.dscp")
            .environment("TZ", "UTC").timeout(TIMEOUT).run().orFail().output().lines().map(ReferenceInjectionTest::seen).toList();
    }

    private static Seen seen(final String line) {
        final String[] fields = line.split("\\|", -1);
        return new Seen(new BigDecimal(fields[0]).movePointRight(9).longValueExact(), Long.parseLong(fields[1]),
            timeNs(fields[2]), Integer.decode(fields[3]), Integer.parseInt(fields[4].isEmpty() ? fields[5] : fields[4]));
    }

    /** tshark writes the NTP timestamp as a date: month, day, year, time with nine digits. */
    private static long timeNs(final String text) {
        final java.time.LocalDateTime time = java.time.LocalDateTime.parse(text.replaceAll("\\s+", " ").replace(" UTC", ""),
            java.time.format.DateTimeFormatter.ofPattern("MMM d, yyyy HH:mm:ss.SSSSSSSSS", java.util.Locale.US));
        return time.toEpochSecond(java.time.ZoneOffset.UTC) * 1_000_000_000L + time.getNano();
    }

    /** tcpdump on one interface. */
    private final class Capture implements AutoCloseable {
        private final Path file;
        private final Command.Running tcpdump;

        Capture(final NetworkNamespace namespace, final String interfaceName, final String direction, final String name) {
            file = directory.resolve(name + ".pcap");
            tcpdump = Command.of("ip", "netns", "exec", namespace.name(), Tools.require("tcpdump", "tcpdump"), "-n",
                "-i", interfaceName, "-Q", direction, "--time-stamp-precision=nano", "-s", "200", "-U", "--immediate-mode",
                "-w", file,
                "udp port " + PORT + " and not greater 1000").timeout(TIMEOUT).start();
            Deadline.await(TIMEOUT, () -> tcpdump.errors().contains("listening"), tcpdump::errors);
        }

        /** Waits until so many packets have been written. */
        Path finish(final int count) {
            Deadline.await(TIMEOUT, () -> packetCount() >= count, () -> {
                tcpdump.signal("INT");
                return packetCount() + " packets captured: " + tcpdump.finish() + read(file);
            });
            tcpdump.signal("INT");
            tcpdump.finish();
            return file;
        }

        /** Whole packets in the file; references differ in length. */
        private int packetCount() {
            try {
                final byte[] octets = Files.exists(file) ? Files.readAllBytes(file) : new byte[0];
                final ByteBuffer records = ByteBuffer.wrap(octets).order(ByteOrder.nativeOrder());
                int count = 0;
                int end = 24;
                while (end + 16 <= octets.length && end + 16 + records.getInt(end + 8) <= octets.length) {
                    end += 16 + records.getInt(end + 8);
                    count++;
                }
                return count;
            } catch (final IOException ex) {
                throw new java.io.UncheckedIOException(ex);
            }
        }

        @Override
        public void close() {
            tcpdump.close();
        }
    }
}
