package io.flowlag.tests.support;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.PortUnreachableException;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * UDP flows through a queue with at most a window of octets under way. The queue stays filled, and nothing is lost while it is
 * longer than the window, however slow the machine is. The window changes with time, so flows differ in delay. Thin flows live
 * all the time; a few thick flows live at once, one after another.
 *
 * <p>Each packet begins with a number unique in its flow: the octets sent including it. From it the sink knows what has arrived,
 * whatever was lost before.
 */
public final class WindowedTraffic implements AutoCloseable {
    /** Octets of a packet before its payload: Ethernet, IPv4, UDP. */
    private static final int HEADERS_BYTES = 42;
    private static final int MAXIMUM_BYTES = 65_536;
    private static final long LEVEL_NS = TimeUnit.MILLISECONDS.toNanos(300);
    private static final long PARK_NS = TimeUnit.MICROSECONDS.toNanos(50);
    /** Time without an arrival after which the last packets of the window count as lost. */
    private static final long GIVE_UP_NS = TimeUnit.MILLISECONDS.toNanos(700);
    private static final Duration TIMEOUT = Duration.ofSeconds(180);

    private final NetworkNamespace source;
    private final InetSocketAddress target;
    private final Plan plan;
    private final DatagramChannel sink;
    private final SplittableRandom random;
    private final ByteBuffer payload = ByteBuffer.allocateDirect(MAXIMUM_BYTES);
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        final Thread thread = new Thread(work, "windowed traffic");
        thread.setDaemon(true);
        return thread;
    });
    private final List<ThickFlow> thick = new ArrayList<>();
    private final List<DatagramChannel> thin = new ArrayList<>();
    private Future<?> sending;
    private volatile long arrivedBytes;
    private volatile long sentBytes;
    private volatile long sentPackets;
    private volatile long endedFlows;
    private volatile boolean isStopped;

    /**
     * What is sent.
     *
     * @param seed             of all that is random.
     * @param dscp             of every packet.
     * @param leastWindowBytes of the window, link headers among them.
     * @param mostWindowBytes  of the window.
     * @param thinFlows        that live all the time.
     * @param thinGapNs        from one packet of a thin flow to its next.
     * @param thickFlows       that live at once; 0 for none.
     * @param thickPackets     of each thick flow at least; at most twice as many.
     * @param leastBytes       of a payload, 8 or more.
     * @param mostBytes        of a payload.
     */
    public record Plan(long seed, int dscp, int leastWindowBytes, int mostWindowBytes, int thinFlows, long thinGapNs,
        int thickFlows, int thickPackets, int leastBytes, int mostBytes) {
    }

    private static final class ThickFlow {
        private final DatagramChannel channel;
        private final int lengthBytes;
        private int left;

        private ThickFlow(final DatagramChannel channel, final int lengthBytes, final int left) {
            this.channel = channel;
            this.lengthBytes = lengthBytes;
            this.left = left;
        }
    }

    /**
     * Opens the sink; nothing is sent yet.
     *
     * @param source      where packets come from.
     * @param destination where they go.
     * @param target      address and port there.
     * @param plan        of the traffic.
     */
    public WindowedTraffic(
        final NetworkNamespace source, final NetworkNamespace destination, final InetSocketAddress target, final Plan plan)
        throws Exception {
        this.source = source;
        this.target = target;
        this.plan = plan;
        random = new SplittableRandom(plan.seed);
        sink = destination.call(() -> DatagramChannel.open(StandardProtocolFamily.INET)
            .setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20).bind(target));
    }

    /** Begins to send. */
    public void start() {
        threads.submit(this::receive);
        sending = threads.submit(() -> source.call(() -> {
            send();
            return null;
        }));
    }

    /** {@return packets sent so far} */
    public long sentPackets() {
        return sentPackets;
    }

    /** {@return thick flows that have sent all their packets} */
    public long endedFlows() {
        return endedFlows;
    }

    /**
     * Waits until more flows have ended.
     *
     * @param count of thick flows.
     */
    public void awaitFlows(final long count) {
        final long before = endedFlows;
        await(() -> endedFlows >= before + count, "flows of " + count);
    }

    /**
     * Waits until more packets were sent.
     *
     * @param count of packets.
     */
    public void awaitPackets(final long count) {
        final long before = sentPackets;
        await(() -> sentPackets >= before + count, "packets of " + count);
    }

    private void await(final BooleanSupplier condition, final String what) {
        Deadline.await(TIMEOUT, () -> condition.getAsBoolean() || sending.isDone(), () -> what);
        if (sending.isDone()) {
            stop();
            throw new AssertionError("the traffic ended too early");
        }
    }

    /** Sends no more; returns when all that was sent has arrived or is lost. */
    public void stop() {
        isStopped = true;
        try {
            sending.get();
        } catch (final Exception ex) {
            throw new AssertionError(ex);
        }
    }

    private void send() throws IOException {
        final long beginNs = System.nanoTime();
        try {
            for (int i = 0; i < plan.thinFlows; i++) {
                thin.add(open());
            }
            final long gapNs = plan.thinFlows == 0 ? Long.MAX_VALUE : plan.thinGapNs / plan.thinFlows;
            long thinDueNs = beginNs;
            int nextThin = 0;
            while (!isStopped) {
                awaitWindow(plan.mostBytes + HEADERS_BYTES, beginNs);
                final long nowNs = System.nanoTime();
                if (plan.thinFlows > 0 && nowNs >= thinDueNs) {
                    send(thin.get(nextThin), plan.leastBytes);
                    nextThin = (nextThin + 1) % plan.thinFlows;
                    thinDueNs += gapNs;
                } else if (plan.thickFlows > 0) {
                    sendThick();
                } else {
                    LockSupport.parkNanos(PARK_NS);
                }
            }
            awaitWindow(plan.mostWindowBytes, beginNs);
        } finally {
            for (final DatagramChannel each : thin) {
                each.close();
            }
            for (final ThickFlow each : thick) {
                each.channel.close();
            }
        }
    }

    private void sendThick() throws IOException {
        while (thick.size() < plan.thickFlows) {
            thick.add(new ThickFlow(open(), plan.leastBytes + random.nextInt(plan.mostBytes - plan.leastBytes + 1),
                plan.thickPackets + random.nextInt(plan.thickPackets)));
        }
        final int index = random.nextInt(thick.size());
        final ThickFlow flow = thick.get(index);
        send(flow.channel, flow.lengthBytes);
        if (--flow.left == 0) {
            flow.channel.close();
            thick.remove(index);
            endedFlows++;
        }
    }

    private void send(final DatagramChannel channel, final int lengthBytes) throws IOException {
        final long total = sentBytes + lengthBytes + HEADERS_BYTES;
        payload.clear().putLong(0, total).limit(lengthBytes);
        sentBytes = total;
        try {
            channel.write(payload);
        } catch (final PortUnreachableException ex) {
            // what an earlier packet met; this one is for the queue alone
        }
        sentPackets++;
    }

    /** Waits until this many octets fit into the present window; each level holds for a while. */
    private void awaitWindow(final int lengthBytes, final long beginNs) {
        long arrivedBefore = arrivedBytes;
        long progressNs = System.nanoTime();
        while (true) {
            final long nowNs = System.nanoTime();
            final long level = (nowNs - beginNs) / LEVEL_NS;
            final int windowBytes = plan.leastWindowBytes + new SplittableRandom(plan.seed ^ level)
                .split().nextInt(plan.mostWindowBytes - plan.leastWindowBytes + 1);
            if (sentBytes - arrivedBytes + lengthBytes <= Math.max(windowBytes, lengthBytes)) {
                return;
            }
            if (arrivedBytes != arrivedBefore) {
                arrivedBefore = arrivedBytes;
                progressNs = nowNs;
            } else if (nowNs - progressNs > GIVE_UP_NS) {
                arrivedBytes = sentBytes;
            }
            LockSupport.parkNanos(PARK_NS);
        }
    }

    private Object receive() throws IOException {
        final ByteBuffer buffer = ByteBuffer.allocateDirect(MAXIMUM_BYTES);
        try {
            while (sink.isOpen()) {
                buffer.clear();
                sink.receive(buffer);
                arrivedBytes = Math.max(arrivedBytes, buffer.getLong(0));
            }
        } catch (final ClosedChannelException ex) {
            // closed by the test
        }
        return null;
    }

    private DatagramChannel open() throws IOException {
        final DatagramChannel channel = DatagramChannel.open(StandardProtocolFamily.INET);
        if (plan.dscp != 0) {
            channel.setOption(StandardSocketOptions.IP_TOS, plan.dscp << 2);
        }
        return channel.connect(target);
    }

    @Override
    public void close() throws IOException {
        isStopped = true;
        sink.close();
        threads.shutdownNow();
    }
}
