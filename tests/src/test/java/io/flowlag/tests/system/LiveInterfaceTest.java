package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.TunInterface;
import io.flowlag.tests.system.CapturedPackets.Packet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.AFPACKET;
import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.PCAP;
import static org.junit.jupiter.api.Assertions.*;

/** The live sources as interfaces come, change and go, and what they refuse to open. */
@Tag("topology")
class LiveInterfaceTest extends LiveWire {
    private static final int HARDWARE_RADIOTAP = 803;

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
                assertEquals("interface " + FAR + " vanished", source.damage());
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
                RawSender.send(near, NEAR, sent.subList(0, 20));
                captured.await(source, 20);
                far.ip("link", "set", FAR, "down");
                pollFor(source, captured, TimeUnit.MILLISECONDS.toNanos(150));
                far.ip("link", "set", FAR, "up");
                for (int i = 0; i < 1_000 && !near.ip("link", "show", NEAR).contains("state UP"); i++) {
                    pollFor(source, captured, TimeUnit.MILLISECONDS.toNanos(1));
                }
                RawSender.send(near, NEAR, sent.subList(20, 40));
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
            RawSender.send(near, NEAR, List.of(Frames.udp(1, 100)));
            new CapturedPackets().await(source, 1);
        }
        far.ip("link", "set", FAR, "down");
        assertRefused(Kind.NO_INPUT, "ip link set far0 up", far,
            open(options(FAR, AFPACKET).withFilterExpression("udp")));
        assertRefused(Kind.NO_INPUT, "the interface is down", far, open(options(FAR, PCAP)));
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

    private void sendUnchecked(final List<byte[]> frames) {
        try {
            RawSender.send(near, NEAR, frames);
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
}
