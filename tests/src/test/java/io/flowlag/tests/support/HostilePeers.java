package io.flowlag.tests.support;

import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.decode.FlowKeyLayout;
import io.flowlag.exporter.decode.SegmentFlowHash;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.exchange.wire.CellsMessage;
import io.flowlag.exporter.exchange.wire.DropsMessage;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.IntervalEndMessage;
import io.flowlag.exporter.exchange.wire.IntervalListMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PingMessage;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.exchange.wire.SendTimesMessage;
import io.flowlag.exporter.exchange.wire.SharedKey;
import io.flowlag.exporter.exchange.wire.SynopsisMessage;
import io.flowlag.sketch.image.ImageDescriptor;
import io.flowlag.sketch.image.Sketch;
import io.flowlag.sketch.image.SketchFamily;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import org.agrona.CloseHelper;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.LockSupport;

/**
 * Peers that do what they can to stop a receiver from its work, from threads of their own: strangers without the key, and a
 * sender that has the key and lies. All of it follows from a seed, but for the order among threads.
 */
public final class HostilePeers implements AutoCloseable {
    /** What a peer does, again and again. */
    public enum Deed {
        /** Connects and goes. */
        CONNECT,
        /** Connects and keeps silent. */
        IDLE,
        /** Begins a HELLO and keeps silent. */
        HALF_HELLO,
        JUNK,
        WRONG_KEY,
        /** With the key, with an id that the receiver does not know. */
        UNKNOWN_ID,
        /** With the key, with the id of the good sender. */
        ID_OF_ANOTHER,
        RECONNECT,
        GIANT_LISTS,
        /** Numbers of intervals that are far away. */
        WRONG_NUMBERS,
        WRONG_COUNTS,
        /** A whole interval in time, with cells, flows and digests that no sender has. */
        EXTREME_VALUES,
        /** Flows and digests whose hashes fall into one region. */
        AIMED_KEYS,
        SAME_AGAIN,
        SINGLE_OCTETS,
        SEND_TIMES,
        UNASKED_ANSWERS,
        /** Asks and never reads. */
        DEAF
    }

    private static final List<Deed> STRANGE = List.of(Deed.CONNECT, Deed.IDLE, Deed.HALF_HELLO, Deed.JUNK, Deed.WRONG_KEY);
    private static final int MOST_IDLE = 150;
    private static final int AIMED = 300;
    private static final int AIMED_BITS = 10;
    private static final int ALL_BITS = 64;
    private static final int SMALL_BUFFER = 2048;
    private static final int REPEATS = 30;
    private static final long PAUSE_NS = 2_000_000;
    private static final long MOST_PACKETS = 1L << 37;

    private final InetSocketAddress receiver;
    private final SharedKey key;
    private final long goodId;
    private final long liarId;
    private final Map<Deed, Long> done = new ConcurrentHashMap<>(new EnumMap<>(Deed.class));
    private final List<Thread> threads = new ArrayList<>();
    private final Deque<Socket> idle = new ArrayDeque<>();
    private volatile boolean isStopped;
    private volatile Throwable failure;

    /**
     * Peers that begin at once.
     *
     * @param receiver its port.
     * @param key      the shared key.
     * @param goodId   point of a sender that is connected and must not notice.
     * @param liarId   point of a sender that the receiver knows, to be used by a liar.
     * @param seed     of what they do.
     */
    public HostilePeers(
        final InetSocketAddress receiver, final SharedKey key, final long goodId, final long liarId, final long seed) {
        this.receiver = receiver;
        this.key = key;
        this.goodId = goodId;
        this.liarId = liarId;
        final List<Deed> keyed = new ArrayList<>(List.of(Deed.values()));
        keyed.removeAll(STRANGE);
        start("strangers", STRANGE, seed);
        start("liar", keyed, ~seed);
    }

