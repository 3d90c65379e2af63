package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Keeps everything that a source hands over. */
final class CapturedPackets implements PacketHandler {
    static final int POLL_LIMIT = 64;
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);
    private static final int WAIT_MS = 20;

    /** One packet. */
    record Packet(byte[] octets, int wireLengthBytes, long timestampNs, int linkType, int interfaceId, int vlanTag) {
    }

    private final List<Packet> packets = new ArrayList<>();
    private int failingCount;

    @Override
    public void onPacket(final CapturedPacket packet) {
        final byte[] octets = new byte[packet.capturedLengthBytes()];
        packet.buffer().getBytes(packet.offset(), octets);
        packets.add(new Packet(
            octets, packet.wireLengthBytes(), packet.timestampNs(), packet.linkType(), packet.interfaceId(), packet.vlanTag()));
        if (packets.size() == failingCount) {
            throw new ArithmeticException("of the test");
        }
    }

    /** Throws once it has so many packets. */
    CapturedPackets failAt(final int count) {
        failingCount = count;
        return this;
    }

    List<Packet> packets() {
        return packets;
    }

    /** Polls until so many packets were taken in all. */
    CapturedPackets await(final LivePacketSource source, final int count) {
        final long startNs = System.nanoTime();
        while (packets.size() < count) {
            if (source.poll(this, POLL_LIMIT) == 0) {
                source.awaitArrival(WAIT_MS);
            }
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                throw new AssertionError(packets.size() + " packets of " + count + " came; " + source.damage());
            }
        }
        return this;
    }

    /** Polls until the source ends. */
    CapturedPackets awaitEnd(final LivePacketSource source) {
        final long startNs = System.nanoTime();
        int taken = source.poll(this, POLL_LIMIT);
        while (taken != PacketSource.END_OF_SOURCE) {
            if (taken == 0) {
                source.awaitArrival(WAIT_MS);
            }
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                throw new AssertionError("the source did not end");
            }
            taken = source.poll(this, POLL_LIMIT);
        }
        return this;
    }

    /** Takes no more in, and polls what is there. */
    CapturedPackets stopAndDrain(final LivePacketSource source) {
        source.stop();
        return awaitEnd(source);
    }
}
