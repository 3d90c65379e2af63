package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.live.LiveCapture;
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
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Several sources of one interface, between which the kernel shares packets out, on a wire on which only this test sends. */
@Tag("topology")
class LiveShardsTest {
    private static final String NEAR = "near0";
    private static final String FAR = "far0";
    private static final int SHARD_COUNT = 3;
    private static final int FLOW_COUNT = 120;
    private static final int PACKETS_PER_FLOW = 5;
    private static final int PACKET_LENGTH_BYTES = 100;
    private static final int TYPE_OFFSET = 12;
    private static final int IP_HEADER_LENGTH_BYTES = 20;
    private static final int MORE_FRAGMENTS = 0x2000;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(30);

    private NetworkNamespace near;
    private NetworkNamespace far;

    @BeforeEach
    void layWire() throws IOException {
        NetworkNamespace.assumeAvailable();
        near = NetworkNamespace.create("shnear");
        far = NetworkNamespace.create("shfar");
        near.connect(NEAR, far, FAR);
    }

    @AfterEach
    void removeWire() throws IOException {
        CloseHelper.quietCloseAll(near, far);
    }

    private static LiveCaptureOptions options() {
        return LiveCaptureOptions.of(FAR).withRing(4 << 20, 0, 5);
    }

    private List<? extends LivePacketSource> open(final LiveCaptureOptions options) throws Exception {
        return far.call(() -> LiveCapture.openGroup(options, SHARD_COUNT));
    }

    /** UDP of many ports, tagged and untagged packets of a flow alike. */
    private static List<byte[]> frames() {
        final List<byte[]> frames = new ArrayList<>();
        for (int i = 0; i < FLOW_COUNT * PACKETS_PER_FLOW; i++) {
            final boolean isTagged = i / FLOW_COUNT % 2 == 1;
            final byte[] frame = isTagged ?
                Frames.udp(i, PACKET_LENGTH_BYTES, Frames.TPID_CUSTOMER, 42) : Frames.udp(i, PACKET_LENGTH_BYTES);
            ByteBuffer.wrap(frame).putShort(frame.length - PACKET_LENGTH_BYTES + IP_HEADER_LENGTH_BYTES, port(i % FLOW_COUNT));
            frames.add(frame);
        }
        return frames;
    }

    private static short port(final int flow) {
        return (short)(10_000 + 7 * flow);
    }

    /** The kernel takes the tag of a packet that arrives out. */
    private static int portOf(final Packet packet) {
        return ByteBuffer.wrap(packet.octets()).getShort(TYPE_OFFSET + Short.BYTES + IP_HEADER_LENGTH_BYTES) & 0xFFFF;
    }

    private void send(final List<byte[]> frames) throws Exception {
        RawSender.send(near, NEAR, frames);
    }

    private void sendUnchecked(final List<byte[]> frames) {
        try {
            send(frames);
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
    }

    /** Stops all, then takes what each has; the flows of one are those of no other. */
    private static List<List<Packet>> drain(final List<? extends LivePacketSource> sources) {
        sources.forEach(LivePacketSource::stop);
        final List<List<Packet>> packets = new ArrayList<>();
        for (final LivePacketSource source : sources) {
            packets.add(new CapturedPackets().awaitEnd(source).packets());
            assertEquals(0, source.kernelDropCount());
            assertNull(source.damage());
        }
        return packets;
    }

    /** A source ends only when none takes packets in, so all are polled in turn. */
    private static void awaitEnd(final List<? extends LivePacketSource> sources, final List<CapturedPackets> shards) {
        final long startNs = System.nanoTime();
        final boolean[] isEnded = new boolean[sources.size()];
        for (int endedCount = 0; endedCount < isEnded.length;) {
            assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "every source ends");
            for (int i = 0; i < isEnded.length; i++) {
                if (!isEnded[i]) {
                    isEnded[i] = sources.get(i).poll(shards.get(i), CapturedPackets.POLL_LIMIT) == LivePacketSource.END_OF_SOURCE;
                    endedCount += isEnded[i] ? 1 : 0;
                }
            }
        }
    }

    private static void assertFlowsApart(final List<List<Packet>> shards) {
        final Set<Integer> flows = new HashSet<>();
        int flowCount = 0;
        for (final List<Packet> shard : shards) {
            final Set<Integer> own = new HashSet<>();
            shard.forEach((packet) -> own.add(portOf(packet)));
            flowCount += own.size();
            flows.addAll(own);
        }
        assertEquals(FLOW_COUNT, flows.size());
        assertEquals(FLOW_COUNT, flowCount, "no flow is in two shards");
    }

    @Test
    void shouldHandEachPacketToOneSourceAndEachFlowToTheSame() throws Exception {
        final List<? extends LivePacketSource> sources = open(options());
        try {
            send(frames());
            final List<List<Packet>> shards = drain(sources);

            assertEquals(FLOW_COUNT * PACKETS_PER_FLOW, shards.stream().mapToInt(List::size).sum());
            assertFlowsApart(shards);
            shards.forEach((shard) -> assertFalse(shard.isEmpty(), "120 flows leave no shard of three without any"));
        } finally {
            CloseHelper.closeAll(sources);
        }
    }

