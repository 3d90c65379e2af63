package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.capture.CaptureException.Kind;
import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LiveCaptureOptions;
import io.flowlag.exporter.capture.LiveCaptureOptions.Direction;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.bpf.BpfCall;
import io.flowlag.exporter.capture.bpf.EbpfAssembler;
import io.flowlag.exporter.capture.live.LiveCapture;
import io.flowlag.exporter.capture.posix.CLibrary;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.RawSender;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;

import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.AUTO;
import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.EBPF;
import static io.flowlag.exporter.capture.bpf.EbpfAssembler.*;
import static org.junit.jupiter.api.Assertions.*;

/** eBPF in this kernel, on wires between network namespaces on which only this test sends. {@link LiveCaptureTest} has it too. */
@Tag("topology")
class EbpfCaptureTest extends LiveWire {
    private static final Path UNPRIVILEGED = Path.of("/proc/sys/kernel/unprivileged_bpf_disabled");
    private static final int JUMBO_BYTES = 8_900;
    private static final int IP_FLAGS_OFFSET = 14 + 6;
    private static final int MORE_FRAGMENTS = 0x20;
    private static final int CAP_NET_RAW = 13;
    private static final int CAP_BPF = 39;

    @BeforeEach
    void widenWire() throws IOException {
        near.ip("link", "set", NEAR, "mtu", "9000");
        far.ip("link", "set", FAR, "mtu", "9000");
    }

    @Test
    void shouldShowValuesOfAMapInMemory() {
        final int mapFd = BpfCall.createMap(BpfCall.MAP_ARRAY, Integer.BYTES, 1024, BpfCall.MAP_FLAG_MMAPABLE);
        final long address = CLibrary.mmap(0, 8 * 1024, 3, 1, mapFd, 0);
        assertNotEquals(-1, address);
        try {
            BpfCall.update(mapFd, 1023, 0x01020304);
            assertEquals(0x01020304, new UnsafeBuffer(address, 8 * 1024).getInt(8 * 1023));
        } finally {
            CLibrary.munmap(address, 8 * 1024);
            CLibrary.close(mapFd);
        }
    }

    @Test
    void shouldSayWhatTheVerifierRefuses() {
        final CaptureException ex = assertThrows(CaptureException.class,
            () -> BpfCall.loadProgram(BpfCall.PROGRAM_SOCKET_FILTER, new EbpfAssembler().computeBy(MOV, R0, R5).exit()));
        assertEquals(Kind.UNAVAILABLE, ex.kind());
        assertEquals("eBPF program of 2 instructions: permission denied: R5 !read_ok", ex.getMessage());
    }

    /** Tags, fragments, jumbo frames, both ways: octets, lengths, tags, ways and times. */
    @Test
    void shouldShowWhatTheRingShows() throws Exception {
        final LiveCaptureOptions options = LiveCaptureOptions.of(NEAR).withDirection(Direction.EACH)
            .withFilterExpression("udp or vlan").withRing(8 << 20, 0, 1);
        try (LivePacketSource ring = near.call(() -> LiveCapture.open(options));
            LivePacketSource ebpf = near.call(() -> LiveCapture.open(options.withKind(EBPF)))) {
            RawSender.send(near, NEAR, frames(300));
            RawSender.send(far, FAR, frames(300));
            final Shown expected = new Shown();
            final Shown shown = new Shown();
            drain(ring, expected);
            drain(ebpf, shown);
            assertEquals(600, expected.lines.size());
            assertEquals(expected.lines, shown.lines);
            for (int i = 0; i < expected.timesNs.size(); i++) {
                final long lateNs = shown.timesNs.get(i) - expected.timesNs.get(i);
                assertTrue(lateNs > -1_000_000 && lateNs < 5_000_000_000L, "packet " + i + " is late by " + lateNs + " ns");
            }
        }
    }

    @Test
    void shouldGoRoundTheRingOfAReaderThatIsBehind() throws Exception {
        final LiveCaptureOptions options =
            LiveCaptureOptions.of(FAR).withKind(EBPF).withRing(128 << 10, 0, 1).withSnapLengthBytes(512);
        try (LivePacketSource source = far.call(() -> LiveCapture.open(options))) {
            final Shown shown = new Shown();
            final List<byte[]> sent = new ArrayList<>();
            for (int round = 0; round < 40; round++) {
                final List<byte[]> burst = new ArrayList<>();
                for (int i = 0; i < 20; i++) {
                    burst.add(Frames.udp(20 * round + i, 40 + 23 * round % 400));
                }
                RawSender.send(near, NEAR, burst);
                sent.addAll(burst);
                // Leaves packets of two rounds behind.
                final int wantedCount = Math.max(0, 20 * (round - 1));
                Deadline.await(Duration.ofSeconds(20), () -> {
                    source.poll(shown, wantedCount - shown.lines.size());
                    return shown.lines.size() == wantedCount;
                }, () -> shown.lines.size() + " packets of " + wantedCount);
            }
            drain(source, shown);
            assertEquals(0, source.kernelDropCount());
            assertEquals(sent.size(), shown.lines.size());
            for (int i = 0; i < sent.size(); i++) {
                assertTrue(shown.lines.get(i).endsWith(HexFormat.of().formatHex(sent.get(i))), "packet " + i);
            }
        }
    }

