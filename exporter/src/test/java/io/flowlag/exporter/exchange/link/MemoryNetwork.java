package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.ClockError;
import org.agrona.CloseHelper;
import org.agrona.concurrent.EpochNanoClock;
import org.agrona.concurrent.NanoClock;

import java.io.IOException;
import java.net.BindException;
import java.net.ConnectException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.ByteChannel;
import java.nio.channels.ClosedChannelException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntUnaryOperator;

/**
 * A network in memory, for ends that a test works step by step: nothing happens between calls, and time is that of the test's
 * clock. A connection behaves as one of TCP: each direction holds a bounded number of octets and ends behind the last one; an end
 * that closes with octets unread, or that is written to after it closed, resets the connection, and what is under way is lost.
 * The faults are those of a network: octets in pieces, delay, connections refused or never answered, directions that stand still
 * or lose all octets, and cuts. Any thread, under one lock.
 */
public final class MemoryNetwork implements Network {
    private static final int FIRST_PORT = 49_152;
    private static final int CAPACITY_BYTES = 256 * 1024;
    private static final long NEVER = Long.MAX_VALUE;

    private final NanoClock clock;
    private final Map<InetSocketAddress, MemoryPort> ports = new HashMap<>();
    private String from;
    private final List<Connection> connections = new ArrayList<>();
    private int nextPort = FIRST_PORT;
    private IntUnaryOperator pieces = IntUnaryOperator.identity();
    private int capacityBytes = CAPACITY_BYTES;
    private long delayNs;
    private long budgetBytes = NEVER;
    private boolean isCut;
    private boolean isSilent;
    private Runnable others;

    /**
     * A network without faults.
     *
     * @param clock by which octets arrive.
     */
    public MemoryNetwork(final NanoClock clock) {
        this.clock = clock;
    }

    /** A receiver's end that listens here; packets have the network's clock too. */
    public ExchangeReceiver receiver(final ExporterConfig config, final PeerSecurity security) throws IOException {
        return receiver(config, security, clock::nanoTime);
    }

    /** A receiver's end that listens here, with the network's clock, and another one of packets. */
    public ExchangeReceiver receiver(
        final ExporterConfig config, final PeerSecurity security, final EpochNanoClock epochClock) throws IOException {
        return receiver(config, security, new ProcessEnds(epochClock));
    }

    /** A sender's end that connects here, with the network's clock. */
    public ExchangeSender sender(
        final ExporterConfig config, final PeerSecurity security, final EpochNanoClock epochClock, final ClockError error) {
        return sender(config, security, new ProcessEnds(epochClock), error);
    }

    /** A receiver's end that listens here, one of several of its process. */
    public ExchangeReceiver receiver(
        final ExporterConfig config, final PeerSecurity security, final ProcessEnds ends) throws IOException {
        return new ExchangeReceiver(config, () -> security, this, ends, clock);
    }

    /** A sender's end that connects here, one of several of its process. */
    public ExchangeSender sender(
        final ExporterConfig config, final PeerSecurity security, final ProcessEnds ends, final ClockError error) {
        return new ExchangeSender(config, () -> security, this, ends, clock, error);
    }

    /** Of so many octets that a read or a write could pass, how many it does; 0 is allowed. */
    synchronized void pieces(final IntUnaryOperator passed) {
        pieces = passed;
    }

    /** Octets that a direction holds at most until they are read. */
    synchronized void capacityBytes(final int value) {
        capacityBytes = value;
    }

    /** For octets written from now on; to connect takes twice as long. */
    public synchronized void delayNs(final long value) {
        delayNs = value;
    }

    /** Whether attempts to connect get no answer. */
    synchronized void silent(final boolean value) {
        isSilent = value;
    }

    /** Ends every connection behind what is under way, and refuses new ones. */
    public synchronized void cut() {
        isCut = true;
        connections.forEach(Connection::cut);
    }

    /** Cuts once the connecting ends have written so many more octets. */
    synchronized void cutAfter(final long bytes) {
        budgetBytes = bytes;
    }

    synchronized boolean isCut() {
        return isCut;
    }

    /** Lets ends connect again after a cut. */
    public synchronized void heal() {
        isCut = false;
        budgetBytes = NEVER;
    }

    /** {@return a connection, counted from 0 in the order of attempts} */
    public synchronized Connection connection(final int index) {
        return connections.get(index);
    }

    public synchronized int connectionCount() {
        return connections.size();
    }

