package io.flowlag.tests.support;

import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.DatagramChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Traffic of many flows over a {@link RouterTopology}: UDP by own senders, TCP by sockets and by iperf3, with staggered starts,
 * and cross traffic whose rate changes several times a second, so that the queue alternates between empty and full. The plan is a
 * function of a seed; the queue's behaviour is the kernel's.
 */
public final class SegmentTraffic implements AutoCloseable {
    private static final int UDP_SINK_PORT = 9000;
    private static final int TCP_SINK_PORT = 9001;
    private static final int IPERF_PORT = 5201;
    private static final int CROSS_PACKET_BYTES = 1000;
    private static final long LEVEL_NS = TimeUnit.MILLISECONDS.toNanos(400);
    private static final long LATEST_BURST_NS = TimeUnit.MILLISECONDS.toNanos(4);
    private static final int HEADERS_BYTES = 42;

    private final RouterTopology topology;
    private final Plan plan;
    private final ExecutorService threads = Executors.newCachedThreadPool(work -> {
        final Thread thread = new Thread(() -> {
            runFirst();
            work.run();
        }, "traffic");
        thread.setDaemon(true);
        return thread;
    });
    private final List<Closeable> toClose = new ArrayList<>();
    private final List<Command.Running> iperfServers = new ArrayList<>();

    /**
     * What is sent.
     *
     * @param seed         of all that is random.
     * @param duration     in which flows begin.
     * @param udpFlows     how many.
     * @param udpPackets   of each, on average.
     * @param tcpFlows     how many by sockets.
     * @param tcpBytes     of each.
     * @param iperfStreams how many by iperf3, all the time; 0 for none.
     * @param iperfRateBps of each.
     * @param crossLeast   rate of cross traffic, bits/s.
     * @param crossMost    rate of cross traffic, bits/s.
     * @param expedited    how many of 100 UDP flows are marked with a DSCP.
     * @param dscp         with which.
     */
    public record Plan(long seed, Duration duration, int udpFlows, int udpPackets, int tcpFlows, int tcpBytes,
        int iperfStreams, long iperfRateBps, long crossLeast, long crossMost, int expedited, int dscp) {
    }

    /** One UDP flow under way. */
    private static final class UdpFlow {
        private final DatagramChannel channel;
        private final int lengthBytes;
        private final long meanGapNs;
        private int left;
        private long dueNs;

        private UdpFlow(final DatagramChannel channel, final int lengthBytes, final long meanGapNs, final int left) {
            this.channel = channel;
            this.lengthBytes = lengthBytes;
            this.meanGapNs = meanGapNs;
            this.left = left;
        }
    }

    /** Something that takes a while in a namespace. */
    private interface Work {
        void run() throws Exception;
    }

    /**
     * Opens the sinks at the destinations.
     *
     * @param topology with a queue.
     * @param plan     of the traffic.
     */
    public SegmentTraffic(final RouterTopology topology, final Plan plan) throws Exception {
        this.topology = topology;
        this.plan = plan;
        openSinks();
    }

    private void openSinks() throws Exception {
        for (final NetworkNamespace sink : List.of(topology.destination(), topology.crossDestination())) {
            final DatagramChannel channel = sink.call(() -> DatagramChannel.open()
                .setOption(StandardSocketOptions.SO_RCVBUF, 4096)
                .bind(new InetSocketAddress(UDP_SINK_PORT)));
            toClose.add(channel);
        }
        final ServerSocket server = topology.destination().call(
            () -> new ServerSocket(TCP_SINK_PORT, 128, InetAddress.getByName(RouterTopology.DESTINATION)));
        toClose.add(server);
        threads.submit(() -> acceptAll(server));
        for (int i = 0; i < iperfProcesses(); i++) {
            final Command.Running running = Command.of("ip", "netns", "exec", topology.destination().name(),
                Tools.require("iperf3", "iperf3"), "-s", "-p", IPERF_PORT + i, "--forceflush").start();
            iperfServers.add(running);
            Deadline.await(Duration.ofSeconds(60), () -> running.output().contains("Server listening"), running::errors);
        }
    }

    private int iperfProcesses() {
        return plan.iperfStreams == 0 ? 0 : 1;
    }

    private Object acceptAll(final ServerSocket server) throws IOException {
        while (!server.isClosed()) {
            final Socket socket = server.accept();
            threads.submit(() -> {
                try (Socket each = socket; InputStream input = each.getInputStream()) {
                    return input.transferTo(OutputStream.nullOutputStream());
                }
            });
        }
        return null;
    }

    /** Sends all of it; returns when everything has been sent. */
    public void run() throws Exception {
        final CountDownLatch start = new CountDownLatch(1);
        final List<Future<?>> senders = new ArrayList<>();
        senders.add(inNamespace(topology.source(), start, this::sendUdp));
        senders.add(inNamespace(topology.crossSource(), start, this::sendCross));
        for (int i = 0; i < plan.tcpFlows; i++) {
            final long beginNs = plan.duration.toNanos() * i / plan.tcpFlows;
            senders.add(inNamespace(topology.source(), start, () -> sendTcp(beginNs)));
        }
        final List<Command.Running> clients = new ArrayList<>();
        for (int i = 0; i < iperfProcesses(); i++) {
            clients.add(Command.of("ip", "netns", "exec", topology.source().name(), Tools.require("iperf3", "iperf3"),
                "-c", RouterTopology.DESTINATION, "-p", IPERF_PORT + i, "-P", plan.iperfStreams, "-b", plan.iperfRateBps,
                "-l", "8000", "-t", plan.duration.toSeconds()).start());
        }
        start.countDown();
        try {
            for (final Future<?> sender : senders) {
                sender.get();
            }
            clients.forEach(client -> client.finish().orFail());
        } finally {
            clients.forEach(Command.Running::close);
        }
    }

