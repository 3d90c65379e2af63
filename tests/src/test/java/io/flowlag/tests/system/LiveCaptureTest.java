package io.flowlag.tests.system;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.TunInterface;
import io.flowlag.tests.system.CapturedPackets.Packet;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.AFPACKET;
import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.PCAP;
import static io.flowlag.tests.support.Frames.TPID_CUSTOMER;
import static io.flowlag.tests.support.Frames.TPID_SERVICE;
import static org.junit.jupiter.api.Assertions.*;

/** The live sources, on wires between network namespaces on which only this test sends. */
@Tag("topology")
class LiveCaptureTest {
    private static final String NEAR = "near0";
    private static final String FAR = "far0";
    private static final int FRAME_COUNT = 1_200;
    private static final int FRAMES_PER_BURST = 200;
    private static final int MAX_PACKET_LENGTH_BYTES = 1_500;
    private static final int VLAN = 42;
    private static final int SERVICE_VLAN = 100;
    private static final int CUSTOMER_VLAN = 200;
    private static final int SMALL_RING_BYTES = LiveCaptureOptions.MIN_RING_BYTES;
    private static final int SMALL_BLOCK_BYTES = 8_192;
    private static final int HARDWARE_PPP = 512;
    private static final int HARDWARE_RADIOTAP = 803;
    private static final int COOKED_PROTOCOL_OFFSET = 14;
    private static final int COOKED_HEADER_LENGTH_BYTES = 16;

    private NetworkNamespace near;
    private NetworkNamespace far;

    @BeforeEach
    void layWire() throws IOException {
        NetworkNamespace.assumeAvailable();
        near = NetworkNamespace.create("near");
        far = NetworkNamespace.create("far");
        near.connect(NEAR, far, FAR);
    }