    @Test
    void shouldShareOutPacketsByFlow() throws Exception {
        final LiveCaptureOptions options = LiveCaptureOptions.of(FAR).withKind(EBPF).withRing(8 << 20, 0, 1);
        final List<? extends LivePacketSource> group = far.call(() -> LiveCapture.openGroup(options, 2));
        final Shown shown = new Shown();
        RawSender.send(near, NEAR, frames(200));
        group.forEach(LivePacketSource::stop);
        group.forEach((source) -> {
            drain(source, shown);
            source.close();
        });
        assertEquals(200, shown.lines.size());
    }

    @Test
    void shouldTakeTheRingWithANoticeWithoutTheRightToEbpf() throws Exception {
        Assumptions.assumeFalse(Files.readString(UNPRIVILEGED).startsWith("0"), "this kernel lets everybody load programs");
        final LiveCaptureOptions options = LiveCaptureOptions.of(FAR).withPromiscuous(false).withRing(4 << 20, 0, 5);
        try (LivePacketSource source = far.callWith(() -> LiveCapture.open(options.withKind(AUTO)), CAP_NET_RAW)) {
            assertEquals(1, source.notices().size());
            assertTrue(source.notices().get(0).matches(FAR + ": eBPF .* operation not permitted \\(it needs the capability " +
                "CAP_BPF\\): the source 'afpacket' does without, and is used"), source.notices().get(0));
            RawSender.send(near, NEAR, frames(10));
            assertEquals(10, new CapturedPackets().stopAndDrain(source).packets().size());
        }
        final CaptureException ex = assertThrows(CaptureException.class,
            () -> far.callWith(() -> LiveCapture.open(options.withKind(EBPF)), CAP_NET_RAW));
        assertEquals(Kind.NO_PERMISSION, ex.kind());
    }

    /** The rights are needed to open, and may be taken away then. */
    @Test
    void shouldNeedTwoCapabilitiesToOpenAndNoneAfterThat() throws Exception {
        final LiveCaptureOptions options = LiveCaptureOptions.of(FAR).withPromiscuous(false).withFilterExpression("udp or vlan");
        try (LivePacketSource source =
            far.callWith(() -> LiveCapture.open(options.withKind(AUTO)), CAP_NET_RAW, CAP_BPF)) {
            assertEquals(List.of(), source.notices());
            assertEquals(-1, source.descriptor(), "poll(2) on the socket would not end");
            RawSender.send(near, NEAR, frames(10));
            assertEquals(10, far.callWithoutCapabilities(
                () -> new CapturedPackets().await(source, 5).stopAndDrain(source).packets().size()));
        }
    }

    @Test
    void shouldTakeTheRingForTheCardsTimestamps() throws Exception {
        try (LivePacketSource source = far.call(() -> LiveCapture.open(LiveCaptureOptions.of(FAR).withKind(AUTO)
            .withDirection(Direction.IN).withHardwareTimestamps(true)))) {
            assertEquals(2, source.notices().size());
            assertTrue(source.notices().get(1).endsWith("the source 'afpacket' does without, and is used"));
        }
    }

    /** Plain, tagged once and twice, fragments, and one jumbo frame in ten. */
    private static List<byte[]> frames(final int count) {
        final List<byte[]> frames = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            final int lengthBytes = i % 10 == 9 ? JUMBO_BYTES : 40 + i * 37 % 1_300;
            final byte[] frame = i % 4 == 1 ? Frames.udp(i, lengthBytes, Frames.TPID_CUSTOMER, VLAN) :
                i % 4 == 2 ? Frames.udp(i, lengthBytes, Frames.TPID_SERVICE, 7, Frames.TPID_CUSTOMER, VLAN) :
                Frames.udp(i, lengthBytes);
            if (i % 4 == 3) {
                frame[IP_FLAGS_OFFSET] = MORE_FRAGMENTS;
            }
            frames.add(frame);
        }
        return frames;
    }

    private static void drain(final LivePacketSource source, final PacketHandler handler) {
        source.stop();
        while (source.poll(handler, CapturedPackets.POLL_LIMIT) != LivePacketSource.END_OF_SOURCE) {
            source.awaitArrival(1);
        }
    }

    /** Each packet as text, and its time. */
    private static final class Shown implements PacketHandler {
        private final List<String> lines = new ArrayList<>();
        private final List<Long> timesNs = new ArrayList<>();

        @Override
        public void onPacket(final CapturedPacket packet) {
            final byte[] octets = new byte[packet.capturedLengthBytes()];
            packet.buffer().getBytes(packet.offset(), octets);
            lines.add(packet.way() + " " + packet.wireLengthBytes() + " " + Integer.toHexString(packet.vlanTag()) + " " +
                HexFormat.of().formatHex(octets));
            timesNs.add(packet.timestampNs());
        }
    }
}
