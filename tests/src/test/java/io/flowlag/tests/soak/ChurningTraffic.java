package io.flowlag.tests.soak;

import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.RawSender;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Frames at a rate, of flows that come and go; one thread of its own in a namespace. What the machine cannot send in time is left
 * out.
 */
final class ChurningTraffic implements AutoCloseable {
    private static final int ETHERNET_BYTES = 14;
    private static final int SOURCE_OFFSET = ETHERNET_BYTES + 12;
    private static final int PORT_OFFSET = ETHERNET_BYTES + 20;
    private static final int[] PACKET_BYTES = {60, 576, 1400};
    private static final int PACKETS_OF_A_FLOW = 40;
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_BEHIND_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private final long packetsPerSecond;
    private final int[] flows;
    private final Thread thread;
    private volatile boolean isStopped;
    private volatile long sent;
    private volatile Throwable failure;

    /**
     * Traffic that is sent at once.
     *
     * @param from             the namespace.
     * @param interfaceName    in it.
     * @param packetsPerSecond at the most.
     * @param flowCount        that live at once.
     */
    ChurningTraffic(final NetworkNamespace from, final String interfaceName, final long packetsPerSecond, final int flowCount) {
        this.packetsPerSecond = packetsPerSecond;
        flows = new int[flowCount];
        thread = new Thread(() -> {
            try {
                from.call(() -> {
                    send(interfaceName);
                    return null;
                });
            } catch (final Throwable ex) {
                failure = ex;
            }
        }, "churning traffic");
        thread.setDaemon(true);
        thread.start();
    }

    private void send(final String interfaceName) throws Exception {
        final SplittableRandom random = new SplittableRandom(1);
        final ByteBuffer[] frames = new ByteBuffer[PACKET_BYTES.length];
        for (int i = 0; i < frames.length; i++) {
            frames[i] = ByteBuffer.wrap(Frames.udp(i, PACKET_BYTES[i]));
        }
        int next = 0;
        for (int i = 0; i < flows.length; i++) {
            flows[i] = next++;
        }
        try (RawSender sender = new RawSender(interfaceName)) {
            long dueNs = System.nanoTime();
            while (!isStopped) {
                for (long i = packetsPerSecond * TICK_NS / TimeUnit.SECONDS.toNanos(1); i > 0; i--) {
                    final int index = random.nextInt(flows.length);
                    if (random.nextInt(PACKETS_OF_A_FLOW) == 0) {
                        flows[index] = next++;
                    }
                    final ByteBuffer frame = frames[random.nextInt(frames.length)];
                    frame.putInt(SOURCE_OFFSET, 0x0A00_0000 | flows[index] >>> 15 & 0xFF_FFFF);
                    frame.putShort(PORT_OFFSET, (short)(0x8000 | flows[index] & 0x7FFF));
                    sender.send(frame.array());
                    sent++;
                }
                dueNs = Math.max(dueNs + TICK_NS, System.nanoTime() - MOST_BEHIND_NS);
                while (!isStopped && System.nanoTime() - dueNs < 0) {
                    LockSupport.parkNanos(TICK_NS / 4);
                }
            }
        }
    }

    /** {@return frames sent so far} */
    long sent() {
        return sent;
    }

    @Override
    public void close() {
        stop();
    }

    /** Sends no more; returns how many frames were sent. */
    long stop() {
        isStopped = true;
        try {
            thread.join();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw new AssertionError("the traffic failed", failure);
        }
        return sent;
    }
}