    @AfterEach
    void removeWire() {
        CloseHelper.closeAll(near, far);
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldSeeEveryPacketOnceWithItsTagLengthAndTime(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames();
        final long beforeNs = clockNs();
        final List<Packet> packets = far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(LiveCaptureOptions.of(FAR).withKind(kind))) {
                final CapturedPackets captured = new CapturedPackets();
                for (int from = 0; from < sent.size(); from += FRAMES_PER_BURST) {
                    send(near, NEAR, sent.subList(from, from + FRAMES_PER_BURST));
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
            send(near, NEAR, sent);
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
            send(near, "lo", mixedFrames().subList(0, 60));
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
            send(near, NEAR, outgoing);
            send(far, FAR, incoming);
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
            send(near, "lo", sent);
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
            send(near, "lo", sent);
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
            send(near, NEAR, List.of(Frames.udp(1, 1_000), Frames.udp(2, 40)));
            final List<Packet> packets = new CapturedPackets().await(source, 2).packets();
            assertEquals(snapLengthBytes, packets.get(0).octets().length);
            assertEquals(1_014, packets.get(0).wireLengthBytes());
            assertEquals(54, packets.get(1).octets().length);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldDeliverEverythingThenEndWhenTheInterfaceVanishes(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames().subList(0, 50);
        far.call(() -> {
            try (LivePacketSource all = LiveCapture.open(options(FAR, AFPACKET));
                LivePacketSource source = LiveCapture.open(options(FAR, kind))) {
                sendUntilSeen(sent, all);
                far.ip("link", "del", FAR);
                assertCaptured(sent, new CapturedPackets().awaitEnd(source).packets(), kind);
                assertTrue(source.damage().startsWith("interface " + FAR + " vanished"), source.damage());
            }
            return null;
        });
    }

    @Test
    void shouldEndWhenTheInterfaceMovesToAnotherNamespace() throws Exception {
        try (LivePacketSource source = far.call(open(options(FAR, AFPACKET)))) {
            far.ip("link", "set", FAR, "netns", near.name());
            new CapturedPackets().awaitEnd(source);
            assertEquals("interface " + FAR + " vanished", source.damage());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldGoOnAfterTheInterfaceWasDown(final LiveCaptureOptions.Kind kind) throws Exception {
        final List<byte[]> sent = mixedFrames().subList(0, 40);
        final List<Packet> packets = far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(options(FAR, kind))) {
                final CapturedPackets captured = new CapturedPackets();
                send(near, NEAR, sent.subList(0, 20));
                captured.await(source, 20);
                far.ip("link", "set", FAR, "down");
                pollFor(source, captured, TimeUnit.MILLISECONDS.toNanos(150));
                far.ip("link", "set", FAR, "up");
                for (int i = 0; i < 1_000 && !near.ip("link", "show", NEAR).contains("state UP"); i++) {
                    pollFor(source, captured, TimeUnit.MILLISECONDS.toNanos(1));
                }
                send(near, NEAR, sent.subList(20, 40));
                captured.await(source, 40);
                assertNull(source.damage());
                return captured.packets();
            }
        });
        assertCaptured(sent, packets, kind);
    }

    @Test
    void shouldOpenAnInterfaceThatIsDownAndSayThatItIs() throws Exception {
        far.ip("link", "set", FAR, "down");
        try (LivePacketSource source = far.call(open(options(FAR, AFPACKET)))) {
            assertEquals(List.of(FAR + ": the interface is down: packets come when it is up"), source.notices());
            far.ip("link", "set", FAR, "up");
            send(near, NEAR, List.of(Frames.udp(1, 100)));
            new CapturedPackets().await(source, 1);
        }
        far.ip("link", "set", FAR, "down");
        assertRefused(Kind.NO_INPUT, "ip link set far0 up", far,
            open(options(FAR, AFPACKET).withFilterExpression("udp")));
        assertRefused(Kind.NO_INPUT, "the interface is down", far, open(options(FAR, PCAP)));
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
                send(near, NEAR, mixedFrames().subList(burst * burstLength, (burst + 1) * burstLength));
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
            send(near, "lo", List.of(Frames.udp(1, packetLengthBytes), Frames.udp(2, 100)));
            final List<Packet> packets = new CapturedPackets().await(source, 2).packets();
            assertEquals(packetLengthBytes + 14, packets.get(0).wireLengthBytes());
            assertTrue(packets.get(0).octets().length < SMALL_BLOCK_BYTES && packets.get(0).octets().length > 7_000);
            assertArrayEquals(Frames.udp(2, 100), packets.get(1).octets());
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldEndAfterStopThoughPacketsKeepComing(final LiveCaptureOptions.Kind kind) throws Exception {
        final AtomicBoolean isOver = new AtomicBoolean();
        final CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
            while (!isOver.get()) {
                sendUnchecked(mixedFrames().subList(0, FRAMES_PER_BURST));
            }
        });
        try (LivePacketSource source = far.call(open(options(FAR, kind)))) {
            final CountingHandler handler = new CountingHandler();
            handler.await(source, FRAMES_PER_BURST);
            source.stop();
            source.stop();
            final CapturedPackets captured = new CapturedPackets().awaitEnd(source);
            assertEquals(handler.count() + captured.packets().size(), source.capturedCount());
            assertNull(source.damage());
        } finally {
            isOver.set(true);
            sending.get();
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldBePromiscuousIfAskedAndWhileOpen(final LiveCaptureOptions.Kind kind) throws Exception {
        try (LivePacketSource source = far.call(open(options(FAR, kind)))) {
            assertEquals(FAR, source.name());
            assertTrue(far.ip("-d", "link", "show", FAR).contains("promiscuity 1 "));
        }
        try (LivePacketSource source = far.call(open(options(FAR, kind).withPromiscuous(false)))) {
            assertEquals(FAR, source.name());
            assertTrue(far.ip("-d", "link", "show", FAR).contains("promiscuity 0 "));
        }
    }

    /** Neither end of the wire has an address. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldKnowTheMtuAndFollowIt(final LiveCaptureOptions.Kind kind) throws Exception {
        far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(options(FAR, kind))) {
                assertEquals(MAX_PACKET_LENGTH_BYTES, source.mtuBytes());
                far.ip("link", "set", FAR, "mtu", "9000");
                pollFor(source, new CapturedPackets(), TimeUnit.MILLISECONDS.toNanos(150));
                assertEquals(9_000, source.mtuBytes());
            }
            return null;
        });
    }

    @Test
    void shouldTellWhetherPacketsAreThere() throws Exception {
        try (LivePacketSource source = far.call(open(options(FAR, AFPACKET)))) {
            assertFalse(source.awaitArrival(0));
            assertTrue(source.isDrained());
            send(near, NEAR, List.of(Frames.udp(1, 100)));
            Deadline.workUntil(Duration.ofSeconds(30), () -> !source.isDrained(), () -> "the block is not looked into");
            assertTrue(source.awaitArrival(10_000));
            assertFalse(source.isDrained());
            assertEquals(1, source.poll(new CountingHandler(), CapturedPackets.POLL_LIMIT));
            assertTrue(source.isDrained());
        }
    }

    /** Once the code is warm, for long enough that drops and interface were read too. */
    @ParameterizedTest
    @EnumSource(names = {"AFPACKET", "XDP"})
    void shouldAllocateNothingPerPacket(final LiveCaptureOptions.Kind kind) throws Exception {
        final ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        final CountingHandler handler = new CountingHandler();
        far.call(() -> {
            try (LivePacketSource source = LiveCapture.open(options(FAR, kind).withFilterExpression("udp"))) {
                long sinceNs = System.nanoTime();
                for (int round = 0; System.nanoTime() - sinceNs < TimeUnit.MILLISECONDS.toNanos(200); round++) {
                    assertTrue(round < 1_000, "it allocates again and again");
                    send(near, NEAR, mixedFrames().subList(0, FRAMES_PER_BURST));
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
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldNameUnknownInterfacesAndThoseThatAreThere(final LiveCaptureOptions.Kind kind) {
        assertRefused(Kind.NO_INPUT, "no such interface; there are lo, far0", far, open(options("nowhere0", kind)));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldSayWhatIsNeededWithoutPermission(final LiveCaptureOptions.Kind kind) {
        final CaptureException e = assertThrows(CaptureException.class,
            () -> far.callWithoutCapabilities(open(options(FAR, kind))));
        assertEquals(Kind.NO_PERMISSION, e.kind());
        assertTrue(e.getMessage().contains("CAP_NET_RAW") && e.getMessage().contains("sudo"), e.getMessage());
        assertFalse(e.getMessage().contains("\n"));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "AUTO")
    void shouldNameTheExpressionThatIsWrong(final LiveCaptureOptions.Kind kind) {
        assertRefused(Kind.BAD_FILTER, "filter 'udp prot 53': ", far,
            open(options(FAR, kind).withFilterExpression("udp prot 53")));
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = {"AUTO", "XDP"})
    void shouldFallBackToTheKernelsTimestampsWithANotice(final LiveCaptureOptions.Kind kind) throws Exception {
        final LiveCaptureOptions options = options(FAR, kind).withDirection(Direction.IN).withHardwareTimestamps(true);
        try (LivePacketSource source = far.call(open(options))) {
            assertEquals(1, source.notices().size());
            assertTrue(source.notices().get(0).startsWith(FAR + ": no hardware timestamps ("), source.notices().get(0));
            final long beforeNs = clockNs();
            send(near, NEAR, List.of(Frames.udp(1, 100)));
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
            send(near, NEAR, mixedFrames().subList(0, 30));
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

    @Test
    void shouldRefuseHardwareWhosePacketsCannotBeMetered() throws Exception {
        near.call(() -> {
            try (TunInterface tun = new TunInterface("tun0")) {
                tun.hardwareType(HARDWARE_RADIOTAP);
                final CaptureException e = assertThrows(CaptureException.class, open(options("tun0", AFPACKET))::call);
                assertEquals(Kind.UNAVAILABLE, e.kind());
                assertTrue(e.getMessage().contains("hardware type 803"), e.getMessage());
            }
            return null;
        });
    }

    @Test
    void shouldReadEmptyAfterClose() throws Exception {
        final LivePacketSource source = far.call(open(options(FAR, AFPACKET)));
        source.close();
        source.close();
        assertEquals(LivePacketSource.END_OF_SOURCE, source.poll(new CountingHandler(), 1));
        assertTrue(source.awaitArrival(0));
    }

    private static void assertRefused(
        final Kind kind, final String part, final NetworkNamespace where, final Callable<LivePacketSource> opening) {
        final CaptureException e = assertThrows(CaptureException.class, () -> where.call(opening));
        assertEquals(kind, e.kind(), e.getMessage());
        assertTrue(e.getMessage().contains(part), e.getMessage());
    }

    private static LiveCaptureOptions options(final String interfaceName, final LiveCaptureOptions.Kind kind) {
        return LiveCaptureOptions.of(interfaceName).withKind(kind).withRing(4 << 20, 0, 5);
    }

    private static Callable<LivePacketSource> open(final LiveCaptureOptions options) {
        return () -> LiveCapture.open(options);
    }

    /** Until a source that was opened before the one under test has seen them: it is the last to see a packet. */
    private void sendUntilSeen(final List<byte[]> frames, final LivePacketSource all) throws Exception {
        send(near, NEAR, frames);
        new CapturedPackets().await(all, frames.size());
    }

    /** Untagged, tagged once and tagged twice in turns, of all lengths. */
    private static List<byte[]> mixedFrames() {
        final List<byte[]> frames = new ArrayList<>();
        for (int i = 0; i < FRAME_COUNT; i++) {
            final int spread = MAX_PACKET_LENGTH_BYTES - Frames.MIN_PACKET_LENGTH_BYTES - 8;
            final int lengthBytes = Frames.MIN_PACKET_LENGTH_BYTES + i * 37 % spread;
            frames.add(i % 3 == 0 ? Frames.udp(i, lengthBytes) :
                i % 3 == 1 ? Frames.udp(i, lengthBytes, TPID_CUSTOMER, VLAN) :
                Frames.udp(i, lengthBytes, TPID_SERVICE, SERVICE_VLAN, TPID_CUSTOMER, CUSTOMER_VLAN));
        }
        return frames;
    }

    private static int vlanOf(final byte[] frame) {
        final int type = (frame[Frames.TAG_OFFSET] & 0xff) << 8 | frame[Frames.TAG_OFFSET + 1] & 0xff;
        return type != TPID_CUSTOMER && type != TPID_SERVICE ? -1 :
            (frame[Frames.TAG_OFFSET + 2] & 0xf) << 8 | frame[Frames.TAG_OFFSET + 3] & 0xff;
    }

    private static void send(final NetworkNamespace from, final String interfaceName, final List<byte[]> frames)
        throws Exception {
        from.call(() -> {
            try (RawSender sender = new RawSender(interfaceName)) {
                for (final byte[] frame : frames) {
                    sender.send(frame);
                }
            }
            return null;
        });
    }

    private void sendUnchecked(final List<byte[]> frames) {
        try {
            send(near, NEAR, frames);
        } catch (final Exception ex) {
            throw new IllegalStateException(ex);
        }
    }

    private static void pollFor(final LivePacketSource source, final PacketHandler handler, final long durationNs) {
        final long startNs = System.nanoTime();
        while (System.nanoTime() - startNs < durationNs) {
            assertNotEquals(LivePacketSource.END_OF_SOURCE, source.poll(handler, CapturedPackets.POLL_LIMIT));
            source.awaitArrival(1);
        }
    }

    /** Asserts that the captured octets equal the sent ones, in order, with the outer tag either in the frame or separate. */
    private static void assertCaptured(
        final List<byte[]> sent, final List<Packet> packets, final LiveCaptureOptions.Kind kind) {
        assertEquals(sent.size(), packets.size());
        for (int i = 0; i < sent.size(); i++) {
            final Packet packet = packets.get(i);
            assertArrayEquals(sent.get(i), Frames.withTag(packet.octets(), packet.vlanTag()), "frame " + i);
            assertEquals(sent.get(i).length, packet.wireLengthBytes(), "frame " + i);
            assertEquals(LinkType.ETHERNET, packet.linkType());
            if (kind == PCAP) {
                assertEquals(CapturedPacket.NO_VLAN_TAG, packet.vlanTag());
            }
        }
    }

    private static long clockNs() {
        final Instant now = Instant.now();
        return TimeUnit.SECONDS.toNanos(now.getEpochSecond()) + now.getNano();
    }
}
