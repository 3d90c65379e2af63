package io.flowlag.tests.system;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.TunInterface;
import io.flowlag.tests.system.CapturedPackets.Packet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.AFPACKET;
import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.PCAP;
import static org.junit.jupiter.api.Assertions.*;

/** The packets of the live sources: which they show, and what of them. {@link LiveInterfaceTest} has the interface. */
@Tag("topology")
class LiveCaptureTest extends LiveWire {
    private static final int SMALL_RING_BYTES = LiveCaptureOptions.MIN_RING_BYTES;
    private static final int SMALL_BLOCK_BYTES = 8_192;
    private static final int HARDWARE_PPP = 512;
    private static final int COOKED_PROTOCOL_OFFSET = 14;
    private static final int COOKED_HEADER_LENGTH_BYTES = 16;

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldSeeEveryPacketOnceWithItsTagLengthAndTime(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames();
        final long beforeNs = clockNs();
        final List<Packet> packets = far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(LiveCaptureOptions.of(FAR).withKind(kind))) {
                final CapturedPackets captured = new CapturedPackets();
                for (int from = 0; from < sent.size(); from += FRAMES_PER_BURST) {
                    RawSender.send(near, NEAR, sent.subList(from, from + FRAMES_PER_BURST));
                    captured.await(source, from + FRAMES_PER_BURST);
                }
                captured.stopAndDrain(source);
                assertEquals(FRAME_COUNT, source.capturedCount());
                assertEquals(0, source.kernelDropCount());
                assertEquals(0, source.filteredCount());
                assertNull(source.damage());
                assertEquals(LinkType.ETHERNET, source.linkType());
                captured.packets().forEach(packet -> assertEquals(source.interfaceId(), packet.interfaceId()));
                return captured.packets();
            }
        });
        assertCaptured(sent, packets, kind);
        long latestNs = beforeNs;
        for (final Packet packet : packets) {
            assertTrue(packet.timestampNs() >= latestNs, "time must not run backwards");
            latestNs = packet.timestampNs();
        }
        assertTrue(latestNs <= clockNs());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldFilterByVlanWhereverTheKernelKeepsTheTag(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames().subList(0, FRAMES_PER_BURST);
        final List<Packet> tagged = captureAtBothEnds(kind, "vlan " + VLAN, sent);
        assertEquals(2 * sent.stream().filter(frame -> vlanOf(frame) == VLAN).count(), tagged.size());
        tagged.forEach(packet -> assertEquals(VLAN, vlanOf(Frames.withTag(packet.octets(), packet.vlanTag()))));

        final List<Packet> twice = captureAtBothEnds(kind, "vlan " + SERVICE_VLAN + " and vlan " + CUSTOMER_VLAN, sent);
        assertEquals(2 * sent.stream().filter(frame -> vlanOf(frame) == SERVICE_VLAN).count(), twice.size());

        final List<Packet> untagged = captureAtBothEnds(kind, "udp and not vlan", sent);
        assertEquals(2 * sent.stream().filter(frame -> vlanOf(frame) == -1).count(), untagged.size());
    }

    /** A stream of packets, one in three of each kind, over the wire; captured where they leave and where they arrive. */
    private List<Packet> captureAtBothEnds(
        final LiveCaptureOptions.Kind kind, final String filter, final List<byte[]> sent) throws Exception {
        final LivePacketSource leaving = near.call(open(options(NEAR, kind).withFilterExpression(filter)));
        final LivePacketSource arriving = far.call(open(options(FAR, kind).withFilterExpression(filter)));
        try (leaving; arriving) {
            RawSender.send(near, NEAR, sent);
            final CapturedPackets captured = new CapturedPackets();
            captured.stopAndDrain(leaving);
            captured.stopAndDrain(arriving);
            return captured.packets();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldCountThePacketsBeforeAHandlerFails(final LiveCaptureOptions.Kind kind) throws Exception {
        try (LivePacketSource source = near.call(open(options("lo", kind)))) {
            RawSender.send(near, "lo", mixedFrames().subList(0, 60));
            final CapturedPackets captured = new CapturedPackets();
            assertThrows(ArithmeticException.class, () -> captured.failAt(21).stopAndDrain(source));
            assertEquals(21, source.capturedCount());
            assertEquals(60, captured.stopAndDrain(source).packets().size());
            assertEquals(60, source.capturedCount());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldTellDirectionsApart(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> outgoing = mixedFrames().subList(0, 30);
        final List<byte[]> incoming = mixedFrames().subList(30, 90);
        final LivePacketSource in = near.call(open(options(NEAR, kind).withDirection(Direction.IN)));
        final LivePacketSource out = near.call(open(options(NEAR, kind).withDirection(Direction.OUT)));
        final LivePacketSource both = near.call(open(options(NEAR, kind)));
        try (in; out; both) {
            RawSender.send(near, NEAR, outgoing);
            RawSender.send(far, FAR, incoming);
            assertCaptured(incoming, new CapturedPackets().stopAndDrain(in).packets(), kind);
            assertEquals(outgoing.size(), new CapturedPackets().stopAndDrain(out).packets().size());
            assertEquals(outgoing.size() + incoming.size(), new CapturedPackets().stopAndDrain(both).packets().size());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldShowPacketsOfLoopbackOnce(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames().subList(0, 60);
        final LivePacketSource both = near.call(open(options("lo", kind)));
        final LivePacketSource in = near.call(open(options("lo", kind).withDirection(Direction.IN)));
        try (both; in) {
            RawSender.send(near, "lo", sent);
            assertCaptured(sent, new CapturedPackets().stopAndDrain(both).packets(), kind);
            assertCaptured(sent, new CapturedPackets().stopAndDrain(in).packets(), kind);
        }
    }

    @Test
    void shouldShowPacketsThatLeaveByLoopbackIfAskedAndIfLibpcapIsNotInvolved() throws Exception {
        final List<byte[]> sent = mixedFrames().subList(0, 60);
        final LivePacketSource out = near.call(open(options("lo", AFPACKET).withDirection(Direction.OUT)));
        final LivePacketSource none = near.call(open(options("lo", PCAP).withDirection(Direction.OUT)));
        try (out; none) {
            RawSender.send(near, "lo", sent);
            assertEquals(sent.size(), new CapturedPackets().stopAndDrain(out).packets().size());
            assertEquals(0, new CapturedPackets().stopAndDrain(none).packets().size());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldCountEveryPacketThatTheKernelDrops(final LiveCaptureOptions.Kind kind) throws Exception {
        final int timesTheRing = 8;
        final List<byte[]> sent = new ArrayList<>();
        for (int i = 0; i < timesTheRing; i++) {
            sent.addAll(mixedFrames());
        }
        final LiveCaptureOptions options = options(FAR, kind).withRing(SMALL_RING_BYTES, SMALL_BLOCK_BYTES, 10);
        try (LivePacketSource all = far.call(open(options(FAR, AFPACKET).withRing(64 << 20, 0, 5)));
            LivePacketSource source = far.call(open(options))) {
            sendUntilSeen(sent, all);
            new CapturedPackets().stopAndDrain(source);
            assertTrue(source.kernelDropCount() > 0, "the ring must be too small for this test");
            assertTrue(source.capturedCount() > 0);
            assertEquals(sent.size(), source.capturedCount() + source.kernelDropCount());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldCutAtTheSnapLength(final LiveCaptureOptions.Kind kind) throws Exception {
        final int snapLengthBytes = 60;
        try (LivePacketSource source = far.call(open(options(FAR, kind).withSnapLengthBytes(snapLengthBytes)))) {
            RawSender.send(near, NEAR, List.of(Frames.udp(1, 1_000), Frames.udp(2, 40)));
            final List<Packet> packets = new CapturedPackets().await(source, 2).packets();
            assertEquals(snapLengthBytes, packets.get(0).octets().length);
            assertEquals(1_014, packets.get(0).wireLengthBytes());
            assertEquals(54, packets.get(1).octets().length);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"AFPACKET", "PCAP"})
    void shouldReadTheRingRoundAndRound(final LiveCaptureOptions.Kind kind) throws Exception {
        // A ring of eight blocks; on a slow machine each frame may come to close a block of its own, so a burst is shorter.
        final int burstCount = 240;
        final int burstLength = 5;
        final LiveCaptureOptions options = options(FAR, kind).withRing(SMALL_RING_BYTES, SMALL_BLOCK_BYTES, 1);
        try (LivePacketSource source = far.call(open(options))) {
            final CapturedPackets captured = new CapturedPackets();
            for (int burst = 0; burst < burstCount; burst++) {
                RawSender.send(near, NEAR, mixedFrames().subList(burst * burstLength, (burst + 1) * burstLength));
                captured.await(source, (burst + 1) * burstLength);
            }
            assertEquals(0, source.kernelDropCount());
            assertCaptured(mixedFrames().subList(0, burstCount * burstLength), captured.packets(), kind);
        }
    }

    @Test
    void shouldCutPacketsLongerThanABlock() throws Exception {
        final int packetLengthBytes = 60_000;
        final LiveCaptureOptions options = options("lo", AFPACKET).withRing(SMALL_RING_BYTES, SMALL_BLOCK_BYTES, 1);
        try (LivePacketSource source = near.call(open(options))) {
            RawSender.send(near, "lo", List.of(Frames.udp(1, packetLengthBytes), Frames.udp(2, 100)));
            final List<Packet> packets = new CapturedPackets().await(source, 2).packets();
            assertEquals(packetLengthBytes + 14, packets.get(0).wireLengthBytes());
            assertTrue(packets.get(0).octets().length < SMALL_BLOCK_BYTES && packets.get(0).octets().length > 7_000);
            assertArrayEquals(Frames.udp(2, 100), packets.get(1).octets());
        }
    }

    @Test
    void shouldTellWhetherPacketsAreThere() throws Exception {
        try (LivePacketSource source = far.call(open(options(FAR, AFPACKET)))) {
            assertFalse(source.awaitArrival(0));
            assertTrue(source.isDrained());
            RawSender.send(near, NEAR, List.of(Frames.udp(1, 100)));
            Deadline.workUntil(Duration.ofSeconds(30), () -> !source.isDrained(), () -> "the block is not looked into");
            assertTrue(source.awaitArrival(10_000));
            assertFalse(source.isDrained());
            assertEquals(1, source.poll(new CountingHandler(), CapturedPackets.POLL_LIMIT));
            assertTrue(source.isDrained());
        }
    }

    /** Once the code is warm, for long enough that drops and interface were read too. */
    @ParameterizedTest
    @EnumSource(names = {"AFPACKET", "EBPF", "XDP"})
    void shouldAllocateNothingPerPacket(final LiveCaptureOptions.Kind kind) throws Exception {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final CountingHandler handler = new CountingHandler();
        far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(options(FAR, kind).withFilterExpression("udp"))) {
                long sinceNs = System.nanoTime();
                for (int round = 0; System.nanoTime() - sinceNs < TimeUnit.MILLISECONDS.toNanos(200); round++) {
                    assertTrue(round < 1_000, "it allocates again and again");
                    RawSender.send(near, NEAR, mixedFrames().subList(0, FRAMES_PER_BURST));
                    final long before = threads.getThreadAllocatedBytes(Thread.currentThread().getId());
                    handler.await(source, handler.count() + FRAMES_PER_BURST / 3);
                    if (threads.getThreadAllocatedBytes(Thread.currentThread().getId()) != before) {
                        sinceNs = System.nanoTime();
                    }
                }
            }
            return null;
        });
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldFallBackToTheKernelsTimestampsWithANotice(final LiveCaptureOptions.Kind kind) throws Exception {
        final LiveCaptureOptions options = options(FAR, kind).withDirection(Direction.IN).withHardwareTimestamps(true);
        try (LivePacketSource source = far.call(open(options))) {
            assertEquals(1, source.notices().size());
            assertTrue(source.notices().get(0).startsWith(FAR + ": no hardware timestamps ("), source.notices().get(0));
            final long beforeNs = clockNs();
            RawSender.send(near, NEAR, List.of(Frames.udp(1, 100)));
            assertTrue(new CapturedPackets().await(source, 1).packets().get(0).timestampNs() >= beforeNs);
        }
    }

    /** A wire between namespaces has no card: the kernel stamps each packet, and says so of each. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldCountPacketsThatTheKernelStampedInTheCardsPlace(final LiveCaptureOptions.Kind kind) throws Exception {
        final LiveCaptureOptions options = options(FAR, kind).withDirection(Direction.IN);
        try (LivePacketSource asked = far.call(open(options.withHardwareTimestamps(true)));
            LivePacketSource notAsked = far.call(open(options))) {
            RawSender.send(near, NEAR, mixedFrames().subList(0, 30));
            new CapturedPackets().await(asked, 30);
            new CapturedPackets().await(notAsked, 30);
            assertEquals(30, asked.kernelStampedCount());
            assertEquals(0, notAsked.kernelStampedCount());
        }
    }

    @Test
    void shouldTakePacketsOfTunnelsAsRawIp() throws Exception {
        final byte[] packet = Frames.udpPacket(7, 100);
        final List<Packet> packets = near.call(() -> {
            try (TunInterface tun = new TunInterface("tun0")) {
                near.ip("link", "set", "tun0", "up");
                try (LivePacketSource source = LiveCapture.open(options("tun0", AFPACKET).withFilterExpression("udp"))) {
                    assertEquals(LinkType.RAW, source.linkType());
                    tun.receive(packet);
                    return new CapturedPackets().await(source, 1).packets();
                }
            }
        });
        assertArrayEquals(packet, packets.get(0).octets());
    }

    @Test
    void shouldGivePacketsOfPppACookedHeaderAndFilterThem() throws Exception {
        final byte[] wanted = Frames.udpPacket(7, 100);
        final List<Packet> packets = near.call(() -> {
            try (TunInterface tun = new TunInterface("tun0")) {
                tun.hardwareType(HARDWARE_PPP);
                near.ip("link", "set", "tun0", "up");
                final LiveCaptureOptions options = options("tun0", AFPACKET).withFilterExpression("udp and greater 110");
                try (LivePacketSource source = LiveCapture.open(options)) {
                    tun.receive(Frames.udpPacket(1, 40));
                    tun.receive(wanted);
                    final CapturedPackets captured = new CapturedPackets().stopAndDrain(source);
                    assertEquals(LinkType.LINUX_SLL, source.linkType());
                    assertEquals(2, source.capturedCount());
                    assertEquals(1, source.filteredCount());
                    return captured.packets();
                }
            }
        });
        final byte[] octets = packets.get(0).octets();
        assertEquals(1, packets.size());
        assertEquals(HARDWARE_PPP, octets[2] << 8 | octets[3]);
        assertEquals(0x0800, octets[COOKED_PROTOCOL_OFFSET] << 8 | octets[COOKED_PROTOCOL_OFFSET + 1]);
        assertArrayEquals(wanted, Arrays.copyOfRange(octets, COOKED_HEADER_LENGTH_BYTES, octets.length));
        assertEquals(octets.length, packets.get(0).wireLengthBytes());
    }

    private static long clockNs() {
        final Instant now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }
}