    private void start(final String name, final List<Deed> deeds, final long seed) {
        final Thread thread = new Thread(() -> {
            final SplittableRandom random = new SplittableRandom(seed);
            try {
                for (int i = 0; !isStopped; i++) {
                    final Deed deed = deeds.get(i < deeds.size() ? i : random.nextInt(deeds.size()));
                    try {
                        perform(deed, random);
                    } catch (final IOException ex) {
                        // A receiver may end a connection at any time.
                    }
                    done.merge(deed, 1L, Long::sum);
                    LockSupport.parkNanos(PAUSE_NS);
                }
            } catch (final Throwable ex) {
                failure = ex;
            }
        }, name);
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    /** {@return how often each has been done; fails if one could not be} */
    public Map<Deed, Long> done() {
        if (failure != null) {
            throw new AssertionError("the hostile peers failed", failure);
        }
        return Map.copyOf(done);
    }

    private void perform(final Deed deed, final SplittableRandom random) throws IOException {
        switch (deed) {
            case CONNECT -> connect().close();
            case IDLE -> keep(connect());
            case HALF_HELLO, JUNK -> {
                final byte[] octets = new byte[deed == Deed.JUNK ? 1 + random.nextInt(3000) : 20];
                random.nextBytes(octets);
                final Socket socket = connect();
                if (deed == Deed.HALF_HELLO) {
                    System.arraycopy(new byte[] {'F', 'L', 'G', 'X', 5, 1, 1, 0, 72, 0, 0, 0, 0, 0, 0, 0, 1, 1, 0, 0}, 0,
                        octets, 0, octets.length);
                }
                keep(socket);
                socket.getOutputStream().write(octets);
            }
            case WRONG_KEY -> {
                final byte[] other = new byte[key.octets().length];
                random.nextBytes(other);
                new KeyedPeer(receiver, 0, SharedKey.of(other), liarId, random).close();
            }
            case UNKNOWN_ID -> new KeyedPeer(receiver, 0, key, liarId + 1 + random.nextInt(9), random).close();
            case ID_OF_ANOTHER -> new KeyedPeer(receiver, 0, key, goodId, random).close();
            case RECONNECT -> new KeyedPeer(receiver, 0, key, liarId, random).close();
            default -> lie(deed, random);
        }
    }

    private Socket connect() throws IOException {
        final Socket socket = new Socket();
        socket.connect(receiver, SMALL_BUFFER);
        return socket;
    }

    private void keep(final Socket socket) {
        idle.add(socket);
        if (idle.size() > MOST_IDLE) {
            CloseHelper.quietClose(idle.remove());
        }
    }

    private void lie(final Deed deed, final SplittableRandom random) throws IOException {
        try (KeyedPeer peer = new KeyedPeer(receiver, deed == Deed.DEAF ? SMALL_BUFFER : 0, key, liarId, random)) {
            final ExchangeSettings settings = peer.readSettings();
            final long now = Math.floorDiv(System.currentTimeMillis() * 1_000_000, settings.intervalNs());
            switch (deed) {
                case GIANT_LISTS -> giantLists(peer, settings, now);
                case WRONG_NUMBERS -> {
                    for (final long number : new long[] {Long.MIN_VALUE, -1, 0, now - 10_000, now + 10_000, Long.MAX_VALUE}) {
                        new Interval(settings, number).send(peer, 0);
                    }
                }
                case WRONG_COUNTS -> new Interval(settings, now - 1).send(peer, random.nextInt(1, 9));
                case EXTREME_VALUES -> {
                    for (int i = -2; i < 3; i++) {
                        new Interval(settings, now + i).extreme(random).send(peer, 0);
                    }
                }
                case AIMED_KEYS -> {
                    for (int i = -1; i < 2; i++) {
                        new Interval(settings, now + i).aimed(random).send(peer, 0);
                    }
                }
                case SAME_AGAIN -> {
                    for (int i = 0; i < REPEATS; i++) {
                        new Interval(settings, now - 1).send(peer, 0);
                    }
                }
                case SINGLE_OCTETS -> {
                    for (int i = 0; i < REPEATS; i++) {
                        peer.sendOctets((to) -> PingMessage.encode(to, 0, 1, false));
                    }
                }
                case SEND_TIMES -> sendTimes(peer, random);
                case UNASKED_ANSWERS -> {
                    for (int i = 0; i < REPEATS; i++) {
                        final int id = i;
                        peer.send((to) -> SynopsisMessage.encode(to, 0, id, new UnsafeBuffer(new byte[30_000]), 0));
                    }
                }
                default -> deafen(peer);
            }
        }
    }

    /** Announces the longest lists, and sends a part of them. */
    private static void giantLists(final KeyedPeer peer, final ExchangeSettings settings, final long number)
        throws IOException {
        for (final MessageType type : List.of(MessageType.IN_FLIGHT, MessageType.FLOW_SUMS, MessageType.WITNESS)) {
            peer.send((to) -> {
                final int lengthBytes = IntervalBeginMessage.encode(to, number, settings, peer.receiverInstance());
                IntervalBeginMessage.count(to, MessageType.CELLS, settings.sketchCount());
                IntervalBeginMessage.count(to, type, type == MessageType.IN_FLIGHT ? 40_000_000 : Integer.MAX_VALUE);
                return lengthBytes;
            });
            final UnsafeBuffer entries = type == MessageType.IN_FLIGHT ? new UnsafeBuffer(new byte[REPEATS * 32_768]) :
                flows(new SegmentFlowHash(new SipHash(0, 0)), REPEATS * 400, 0, new SplittableRandom(1));
            final int count = entries.capacity() / IntervalListMessage.entryBytes(type);
            for (int first = 0; first < count; first += IntervalListMessage.mostEntries(type)) {
                final int index = first;
                peer.send((to) -> IntervalListMessage.encode(to, 0, type, number, entries, index));
            }
        }
    }

    private static void sendTimes(final KeyedPeer peer, final SplittableRandom random) throws IOException {
        for (int i = 0; i < REPEATS; i++) {
            peer.send((to) -> {
                for (int entry = 0; entry < SendTimesMessage.MAX_COUNT; entry++) {
                    SendTimesMessage.encodeEntry(to, entry, 1 + random.nextInt(2), random.nextLong(),
                        random.nextLong() >> random.nextInt(ALL_BITS), 1 + random.nextInt(3));
                }
                return SendTimesMessage.encode(to, random.nextLong(1L << 40), SendTimesMessage.MAX_COUNT);
            });
        }
    }

    /** The receiver's answers fill both buffers, and it has to end the connection. */
    private void deafen(final KeyedPeer peer) throws IOException {
        while (!isStopped) {
            peer.send((to) -> PingMessage.encode(to, 0, 1, false));
        }
    }

    /** Flows from chance, or those whose hashes begin with zeros. */
    private static UnsafeBuffer flows(
        final SegmentFlowHash hash, final int count, final int zeroBits, final SplittableRandom random) {
        final UnsafeBuffer octets = new UnsafeBuffer(new byte[count * FlowSum.LENGTH_BYTES]);
        final UnsafeBuffer tuple = new UnsafeBuffer(new byte[FlowKeyLayout.KEY_LENGTH_BYTES]);
        final FlowSums table = FlowSums.ofAll(1);
        for (int i = 0; i < count; i++) {
            long source;
            do {
                source = random.nextLong() & 0xffff_ffffL;
            } while (zeroBits > 0 && hash.flow(4, 17, 1, 2).hash(0, source, 0, 1) >>> ALL_BITS - zeroBits != 0);
            table.clear();
            FlowKeyLayout.ipVersion(tuple, 0, 4);
            FlowKeyLayout.protocol(tuple, 0, 17);
            FlowKeyLayout.sourcePort(tuple, 0, 1);
            FlowKeyLayout.destinationPort(tuple, 0, 2);
            FlowKeyLayout.sourceLow(tuple, 0, source);
            FlowKeyLayout.destinationLow(tuple, 0, 1);
            final int row = table.put(1, zeroBits > 0 ? 1 : 1 + random.nextLong(MOST_PACKETS), random.nextLong(),
                random.nextLong(), random.nextLong(MOST_PACKETS << 17));
            table.key(row, tuple, 0);
            FlowSum.encode(octets, i * FlowSum.LENGTH_BYTES, table, row);
        }
        table.free();
        return octets;
    }

    /** A whole interval, whose cells are those of no packet at first. */
    private static final class Interval {
        private final ExchangeSettings settings;
        private final long number;
        private final List<UnsafeBuffer> images = new ArrayList<>();
        private UnsafeBuffer digests = new UnsafeBuffer(0, 0);
        private UnsafeBuffer flows = new UnsafeBuffer(0, 0);

        private Interval(final ExchangeSettings settings, final long number) {
            this.settings = settings;
            this.number = number;
            for (final ExchangeSettings.SketchPart part : settings.sketches()) {
                final long seed = settings.secrets().sketchSeed();
                final Sketch sketch = part.geometry().family() == SketchFamily.LDS ?
                    new LossyDifferenceSketch(part.geometry(), seed) : new LossyDifferenceAggregator(part.geometry(), seed);
                sketch.begin(number, settings.intervalNs());
                final byte[] image = new byte[sketch.image().length()];
                sketch.image().buffer().getBytes(0, image);
                images.add(new UnsafeBuffer(image));
            }
        }

        private Interval extreme(final SplittableRandom random) {
            for (final UnsafeBuffer image : images) {
                for (int at = ImageDescriptor.PREAMBLE_LENGTH; at < image.capacity(); at += Long.BYTES) {
                    image.putLong(at, random.nextLong() >> random.nextInt(ALL_BITS));
                }
            }
            digests = new UnsafeBuffer(new byte[8 * 1000]);
            random.nextBytes(digests.byteArray());
            flows = flows(new SegmentFlowHash(new SipHash(0, 0)), 200, 0, random);
            return this;
        }

        private Interval aimed(final SplittableRandom random) {
            final SipHash hash = new SipHash(settings.secrets().digestKey0(), settings.secrets().digestKey1());
            flows = flows(new SegmentFlowHash(hash), AIMED, AIMED_BITS, random);
            digests = new UnsafeBuffer(new byte[8 * 8000]);
            for (int i = 0; i < 8000; i++) {
                IntervalListMessage.encodeDigest(digests, i, (i & 1) == 0 ? (long)i << 48 : i);
            }
            return this;
        }

        /** Sends it; so many messages more are announced than come. */
        private void send(final KeyedPeer peer, final int announcedMore) throws IOException {
            final boolean hasSketches = settings.mode() != ExchangeSettings.Mode.FLOWS;
            final MessageType listType = hasSketches ? MessageType.WITNESS : MessageType.FLOW_SUMS;
            peer.send((to) -> {
                final int lengthBytes = IntervalBeginMessage.encode(to, number, settings, peer.receiverInstance());
                IntervalBeginMessage.count(to, MessageType.CELLS, hasSketches ? images.size() : 0);
                IntervalBeginMessage.count(to, MessageType.IN_FLIGHT, digests.capacity() / 8);
                IntervalBeginMessage.count(to, listType, flows.capacity() / FlowSum.LENGTH_BYTES);
                return lengthBytes;
            });
            int messages = 1;
            peer.send((to) -> DropsMessage.encode(to, 0, number, PointDrops.NONE));
            for (int i = 0; hasSketches && i < images.size(); i++) {
                final int index = i;
                final UnsafeBuffer image = images.get(i);
                for (int at = 0; at < image.capacity(); at += CellsMessage.pieceBytes(image.capacity(), at)) {
                    final int offset = at;
                    peer.send((to) -> CellsMessage.encode(to, 0, number, index, image, offset));
                    messages++;
                }
            }
            messages += send(peer, MessageType.IN_FLIGHT, digests) + send(peer, listType, flows);
            final int count = messages + announcedMore;
            peer.send((to) -> IntervalEndMessage.encode(to, 0, number, count));
        }

        private int send(final KeyedPeer peer, final MessageType type, final UnsafeBuffer entries) throws IOException {
            int messages = 0;
            for (int i = 0; i < entries.capacity() / IntervalListMessage.entryBytes(type);
                i += IntervalListMessage.mostEntries(type)) {
                final int first = i;
                peer.send((to) -> IntervalListMessage.encode(to, 0, type, number, entries, first));
                messages++;
            }
            return messages;
        }
    }

    /** Ends them, and their connections; fails if they could not do what they wanted. */
    @Override
    public void close() {
        isStopped = true;
        boolean isInterrupted = false;
        for (final Thread thread : threads) {
            try {
                thread.join();
            } catch (final InterruptedException ex) {
                isInterrupted = true;
            }
        }
        if (isInterrupted) {
            Thread.currentThread().interrupt();
        }
        CloseHelper.quietCloseAll(idle);
        done();
    }
}
