package io.flowlag.tests.support;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.StandardProtocolFamily;
import java.net.StandardSocketOptions;
import java.nio.ByteBuffer;
import java.nio.channels.ClosedChannelException;
import java.nio.channels.DatagramChannel;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLongArray;
import java.util.concurrent.locks.LockSupport;

/**
 * UDP flows of twenty packets a second each through a {@link RouterTopology}, until it is closed. Each packet carries its time of
 * sending; the receiving socket knows since when a flow is slow: ten packets in a row, so that no pause of the machine counts.
 */
public final class TimedFlows implements AutoCloseable {
    /** The source port of the first flow; the others follow. */
    public static final int FIRST_PORT = 20_000;

    private static final int SINK_PORT = 9000;
    private static final int PAYLOAD_BYTES = 100;
    private static final long FLOW_GAP_NS = TimeUnit.MILLISECONDS.toNanos(50);

    private static final int IN_A_ROW = 10;

    private final long slowMs;
    private final DatagramChannel sink;
    private final List<DatagramChannel> sources = new ArrayList<>();
    private final AtomicIntegerArray received;
    /** Of each flow, so far in a row; those of the receiver's thread alone. */
    private final int[] slowPackets;
    private final long[] firstSlowMs;
    /** When the first of them was sent, ms since 1970; 0 for never. */
    private final AtomicLongArray slowSinceMs;
    private volatile boolean isStopped;

    /**
     * Begins to send.
     *
     * @param flows  how many.
     * @param slowMs a packet that takes longer is slow.
     */
    public TimedFlows(final RouterTopology topology, final int flows, final long slowMs) throws Exception {
        this.slowMs = slowMs;
        received = new AtomicIntegerArray(flows);
        slowSinceMs = new AtomicLongArray(flows);
        slowPackets = new int[flows];
        firstSlowMs = new long[flows];
        sink = topology.destination().call(() -> open(SINK_PORT));
        for (int i = 0; i < flows; i++) {
            final int port = FIRST_PORT + i;
            sources.add(topology.source().call(() -> open(port)
                .connect(new InetSocketAddress(RouterTopology.DESTINATION, SINK_PORT))));
        }
        start(this::receive);
        start(this::send);
    }

    private static DatagramChannel open(final int port) throws IOException {
        return DatagramChannel.open(StandardProtocolFamily.INET).setOption(StandardSocketOptions.SO_RCVBUF, 1 << 20)
            .bind(new InetSocketAddress(port));
    }

    private static void start(final Runnable work) {
        final Thread thread = new Thread(() -> {
            SegmentTraffic.runFirst();
            work.run();
        }, "timed flows");
        thread.setDaemon(true);
        thread.start();
    }

    private void send() {
        final ByteBuffer payload = ByteBuffer.allocateDirect(PAYLOAD_BYTES);
        long dueNs = System.nanoTime();
        try {
            for (int packet = 0; !isStopped; packet++) {
                for (final DatagramChannel source : sources) {
                    LockSupport.parkNanos(dueNs - System.nanoTime());
                    source.write(payload.clear().putLong(0, System.currentTimeMillis()).putInt(Long.BYTES, packet));
                    dueNs += FLOW_GAP_NS / sources.size();
                }
            }
        } catch (final ClosedChannelException ex) {
            // Ended by close().
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private void receive() {
        final ByteBuffer payload = ByteBuffer.allocateDirect(PAYLOAD_BYTES);
        try {
            while (!isStopped) {
                final int flow = ((InetSocketAddress) sink.receive(payload.clear())).getPort() - FIRST_PORT;
                final long sentMs = payload.getLong(0);
                if (System.currentTimeMillis() - sentMs <= slowMs) {
                    slowPackets[flow] = 0;
                } else if (slowPackets[flow]++ == 0) {
                    firstSlowMs[flow] = sentMs;
                } else if (slowPackets[flow] == IN_A_ROW) {
                    slowSinceMs.compareAndSet(flow, 0, firstSlowMs[flow]);
                }
                received.incrementAndGet(flow);
            }
        } catch (final ClosedChannelException ex) {
            // Ended by close().
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    /** {@return packets of a flow that arrived} */
    public int received(final int flow) {
        return received.get(flow);
    }

    /** {@return since when a flow was slow; null if it was not} */
    public Instant slowSince(final int flow) {
        final long sinceMs = slowSinceMs.get(flow);
        return sinceMs == 0 ? null : Instant.ofEpochMilli(sinceMs);
    }

    @Override
    public void close() throws IOException {
        isStopped = true;
        sink.close();
        for (final DatagramChannel source : sources) {
            source.close();
        }
    }
}
