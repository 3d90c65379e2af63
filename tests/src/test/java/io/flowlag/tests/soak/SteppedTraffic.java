package io.flowlag.tests.soak;

import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Frames;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.RouterTopology;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;

/**
 * UDP packets through the queue of a router, at a load that can change. Each has the number of its flow in its ports, and one of
 * its own in its payload. Rates change every 100 ms around nine tenths of the queue's, so that delays change; a queue of 120 ms
 * stops the sender. Lost packets have a TTL that ends at the router. What the machine cannot send in time is left out.
 */
final class SteppedTraffic implements AutoCloseable {
    /** Offset in a frame of the packet's number, and of the flow's, which is both ports. */
    static final int NUMBER_OFFSET = 42;
    static final int FLOW_OFFSET = 34;
    /** Number of the first flow, as ports. */
    static final int FIRST_FLOW = 1 << 28;
    private static final int PACKET_BYTES = 100;
    private static final int WIRE_BYTES = 14 + PACKET_BYTES;
    private static final int TTL_OFFSET = 22;
    private static final int CHECKSUM_OFFSET = 24;
    private static final int SOURCE_OFFSET = 26;
    private static final int TTL = 64;
    private static final double UTILIZATION = 0.9;
    private static final double LEAST_LEVEL = 0.4;
    private static final long LEVEL_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(1);
    private static final long MOST_BEHIND_NS = TimeUnit.MILLISECONDS.toNanos(50);
    private static final long MOST_QUEUED_NS = TimeUnit.MILLISECONDS.toNanos(120);
    private static final Duration TIMEOUT = Duration.ofMinutes(1);
    private static final double NS_PER_S = 1e9;
    private static final int BITS = 8;
    /** One packet in so many is of the largest flows, which are one flow in so many. */
    private static final int LARGE_PACKETS = 4;
    private static final int LARGE_FLOWS = 100;
    private static final int PACKETS_OF_A_FLOW = 400;

    private final RouterTopology topology;
    private final SplittableRandom random;
    private final AtomicReference<CompletableFuture<Integer>> renewal = new AtomicReference<>();
    private final Thread thread;
    private volatile Load load;
    private volatile boolean isStopped;
    private volatile long sent;
    private volatile Throwable failure;
    private int[] flows = new int[0];
    private int nextFlow;
    private int[] lostOf = new int[1 << 16];

    /**
     * What is sent.
     *
     * @param packetsPerSecond mean.
     * @param flows            that live at once.
     * @param lossShare        of all packets.
     */
    record Load(long packetsPerSecond, int flows, double lossShare) {
        Load times(final int factor) {
            return new Load(packetsPerSecond * factor, flows * factor, lossShare * factor);
        }

        long rateBps() {
            return (long)(packetsPerSecond * WIRE_BYTES * BITS / UTILIZATION);
        }
    }

    /** Traffic that is sent at once. */
    SteppedTraffic(final RouterTopology topology, final Load first, final long seed) throws IOException {
        this.topology = topology;
        random = new SplittableRandom(seed);
        topology.exit().ip("route", "add", "blackhole", RouterTopology.DESTINATION);
        step(first);
        final byte[] router = new byte[6];
        final String[] octets = topology.router().exec("cat", "/sys/class/net/" + RouterTopology.INGRESS + "/address").strip()
            .split(":");
        for (int i = 0; i < router.length; i++) {
            router[i] = (byte)Integer.parseInt(octets[i], 16);
        }
        thread = new Thread(() -> {
            try {
                topology.source().call(() -> {
                    send(router);
                    return null;
                });
            } catch (final Throwable ex) {
                failure = ex;
            }
        }, "stepped traffic");
        thread.setDaemon(true);
        thread.start();
    }

    /** From now on this is sent; the queue is empty before, since its rate changes. */
    void step(final Load newer) throws IOException {
        load = new Load(0, newer.flows, 0);
        final long emptyNs = System.nanoTime() + 2 * MOST_QUEUED_NS;
        Deadline.await(TIMEOUT, () -> System.nanoTime() - emptyNs >= 0, () -> "time stands still");
        topology.shape(newer.rateBps(), (int)(newer.rateBps() / BITS));
        load = newer;
    }

