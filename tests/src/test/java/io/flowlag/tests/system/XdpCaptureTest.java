package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.capture.posix.NetworkInterfaces;
import io.flowlag.exporter.capture.route.InterfaceUse;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.system.CapturedPackets.Packet;
import org.agrona.CloseHelper;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;

import static org.junit.jupiter.api.Assertions.*;

/** AF_XDP where it differs from the other sources, between network namespaces; {@link LiveCaptureTest} has what they share. */
@Tag("topology")
class XdpCaptureTest {
    private static final String NEAR = "near0";
    private static final String FAR = "far0";

    private NetworkNamespace near;
    private NetworkNamespace far;

    @BeforeEach
    void layWireWithTwoQueues() throws IOException {
        NetworkNamespace.assumeAvailable();
        near = NetworkNamespace.create("near");
        far = NetworkNamespace.create("far");
        near.ip("link", "add", NEAR, "numtxqueues", "2", "numrxqueues", "2", "type", "veth",
            "peer", "name", FAR, "numtxqueues", "2", "numrxqueues", "2", "netns", far.name());
        // In this order: an end whose carrier comes later drops what it sends for a while.
        far.ip("link", "set", FAR, "up");
        near.ip("link", "set", NEAR, "up");
    }

    @AfterEach
    void removeWire() {
        CloseHelper.closeAll(near, far);
    }

    @Test
    void shouldMergeThePacketsOfAllQueuesAndLetGoOfTheInterface() throws Exception {
        final List<byte[]> sent = frames(200);
        try (LivePacketSource source = open(options())) {
            assertTrue(far.ip("-d", "link", "show", FAR).contains(" xdp "));
            assertTrue(source.notices().toString().contains("no zero copy here"), () -> source.notices().toString());
            send(sent.subList(0, 50));
            useSecondQueue();
            send(sent.subList(50, 200));
            final List<Packet> packets = new CapturedPackets().await(source, sent.size()).packets();
            assertArrayEquals(sent.toArray(), packets.stream().map(Packet::octets).toArray());
            assertEquals(0, source.kernelDropCount());
        }
        assertFalse(far.ip("-d", "link", "show", FAR).contains(" xdp "));
    }

    @Test
    void shouldCountPacketsThatFindNoFrame() throws Exception {
        final CapturedPackets captured = new CapturedPackets();
        try (LivePacketSource source = open(options().withRing(LiveCaptureOptions.MIN_RING_BYTES, 0, 5))) {
            send(frames(200));
            Deadline.await(Duration.ofSeconds(20), () -> {
                source.updateKernelDropCount();
                source.poll(captured, CapturedPackets.POLL_LIMIT);
                return source.capturedCount() + source.kernelDropCount() >= 200;
            }, () -> source.capturedCount() + " captured, " + source.kernelDropCount() + " lost: " + counters());
            assertEquals(200, source.capturedCount() + source.kernelDropCount());
            assertTrue(source.kernelDropCount() > 0 && source.capturedCount() > 0);
        }
    }