    @Test
    void shouldShareNothingWithAnotherGroupOnTheInterface() throws Exception {
        final List<? extends LivePacketSource> first = open(options());
        final List<? extends LivePacketSource> second = open(options().withFilterExpression("vlan 42"));
        try {
            send(frames());
            assertFlowsApart(drain(first));
            final List<List<Packet>> tagged = drain(second);
            assertFlowsApart(tagged);
            assertEquals(FLOW_COUNT * (PACKETS_PER_FLOW / 2), tagged.stream().mapToInt(List::size).sum());
        } finally {
            CloseHelper.closeAll(first);
            CloseHelper.closeAll(second);
        }
    }

    /** Later fragments have no ports, so the kernel leaves the ports of all of them out. */
    @Test
    void shouldHandFragmentsOfADatagramToOneSource() throws Exception {
        final List<byte[]> fragments = new ArrayList<>();
        for (int datagram = 0; datagram < FLOW_COUNT; datagram++) {
            for (int part = 0; part < 2; part++) {
                final ByteBuffer frame = ByteBuffer.wrap(Frames.udp(datagram, PACKET_LENGTH_BYTES));
                frame.putShort(18, (short)datagram).putShort(20, (short)(part == 0 ? MORE_FRAGMENTS : 10));
                frame.putShort(34, port(datagram)).putInt(26, 0x0A000100 + datagram).putShort(24, (short)0);
                fragments.add(frame.array());
            }
        }
        final List<? extends LivePacketSource> sources = open(options());
        try {
            send(fragments);
            int datagramCount = 0;
            for (final List<Packet> shard : drain(sources)) {
                final Set<Integer> datagrams = new HashSet<>();
                shard.forEach((packet) -> datagrams.add((int)ByteBuffer.wrap(packet.octets()).getShort(18)));
                assertEquals(2 * datagrams.size(), shard.size());
                datagramCount += datagrams.size();
            }
            assertEquals(FLOW_COUNT, datagramCount);
        } finally {
            CloseHelper.closeAll(sources);
        }
    }

    /** A closed source leaves its flows to the others: it waits until none takes packets in. */
    @Test
    void shouldKeepFlowsApartToTheEndThoughPacketsKeepComing() throws Exception {
        final AtomicBoolean isOver = new AtomicBoolean();
        final List<? extends LivePacketSource> sources = open(options());
        final CompletableFuture<Void> sending = CompletableFuture.runAsync(() -> {
            while (!isOver.get()) {
                sendUnchecked(frames());
            }
        });
        try {
            final List<CapturedPackets> shards = sources.stream().map((source) -> new CapturedPackets()).toList();
            final long startNs = System.nanoTime();
            while (shards.stream().mapToInt((shard) -> shard.packets().size()).sum() < 10 * FLOW_COUNT) {
                assertTrue(System.nanoTime() - startNs < DEADLINE_NS, "packets come");
                for (int i = 0; i < SHARD_COUNT; i++) {
                    sources.get(i).poll(shards.get(i), CapturedPackets.POLL_LIMIT);
                }
            }
            sources.get(0).stop();
            for (int i = 0; i < 20 * FLOW_COUNT; i++) {
                assertTrue(sources.get(0).poll(shards.get(0), CapturedPackets.POLL_LIMIT) >= 0, "the others still receive");
                sources.get(1).poll(shards.get(1), CapturedPackets.POLL_LIMIT);
            }
            sources.get(1).stop();
            sources.get(2).stop();
            awaitEnd(sources, shards);
            assertFlowsApart(shards.stream().map(CapturedPackets::packets).toList());
        } finally {
            isOver.set(true);
            sending.get();
            CloseHelper.closeAll(sources);
        }
    }

    @Test
    void shouldEndEverySourceWhenTheInterfaceVanishes() throws Exception {
        final List<? extends LivePacketSource> sources = open(options());
        try {
            send(frames());
            far.ip("link", "del", FAR);
            final List<CapturedPackets> shards = sources.stream().map((source) -> new CapturedPackets()).toList();
            awaitEnd(sources, shards);
            sources.forEach((source) -> assertEquals("interface " + FAR + " vanished", source.damage()));
            assertEquals(FLOW_COUNT * PACKETS_PER_FLOW, shards.stream().mapToInt((shard) -> shard.packets().size()).sum());
        } finally {
            CloseHelper.closeAll(sources);
        }
    }

    /** Linux before 6.13 shares out the packets of interfaces that are up alone. */
    @Test
    void shouldSayThatTheInterfaceIsDownOrWaitForIt() throws Exception {
        far.ip("link", "set", FAR, "down");
        final List<? extends LivePacketSource> sources;
        try {
            sources = open(options());
        } catch (final CaptureException ex) {
            assertEquals(CaptureException.Kind.UNAVAILABLE, ex.kind());
            assertEquals(FAR + ": the interface is down, and the kernel shares out packets of one that is up: bring it up " +
                "first, or set threading to pipelined or shared", ex.getMessage());
            return;
        }
        try {
            far.ip("link", "set", FAR, "up");
            send(frames());
            assertFlowsApart(drain(sources));
        } finally {
            CloseHelper.closeAll(sources);
        }
    }
}
