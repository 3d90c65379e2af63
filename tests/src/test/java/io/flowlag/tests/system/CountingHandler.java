package io.flowlag.tests.system;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.LivePacketSource;
import io.flowlag.exporter.capture.PacketHandler;

import java.util.concurrent.TimeUnit;

/** Counts packets, touches their octets, allocates nothing. */
final class CountingHandler implements PacketHandler {
    private static final long DEADLINE_NS = TimeUnit.SECONDS.toNanos(20);

    private int count;
    private long sum;

    @Override
    public void onPacket(final CapturedPacket packet) {
        count++;
        sum += packet.buffer().getByte(packet.offset() + packet.capturedLengthBytes() - 1) + packet.timestampNs();
    }

    int count() {
        return count;
    }

    long sum() {
        return sum;
    }

    /** Polls until so many packets were taken in all. */
    void await(final LivePacketSource source, final int wantedCount) {
        final long startNs = System.nanoTime();
        while (count < wantedCount) {
            if (source.poll(this, CapturedPackets.POLL_LIMIT) == 0) {
                source.awaitArrival(1);
            }
            if (System.nanoTime() - startNs > DEADLINE_NS) {
                throw new AssertionError(count + " packets of " + wantedCount + " came");
            }
        }
    }
}
