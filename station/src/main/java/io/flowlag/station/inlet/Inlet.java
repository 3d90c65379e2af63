package io.flowlag.station.inlet;

import com.google.protobuf.ByteString;
import com.google.protobuf.UnsafeByteOperations;
import io.flowlag.common.counter.CounterSet;
import io.flowlag.ipfix.collect.CollectingProcess;
import io.flowlag.ipfix.collect.CollectorCounter;
import io.flowlag.ipfix.collect.CollectorLimits;
import io.flowlag.ipfix.collect.CollectorServer;
import io.flowlag.ipfix.collect.MessageHandler;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.collect.TransportSession;
import io.flowlag.station.schema.RawMessage;
import org.agrona.DirectBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * Receives IPFIX by UDP, TCP and TLS and puts each valid message, undecoded, into a {@link MessageQueue}. Where half of that is
 * taken, connections wait; datagrams are received until it is full, then lost and counted. One thread calls {@link #poll};
 * counters may be read by any.
 */
public final class Inlet implements AutoCloseable {
    private static final long WAIT_MS = 100;
    private static final long REST_NS = 1_000_000;
    /** Datagrams and connections; behind a turn with more there is no rest. */
    private static final int FULL_TURN = 64;
    private static final int MAPPED_BYTES = 12;

    private final MessageQueue queue;
    private final String name;
    private final LongSupplier epochNs;
    private final CounterSet<CollectorCounter> counters = new CounterSet<>(CollectorCounter.class);
    private final AtomicLong lost = new AtomicLong();
    private final CollectorServer server;
    private long receivedNs;
    private long lastConnection;
    private boolean isClosing;

    /**
     * An inlet without addresses; {@link #server} takes them.
     *
     * @param epochNs ns since the epoch.
     * @throws IOException if the system gives no sockets.
     */
    public Inlet(final String name, final MessageQueue queue, final LongSupplier epochNs) throws IOException {
        this.name = name;
        this.queue = queue;
        this.epochNs = epochNs;
        lastConnection = epochNs.getAsLong();
        server = new CollectorServer(new CollectingProcess(CollectorLimits.DEFAULTS, counters, new Forwarding()));
    }

    /** {@return the sockets} */
    public CollectorServer server() {
        return server;
    }

    /** {@return what came, and what was refused} */
    public CounterSet<CollectorCounter> counters() {
        return counters;
    }

    /** {@return messages that found no room} */
    public long lost() {
        return lost.get();
    }

    /**
     * Serves every ready socket once, and waits a moment for one if there is none. It rests after a turn with little to do: each
     * wakes the job, and what comes meanwhile lies in the sockets' buffers.
     *
     * @throws IOException if a listening socket fails; never because of a peer.
     */
    public void poll() throws IOException {
        receivedNs = epochNs.getAsLong();
        final int work = queue.isBusy() ? server.pollDatagrams(System.nanoTime()) : server.poll(System.nanoTime(), WAIT_MS);
        queue.tick(receivedNs);
        if (work < FULL_TURN) {
            LockSupport.parkNanos(REST_NS);
        }
    }

    /** Connections end with it; exporters by UDP send on, and their templates hold. */
    @Override
    public void close() throws IOException {
        isClosing = true;
        server.close();
    }

    /** Hands messages on. */
    private final class Forwarding implements MessageHandler {
        private final Map<TransportSession, Long> connections = new IdentityHashMap<>();

        @Override
        public void onMessage(
            final TransportSession session, final DirectBuffer buffer, final int offset, final int lengthBytes) {
            final byte[] payload = new byte[lengthBytes];
            buffer.getBytes(offset, payload);
            put(session, payload);
        }

        @Override
        public void onEnd(final TransportSession session) {
            if (!isClosing || session.kind() != SessionKind.UDP) {
                put(session, new byte[0]);
            }
            connections.remove(session);
        }

        /** Templates end with a connection: each has a number of its own, also behind a restart. */
        private long number(final TransportSession session) {
            return session.kind() == SessionKind.UDP ? 0 :
                connections.computeIfAbsent(session, (opened) -> ++lastConnection);
        }

        private void put(final TransportSession session, final byte[] payload) {
            final InetSocketAddress peer = session.source();
            final byte[] address = peer.getAddress().getAddress();
            if (!queue.offer(RawMessage.newBuilder()
                .setTimeReceived(TimeUnit.NANOSECONDS.toSeconds(receivedNs)).setTimeReceivedNs(receivedNs)
                .setPayload(UnsafeByteOperations.unsafeWrap(payload))
                .setSourceAddress(address.length > Integer.BYTES ? ByteString.copyFrom(address) : mapped(address))
                .setUseSourceAddress(true).setDecoder(RawMessage.Decoder.DECODER_NETFLOW).setPort(peer.getPort())
                .setTransport(transport(session.kind())).setInlet(name).setConnection(number(session)).build())) {
                lost.incrementAndGet();
            }
        }

        private static ByteString mapped(final byte[] address) {
            final byte[] mapped = new byte[MAPPED_BYTES + address.length];
            mapped[MAPPED_BYTES - 1] = -1;
            mapped[MAPPED_BYTES - 2] = -1;
            System.arraycopy(address, 0, mapped, MAPPED_BYTES, address.length);
            return UnsafeByteOperations.unsafeWrap(mapped);
        }

        private static RawMessage.Transport transport(final SessionKind kind) {
            return switch (kind) {
                case UDP -> RawMessage.Transport.TRANSPORT_UDP;
                case TCP -> RawMessage.Transport.TRANSPORT_TCP;
                case TLS -> RawMessage.Transport.TRANSPORT_TLS;
                default -> throw new IllegalStateException(kind + " is no transport of an inlet");
            };
        }
    }
}