    private String counters() {
        try {
            return far.exec("ethtool", "-S", FAR) + near.ip("-s", "link", "show", NEAR);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** From now on all processors send by the second queue, and so packets arrive at the second. */
    private void useSecondQueue() throws IOException {
        near.exec("sh", "-ec", "printf %x $(((1 << $(nproc)) - 1)) > /sys/class/net/" + NEAR + "/queues/tx-1/xps_cpus");
    }

    @Test
    void shouldKnowTheLengthOfPacketsLongerThanAFrame() throws Exception {
        near.ip("link", "set", NEAR, "mtu", "9000");
        far.ip("link", "set", FAR, "mtu", "9000");
        final List<byte[]> sent = new ArrayList<>();
        for (int i = 0; i < 60; i++) {
            sent.add(Frames.udp(i, 32 + i * 152));
        }
        final List<Packet> packets;
        try (LivePacketSource source = open(options())) {
            send(sent);
            packets = new CapturedPackets().await(source, sent.size()).packets();
            assertEquals(0, source.kernelDropCount());
        }
        assertEquals(sent.size(), packets.size());
        for (int i = 0; i < sent.size(); i++) {
            assertEquals(sent.get(i).length, packets.get(i).wireLengthBytes());
            final byte[] octets = packets.get(i).octets();
            assertTrue(octets.length == sent.get(i).length || octets.length > 3_800, "frame " + i + ": " + octets.length);
            assertArrayEquals(Arrays.copyOf(sent.get(i), octets.length), octets);
        }
    }

    /** The bridge's own interface has no driver that knows XDP. */
    @Test
    void shouldUseTheGenericCodeWhereTheDriverHasNone() throws Exception {
        far.ip("link", "add", "br0", "type", "bridge");
        far.ip("link", "set", FAR, "master", "br0");
        far.ip("link", "set", "br0", "up");
        final List<byte[]> sent = frames(50);
        try (LivePacketSource source = far.call(() -> LiveCapture.open(
            LiveCaptureOptions.of("br0").withKind(LiveCaptureOptions.Kind.XDP).withRing(1 << 20, 0, 5)))) {
            assertTrue(source.notices().toString().contains("by generic XDP"), () -> source.notices().toString());
            send(sent);
            assertArrayEquals(sent.toArray(),
                new CapturedPackets().await(source, sent.size()).packets().stream().map(Packet::octets).toArray());
        }
    }

    @Test
    void shouldRefuseWhatItCannotSee() {
        assertRefused("arriving packets only", options().withDirection(Direction.OUT));
        assertRefused("for Ethernet", LiveCaptureOptions.of("lo").withKind(LiveCaptureOptions.Kind.XDP));
    }

    private void assertRefused(final String part, final LiveCaptureOptions options) {
        final CaptureException ex = assertThrows(CaptureException.class, () -> open(options));
        assertEquals(Kind.UNAVAILABLE, ex.kind());
        assertTrue(ex.getMessage().contains(part) && ex.getMessage().contains("'afpacket'"), ex.getMessage());
    }

    @Test
    void shouldTellWhetherTheHostUsesAnInterface() throws Exception {
        assertEquals("", use());
        far.exec("sh", "-ec", "echo 0 > /proc/sys/net/ipv6/conf/" + FAR + "/disable_ipv6");
        far.ip("address", "add", "fe80::1/64", "dev", FAR, "nodad");
        assertEquals("", use());
        far.addAddress(FAR, "2001:db8::1/64");
        assertEquals("an address", use());
        far.ip("address", "flush", "dev", FAR);
        far.addAddress(FAR, "192.0.2.1/32");
        assertEquals("an address", use());
        far.ip("address", "flush", "dev", FAR);
        far.ip("route", "add", "198.51.100.0/24", "nexthop", "dev", "lo", "nexthop", "dev", FAR);
        assertEquals("a route", use());
        far.ip("route", "flush", "198.51.100.0/24");
        far.ip("link", "add", "link", FAR, "name", "above", "type", "macvlan");
        assertEquals("an interface above it", use());
        far.ip("link", "del", "above");
        far.ip("link", "add", "br0", "type", "bridge");
        far.ip("link", "set", FAR, "master", "br0");
        assertEquals("a bridge or bond", use());
        far.ip("link", "set", FAR, "nomaster");
        assertEquals("", use());
    }

    /** Both ends of a wire in one namespace point at each other. */
    @Test
    void shouldNotTakeTheOtherEndOfAWireForAUse() throws Exception {
        far.ip("link", "add", "one", "type", "veth", "peer", "name", "two");
        assertEquals("", far.call(() -> InterfaceUse.of(NetworkInterfaces.indexOf("one"))));
    }

    @Test
    void shouldRefuseToTakeAUsedInterfaceFromTheHost() throws Exception {
        far.addAddress(FAR, "192.0.2.1/24");
        final Command.Result refused = new Flowlag().under("ip", "netns", "exec", far.name())
            .command("run", "-i", FAR, "--source", "xdp").run();
        assertEquals(78, refused.exitCode(), refused::toString);
        assertTrue(refused.errors().contains("which uses " + FAR + ": it has an address: set capture.source to afpacket, or " +
            "capture.in-use to allow"), refused::toString);
    }

    private String use() throws Exception {
        return far.call(() -> InterfaceUse.of(NetworkInterfaces.indexOf(FAR)));
    }

    private static LiveCaptureOptions options() {
        return LiveCaptureOptions.of(FAR).withKind(LiveCaptureOptions.Kind.XDP).withRing(4 << 20, 0, 5);
    }

    private LivePacketSource open(final LiveCaptureOptions options) throws Exception {
        return far.call(() -> LiveCapture.open(options));
    }

    private static List<byte[]> frames(final int count) {
        return IntStream.range(0, count).mapToObj((i) -> Frames.udp(i, 60)).toList();
    }

    private void send(final List<byte[]> frames) throws Exception {
        RawSender.send(near, NEAR, frames);
    }
}