    /**
     * Closes an end on this thread while the others work: it waits for them to take its last octets and to close.
     *
     * @param work a duty cycle of the others.
     */
    public void close(final AutoCloseable end, final Runnable work) throws Exception {
        others = work;
        try {
            end.close();
        } finally {
            others = null;
        }
    }

    /** Resets every connection, so that no end waits for another one, and closes the ends. */
    public void close(final List<? extends AutoCloseable> ends) {
        synchronized (this) {
            connections.forEach(Connection::reset);
        }
        CloseHelper.quietCloseAll(ends);
    }

    /** Connects a peer at an address of its own with a port of this host. */
    public synchronized ByteChannel channel(final String address, final int port) {
        from = address;
        try {
            return connect(new InetSocketAddress("127.0.0.1", port));
        } finally {
            from = null;
        }
    }

    /** The address that the next connections come from; null for that which they go to. */
    synchronized void from(final String value) {
        from = value;
    }

    @Override
    public synchronized PeerChannel connect(final InetSocketAddress address) {
        final MemoryPort port = isCut ? null : ports.get(address);
        final Connection connection = new Connection(
            new InetSocketAddress(from == null ? address.getHostString() : from, nextPort++), address, port == null && !isSilent);
        connections.add(connection);
        if (isSilent) {
            connection.near.readyNs = NEVER;
        } else if (port != null) {
            port.waiting.add(connection.far);
        }
        return connection.near;
    }

    @Override
    public synchronized Port listen(final InetSocketAddress address) throws IOException {
        if (ports.containsKey(address)) {
            throw new BindException("Address already in use");
        }
        final MemoryPort port = new MemoryPort(address);
        ports.put(address, port);
        return port;
    }

    /** A port, and the connections that it has not accepted. */
    private final class MemoryPort implements Port {
        private final InetSocketAddress address;
        private final Deque<MemoryChannel> waiting = new ArrayDeque<>();

        private MemoryPort(final InetSocketAddress address) {
            this.address = address;
        }

        @Override
        public PeerChannel accept() {
            synchronized (MemoryNetwork.this) {
                return waiting.isEmpty() || clock.nanoTime() < waiting.peek().readyNs ? null : waiting.remove();
            }
        }

        @Override
        public void close() {
            synchronized (MemoryNetwork.this) {
                ports.remove(address);
                waiting.forEach((each) -> each.connection.reset());
                waiting.clear();
            }
        }
    }

    /** Both directions of a connection. */
    public final class Connection {
        /** From the end that connected, and back. */
        final Direction forth = new Direction(this, true);
        final Direction back = new Direction(this, false);
        private final MemoryChannel near;
        private final MemoryChannel far;
        private final boolean isRefused;

        private Connection(final InetSocketAddress from, final InetSocketAddress to, final boolean isRefused) {
            this.isRefused = isRefused;
            near = new MemoryChannel(this, to, back, forth, clock.nanoTime() + 2 * delayNs);
            far = new MemoryChannel(this, from, forth, back, clock.nanoTime() + delayNs);
        }

        /** Loses all octets of one direction, see {@link Direction#lose}. */
        public void lose(final boolean isForth) {
            (isForth ? forth : back).lose();
        }

        /** Whether neither direction takes octets. */
        public void stall(final boolean value) {
            forth.stall(value);
            back.stall(value);
        }

        /** Both ends are told at once that it is broken; what is under way is lost. */
        void reset() {
            synchronized (MemoryNetwork.this) {
                forth.reset();
                back.reset();
            }
        }

        private void cut() {
            for (final Direction each : List.of(forth, back)) {
                each.end();
                each.isAbandoned = true;
            }
        }
    }

    /** What one end writes and the other one reads. */
    final class Direction {
        private final Connection connection;
        private final boolean isForth;
        private final Deque<Piece> underWay = new ArrayDeque<>();
        private int heldBytes;
        private long endNs = NEVER;
        private boolean isStalled;
        private boolean isLossy;
        /** Whether the reader has closed. */
        private boolean isAbandoned;
        private boolean isReset;

        private Direction(final Connection connection, final boolean isForth) {
            this.connection = connection;
            this.isForth = isForth;
        }

        /** Whether it takes no octets. */
        void stall(final boolean value) {
            synchronized (MemoryNetwork.this) {
                isStalled = value;
            }
        }

        /** Loses whatever is under way and written from now on, its end too; the reader is told nothing. */
        void lose() {
            synchronized (MemoryNetwork.this) {
                isLossy = true;
                underWay.clear();
                endNs = NEVER;
            }
        }

        private void reset() {
            isReset = true;
            underWay.clear();
        }