    /** Ends all flows, and begins others. Returns the number of the first of them. */
    int renew() {
        final CompletableFuture<Integer> begun = new CompletableFuture<>();
        renewal.set(begun);
        return begun.orTimeout(TIMEOUT.toNanos(), TimeUnit.NANOSECONDS).join();
    }

    private static ByteBuffer frame(final byte[] router, final int ttl) {
        final ByteBuffer frame = ByteBuffer.wrap(Frames.udp(0, PACKET_BYTES));
        frame.put(0, router).put(TTL_OFFSET, (byte)ttl).putShort(CHECKSUM_OFFSET, (short)0);
        frame.put(SOURCE_OFFSET, new byte[] {10, 1, 0, 2, 10, 4, 0, 2});
        int sum = 0;
        for (int i = 14; i < FLOW_OFFSET; i += 2) {
            sum += frame.getShort(i) & 0xFFFF;
        }
        sum = (sum & 0xFFFF) + (sum >>> 16);
        return frame.putShort(CHECKSUM_OFFSET, (short)~((sum & 0xFFFF) + (sum >>> 16)));
    }

    private void send(final byte[] router) throws IOException {
        final ByteBuffer whole = frame(router, TTL);
        final ByteBuffer lost = frame(router, 1);
        try (RawSender sender = new RawSender(RouterTopology.HOST_INTERFACE)) {
            long dueNs = System.nanoTime();
            double due = 0;
            double queuedNs = 0;
            double level = 1;
            for (long tick = 0; !isStopped; tick++) {
                final Load now = load;
                if (tick % (LEVEL_NS / TICK_NS) == 0) {
                    level = LEAST_LEVEL + random.nextDouble();
                }
                live(now.flows);
                due = Math.min(due + level / UTILIZATION * now.packetsPerSecond * TICK_NS / NS_PER_S, now.packetsPerSecond);
                queuedNs = Math.max(0, queuedNs - TICK_NS);
                for (; due >= 1; due--) {
                    if (queuedNs > MOST_QUEUED_NS) {
                        due = 0;
                        break;
                    }
                    final boolean isLost = random.nextDouble() < now.lossShare;
                    final int flow = flow();
                    if (isLost) {
                        lostOf[flow]++;
                    } else {
                        queuedNs += WIRE_BYTES * BITS * NS_PER_S / now.rateBps();
                    }
                    final ByteBuffer frame = isLost ? lost : whole;
                    sender.send(frame.putLong(NUMBER_OFFSET, sent).putInt(FLOW_OFFSET, FIRST_FLOW + flow).array());
                    sent++;
                }
                dueNs = Math.max(dueNs + TICK_NS, System.nanoTime() - MOST_BEHIND_NS);
                while (!isStopped && System.nanoTime() - dueNs < 0) {
                    LockSupport.parkNanos(TICK_NS / 4);
                }
            }
        }
    }

    private void live(final int count) {
        final CompletableFuture<Integer> begun = renewal.getAndSet(null);
        final int kept = begun == null ? Math.min(count, flows.length) : 0;
        final int first = nextFlow;
        if (kept < count || count < flows.length) {
            flows = Arrays.copyOf(flows, count);
            for (int i = kept; i < count; i++) {
                flows[i] = next();
            }
        }
        if (begun != null) {
            begun.complete(first);
        }
    }

    private int flow() {
        final boolean isLarge = random.nextInt(LARGE_PACKETS) == 0;
        final int index = random.nextInt(isLarge ? Math.max(1, flows.length / LARGE_FLOWS) : flows.length);
        if (!isLarge && random.nextInt(PACKETS_OF_A_FLOW) == 0) {
            flows[index] = next();
        }
        return flows[index];
    }

    private int next() {
        if (nextFlow == lostOf.length) {
            lostOf = Arrays.copyOf(lostOf, 2 * nextFlow);
        }
        return nextFlow++;
    }

    /** {@return packets sent so far} */
    long sent() {
        return sent;
    }

    /** Sends no more; returns how many packets of each flow were lost. */
    int[] stop() {
        isStopped = true;
        try {
            thread.join();
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        }
        if (failure != null) {
            throw new AssertionError("the traffic failed", failure);
        }
        return lostOf;
    }

    @Override
    public void close() {
        stop();
    }
}
