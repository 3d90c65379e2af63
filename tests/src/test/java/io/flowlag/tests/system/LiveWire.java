package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LinkType;
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

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

import static io.flowlag.exporter.capture.LiveCaptureOptions.Kind.PCAP;
import static io.flowlag.tests.support.Frames.TPID_CUSTOMER;
import static io.flowlag.tests.support.Frames.TPID_SERVICE;
import static org.junit.jupiter.api.Assertions.*;

/** A wire between two network namespaces on which only the test sends, and what goes over it. */
abstract class LiveWire {
    static final String NEAR = "near0";
    static final String FAR = "far0";
    static final int FRAME_COUNT = 1_200;
    static final int MAX_PACKET_LENGTH_BYTES = 1_500;
    static final int VLAN = 42;
    static final int SERVICE_VLAN = 100;
    static final int CUSTOMER_VLAN = 200;
    static final int FRAMES_PER_BURST = 200;

    NetworkNamespace near;
    NetworkNamespace far;

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

    static LiveCaptureOptions options(final String interfaceName, final LiveCaptureOptions.Kind kind) {
        return LiveCaptureOptions.of(interfaceName).withKind(kind).withRing(4 << 20, 0, 5);
    }

    static Callable<LivePacketSource> open(final LiveCaptureOptions options) {
        return () -> LiveCapture.open(options);
    }

    /** Until a source that was opened before the one under test has seen them: it is the last to see a packet. */
    final void sendUntilSeen(final List<byte[]> frames, final LivePacketSource all) throws Exception {
        RawSender.send(near, NEAR, frames);
        new CapturedPackets().await(all, frames.size());
    }

    /** Untagged, tagged once and tagged twice in turns, of all lengths. */
    static List<byte[]> mixedFrames() {
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

    static int vlanOf(final byte[] frame) {
        final int type = (frame[Frames.TAG_OFFSET] & 0xff) << 8 | frame[Frames.TAG_OFFSET + 1] & 0xff;
        return type != TPID_CUSTOMER && type != TPID_SERVICE ? -1 :
            (frame[Frames.TAG_OFFSET + 2] & 0xf) << 8 | frame[Frames.TAG_OFFSET + 3] & 0xff;
    }

    /** Asserts that the captured octets equal the sent ones, in order, with the outer tag either in the frame or separate. */
    static void assertCaptured(
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
}