        private void end() {
            if (endNs == NEVER && !isLossy) {
                endNs = clock.nanoTime() + delayNs;
            }
        }

        private Direction opposite() {
            return isForth ? connection.back : connection.forth;
        }

        private int write(final ByteBuffer source) throws IOException {
            if (isReset) {
                throw new IOException("Broken pipe");
            }
            final int fitting = isStalled ? 0 : Math.min(source.remaining(), capacityBytes - heldBytes);
            final int passed = fitting == 0 ? 0 : pieces.applyAsInt(fitting);
            final byte[] octets = new byte[isForth ? (int)Math.min(passed, budgetBytes) : passed];
            source.get(octets);
            heldBytes += octets.length;
            if (!isLossy && octets.length > 0) {
                underWay.add(new Piece(ByteBuffer.wrap(octets), clock.nanoTime() + delayNs));
            }
            if (isAbandoned && octets.length > 0 && !isLossy && !opposite().isLossy) {
                connection.reset();
            }
            if (isForth && budgetBytes != NEVER) {
                budgetBytes -= octets.length;
                if (budgetBytes == 0) {
                    cut();
                }
            }
            return octets.length;
        }

        private int read(final ByteBuffer target) throws IOException {
            if (isReset) {
                throw new IOException("Connection reset");
            }
            final long nowNs = clock.nanoTime();
            int dueBytes = 0;
            for (final Piece each : underWay) {
                if (nowNs < each.dueNs || dueBytes >= target.remaining()) {
                    break;
                }
                dueBytes += each.octets.remaining();
            }
            final int fitting = Math.min(dueBytes, target.remaining());
            final int passed = fitting == 0 ? 0 : pieces.applyAsInt(fitting);
            int taken = 0;
            while (taken < passed) {
                final ByteBuffer octets = underWay.peek().octets;
                final int count = Math.min(passed - taken, octets.remaining());
                target.put(octets.slice(octets.position(), count));
                octets.position(octets.position() + count);
                taken += count;
                if (!octets.hasRemaining()) {
                    underWay.remove();
                }
            }
            heldBytes -= passed;
            return passed == 0 && underWay.isEmpty() && nowNs >= endNs ? -1 : passed;
        }
    }

    /** Octets of one write. */
    private record Piece(ByteBuffer octets, long dueNs) {
    }

    /** One end of a connection. */
    private final class MemoryChannel implements PeerChannel {
        private final Connection connection;
        private final InetSocketAddress remoteAddress;
        private final Direction in;
        private final Direction out;
        private final ByteBuffer dropped = ByteBuffer.allocate(4096);
        private long readyNs;
        private boolean isClosed;

        private MemoryChannel(
            final Connection connection, final InetSocketAddress remoteAddress, final Direction in, final Direction out,
            final long readyNs) {
            this.connection = connection;
            this.remoteAddress = remoteAddress;
            this.in = in;
            this.out = out;
            this.readyNs = readyNs;
        }

        private void checkOpen() throws IOException {
            if (isClosed) {
                throw new ClosedChannelException();
            }
        }

        @Override
        public boolean isReady() throws IOException {
            synchronized (MemoryNetwork.this) {
                checkOpen();
                final boolean isReady = clock.nanoTime() >= readyNs;
                if (isReady && connection.isRefused) {
                    throw new ConnectException("Connection refused");
                }
                return isReady;
            }
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return remoteAddress;
        }

        @Override
        public int read(final ByteBuffer target) throws IOException {
            synchronized (MemoryNetwork.this) {
                checkOpen();
                return in.read(target);
            }
        }

        @Override
        public int write(final ByteBuffer source) throws IOException {
            synchronized (MemoryNetwork.this) {
                checkOpen();
                return out.write(source);
            }
        }

        @Override
        public boolean shutdown() throws IOException {
            synchronized (MemoryNetwork.this) {
                checkOpen();
                out.end();
                return true;
            }
        }

        @Override
        public int discard() throws IOException {
            final Runnable work = others;
            if (work != null) {
                others = null;
                work.run();
                others = work;
            }
            return read(dropped.clear());
        }

        @Override
        public boolean isOpen() {
            synchronized (MemoryNetwork.this) {
                return !isClosed;
            }
        }

        @Override
        public void close() {
            synchronized (MemoryNetwork.this) {
                if (!isClosed) {
                    isClosed = true;
                    in.isAbandoned = true;
                    if (in.underWay.isEmpty() || out.isLossy) {
                        out.end();
                    } else {
                        connection.reset();
                    }
                }
            }
        }
    }
}
