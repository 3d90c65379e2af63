package io.flowlag.exporter.runtime.selftest;

import io.flowlag.exporter.capture.CapturedPacket;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.PacketSource;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;

/**
 * Makes two measurement points of one input: the unchanged packets, and a copy with a known delay and a known loss. The delay
 * swings between 2 and 3 ms, five times a second in packet time; one packet in a hundred is lost.
 * <p>
 * Both sources are used by one thread. Allocates at construction.
 */
final class SelfTestInput {
    static final long LEAST_DELAY_NS = 2_000_000;
    static final long SWING_NS = 1_000_000;
    private static final long PERIOD_NS = 200_000_000;
    private static final int LOSS_ONE_IN = 100;

    private static final int COPIES = 64 * 1024;
    private static final int COPY_BYTES = 256;

    private final PacketSource input;
    private final UnsafeBuffer octets = new UnsafeBuffer(new byte[COPIES * COPY_BYTES]);
    private final CapturedPacket[] copies = new CapturedPacket[COPIES];
    private long head;
    private long tail;
    private boolean isEnded;
    private long packetCount;
    private long lostCount;
    private long delaySumNs;

    /** Two points of an input, which the sender source owns from now on. */
    SelfTestInput(final PacketSource input) {
        this.input = input;
        Arrays.setAll(copies, index -> new CapturedPacket(octets, 0, 0));
    }

    /** {@return the unchanged packets; to be polled before the receiver} */
    PacketSource sender() {
        return new Sender();
    }

    /** {@return the later copy} */
    PacketSource receiver() {
        return new Receiver();
    }

    /** {@return packets at the sender point} */
    long packetCount() {
        return packetCount;
    }

    /** {@return packets left out of the copy} */
    long lostCount() {
        return lostCount;
    }

    /** {@return the mean delay of the packets in the copy, ns; 0 if there are none} */
    double meanDelayNs() {
        final long copied = packetCount - lostCount;
        return copied == 0 ? 0 : (double)delaySumNs / copied;
    }

    /** The delay at a time: a triangle wave. */
    static long delayNs(final long timestampNs) {
        final long phaseNs = Math.floorMod(timestampNs, PERIOD_NS);
        final long distanceNs = Math.min(phaseNs, PERIOD_NS - phaseNs);
        return LEAST_DELAY_NS + 2 * SWING_NS * distanceNs / PERIOD_NS;
    }

    private void copy(final CapturedPacket packet) {
        packetCount++;
        if (packetCount % LOSS_ONE_IN == 0 || tail - head == COPIES) {
            lostCount++;
            return;
        }
        final int index = (int)(tail++ % COPIES);
        final long delayNs = delayNs(packet.timestampNs());
        octets.putBytes(index * COPY_BYTES, packet.buffer(), packet.offset(), packet.capturedLengthBytes());
        copies[index].copy(packet, index * COPY_BYTES);
        copies[index].timestampNs(packet.timestampNs() + delayNs);
        delaySumNs += delayNs;
    }

    /** The unchanged packets. */
    private final class Sender implements PacketSource, PacketHandler {
        private PacketHandler handler;

        @Override
        public int poll(final PacketHandler packetHandler, final int packetLimit) {
            handler = packetHandler;
            final int polled = input.poll(this, packetLimit);
            isEnded = polled == END_OF_SOURCE;
            return polled;
        }

        @Override
        public void onPacket(final CapturedPacket packet) {
            packet.cut(COPY_BYTES);
            copy(packet);
            handler.onPacket(packet);
        }

        @Override
        public String name() {
            return input.name();
        }

        @Override
        public long capturedCount() {
            return input.capturedCount();
        }

        @Override
        public long filteredCount() {
            return input.filteredCount();
        }

        @Override
        public long kernelDropCount() {
            return input.kernelDropCount();
        }

        @Override
        public void updateKernelDropCount() {
            input.updateKernelDropCount();
        }

        @Override
        public long timestampClampedCount() {
            return input.timestampClampedCount();
        }

        @Override
        public long kernelStampedCount() {
            return input.kernelStampedCount();
        }

        @Override
        public long consumedBytes() {
            return input.consumedBytes();
        }

        @Override
        public long totalBytes() {
            return input.totalBytes();
        }

        @Override
        public String damage() {
            return input.damage();
        }

        @Override
        public void close() {
            isEnded = true;
            input.close();
        }
    }

    /** The later copy. */
    private final class Receiver implements PacketSource {
        @Override
        public int poll(final PacketHandler handler, final int packetLimit) {
            int count = 0;
            for (; count < packetLimit && head < tail; count++) {
                handler.onPacket(copies[(int)(head++ % COPIES)]);
            }
            return count == 0 && isEnded ? END_OF_SOURCE : count;
        }

        @Override
        public String name() {
            return "copy of " + input.name();
        }

        @Override
        public long capturedCount() {
            return head;
        }

        @Override
        public long totalBytes() {
            return 0;
        }

        @Override
        public void close() {
            head = tail;
        }
    }
}