    private Future<?> inNamespace(final NetworkNamespace namespace, final CountDownLatch start, final Work work) {
        return threads.submit((Callable<Object>) () -> namespace.call(() -> {
            start.await();
            work.run();
            return null;
        }));
    }

    /** Flows of 60 to 1400 octets and half to one and a half the packets, exponential gaps; each lasts about one second. */
    private void sendUdp() throws IOException {
        final SplittableRandom random = new SplittableRandom(plan.seed);
        final PriorityQueue<UdpFlow> flows = new PriorityQueue<>((a, b) -> Long.compare(a.dueNs, b.dueNs));
        final long beginNs = System.nanoTime();
        try {
            for (int i = 0; i < plan.udpFlows; i++) {
                final DatagramChannel channel = open(RouterTopology.DESTINATION,
                    random.nextInt(100) < plan.expedited ? plan.dscp << 2 : 0);
                final int packets = plan.udpPackets / 2 + random.nextInt(plan.udpPackets);
                final long lastsNs = TimeUnit.MILLISECONDS.toNanos(300 + random.nextInt(1200));
                final UdpFlow flow = new UdpFlow(channel, 60 + random.nextInt(1340), lastsNs / packets, packets);
                flow.dueNs = beginNs + plan.duration.toNanos() * i / plan.udpFlows;
                flows.add(flow);
            }
            final ByteBuffer payload = ByteBuffer.allocateDirect(1500);
            long number = 0;
            while (!flows.isEmpty()) {
                final UdpFlow flow = flows.remove();
                awaitNs(flow.dueNs);
                payload.clear().putLong(0, number++).limit(flow.lengthBytes);
                flow.channel.write(payload);
                flow.dueNs = Math.max(flow.dueNs, System.nanoTime() - LATEST_BURST_NS) + exponential(random, flow.meanGapNs);
                if (--flow.left > 0) {
                    flows.add(flow);
                } else {
                    flow.channel.close();
                }
            }
        } finally {
            for (final UdpFlow flow : flows) {
                flow.channel.close();
            }
        }
    }

    private void sendCross() throws IOException {
        final SplittableRandom random = new SplittableRandom(plan.seed + 1);
        final long beginNs = System.nanoTime();
        final ByteBuffer payload = ByteBuffer.allocateDirect(CROSS_PACKET_BYTES);
        long dueNs = beginNs;
        long levelEndNs = beginNs;
        long rateBps = plan.crossLeast;
        long number = 0;
        try (DatagramChannel channel = open(RouterTopology.CROSS_DESTINATION, 0)) {
            while (dueNs - beginNs < plan.duration.toNanos()) {
                while (dueNs - levelEndNs >= 0) {
                    rateBps = plan.crossLeast + random.nextLong(plan.crossMost - plan.crossLeast + 1);
                    levelEndNs += LEVEL_NS;
                }
                awaitNs(dueNs);
                payload.clear().putLong(0, number++);
                channel.write(payload);
                final long gapNs = (CROSS_PACKET_BYTES + HEADERS_BYTES) * 8 * 1_000_000_000L / rateBps;
                dueNs = Math.max(dueNs, System.nanoTime() - LATEST_BURST_NS) + exponential(random, gapNs);
            }
        }
    }

    private void sendTcp(final long afterNs) throws IOException {
        awaitNs(System.nanoTime() + afterNs);
        try (Socket socket = new Socket(RouterTopology.DESTINATION, TCP_SINK_PORT)) {
            final byte[] octets = new byte[4096];
            for (int sent = 0; sent < plan.tcpBytes; sent += octets.length) {
                ByteBuffer.wrap(octets).putInt(sent);
                socket.getOutputStream().write(octets);
            }
        }
    }

    /** Gives this thread a high priority: without processor time, traffic is not what the plan says. */
    static void runFirst() {
        try {
            final String thread = Files.readSymbolicLink(Path.of("/proc/thread-self")).getFileName().toString();
            Command.of("renice", "-n", "-19", "-p", thread).run().orFail();
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static DatagramChannel open(final String target, final int trafficClass) throws IOException {
        final DatagramChannel channel = DatagramChannel.open(java.net.StandardProtocolFamily.INET)
            .setOption(StandardSocketOptions.SO_SNDBUF, 1 << 20);
        if (trafficClass != 0) {
            channel.setOption(StandardSocketOptions.IP_TOS, trafficClass);
        }
        return channel.connect(new InetSocketAddress(target, UDP_SINK_PORT));
    }

    private static long exponential(final SplittableRandom random, final long meanNs) {
        return (long) (-Math.log(1 - random.nextDouble()) * meanNs);
    }

    private static void awaitNs(final long dueNs) {
        long leftNs = dueNs - System.nanoTime();
        while (leftNs > 0) {
            LockSupport.parkNanos(leftNs);
            leftNs = dueNs - System.nanoTime();
        }
    }

    @Override
    public void close() throws IOException {
        iperfServers.forEach(Command.Running::close);
        for (final Closeable each : toClose) {
            each.close();
        }
        threads.shutdownNow();
    }
}
