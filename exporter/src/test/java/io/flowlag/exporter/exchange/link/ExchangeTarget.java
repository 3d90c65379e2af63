package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeMessagesTest;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.FlowSum;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.exporter.fuzz.Corpus;
import io.flowlag.exporter.fuzz.FuzzTarget;
import io.flowlag.exporter.fuzz.GuardedMemory;
import io.flowlag.sketch.image.SketchGeometry;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * What a peer sends on a connection, in a session and before one: cut into messages, verified, every field read, intervals put
 * together. The connection may end, with a reason that is counted. The input is also verified as one message.
 */
public final class ExchangeTarget implements FuzzTarget {
    private static final long NUMBER = 7;
    private static final long RUN = 3;
    private static final long MOST_LIST_BYTES = 100_000;
    private static final int MAX_BYTES = 6144;
    /** Less memory a connection, so that more inputs fit into a minute. */
    private static final ConnectionLimits SMALL =
        new ConnectionLimits(1, 1, 1, ExchangeHeader.MAX_MESSAGE_BYTES, ExchangeHeader.MAX_MESSAGE_BYTES, 0);
    private static final SketchGeometry GEOMETRY = SketchGeometry.lds(2, 40, 2);

    private final SettingsSchedule schedule = new SettingsSchedule();
    private final IntervalAssembler assembler =
        new IntervalAssembler(schedule, MOST_LIST_BYTES, ExchangeFixture::room);
    private final ExchangeCounters counters = new ExchangeCounters();
    private final GuardedMemory memory = new GuardedMemory(ExchangeHeader.MAX_MESSAGE_BYTES);
    private final byte[] copy = new byte[ExchangeHeader.MAX_MESSAGE_BYTES];
    private final UnsafeBuffer message = new UnsafeBuffer(0, 0);
    private final HeldSettings held = new HeldSettings(RUN, new ExchangeSettings(1, 0, ExchangeFixture.SECOND_NS, 0,
        new Content(Mode.CELLS, 0, 0), ExchangeFixture.SECRETS, ExchangeFixture.ALL_TRAFFIC, Injection.NONE,
        List.of(new SketchPart(ExchangeSettings.ANY, GEOMETRY))));
    private long nowNs = 1;
    private long connections;
    private int messages;
    private int lastResult;

    /** A target. */
    public ExchangeTarget() {
        schedule.add(held);
    }

    /** Octets that have come already; nothing comes after them, and all that is written is taken. */
    private static final class PastChannel implements PeerChannel {
        private final ByteBuffer octets;

        PastChannel(final byte[] octets, final int length) {
            this.octets = ByteBuffer.wrap(octets, 0, length);
        }

        @Override
        public boolean isReady() {
            return true;
        }

        @Override
        public InetSocketAddress remoteAddress() {
            return null;
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public int read(final ByteBuffer target) {
            if (!octets.hasRemaining()) {
                return -1;
            }
            final int count = Math.min(octets.remaining(), target.remaining());
            target.put(octets.slice(octets.position(), count));
            octets.position(octets.position() + count);
            return count;
        }

        @Override
        public int write(final ByteBuffer source) {
            final int count = source.remaining();
            source.position(source.limit());
            return count;
        }

        @Override
        public boolean shutdown() {
            return true;
        }

        @Override
        public int discard() {
            return -1;
        }

        @Override
        public void close() {
            // there is no socket
        }
    }

    @Override
    public List<byte[]> seeds() {
        final List<byte[]> seeds = new ArrayList<>(Corpus.of("exchange"));
        ExchangeMessagesTest.messages().values().stream().filter((each) -> each.capacity() <= MAX_BYTES).forEach((each) -> {
            final byte[] message = new byte[each.capacity()];
            each.getBytes(0, message);
            seeds.add(message);
        });
        final EncodedInterval interval = new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters())
            .begin(NUMBER, held, PointDrops.NONE).sketch(ExchangeFixture.sketch(NUMBER, GEOMETRY, 20).image())
            .list(MessageType.IN_FLIGHT, ExchangeFixture.digests(1, 2), 2)
            .list(MessageType.WITNESS, ExchangeFixture.flows(3), 3).end();
        final byte[] whole = new byte[interval.lengthBytes()];
        interval.messages().getBytes(0, whole);
        seeds.add(whole);
        return seeds;
    }

    @Override
    public int mend(final byte[] octets, final int lengthBytes, final SplittableRandom random) {
        if (lengthBytes > ExchangeHeader.LENGTH_BYTES && random.nextBoolean()) {
            final UnsafeBuffer header = new UnsafeBuffer(octets, 0, lengthBytes);
            final MessageType type = ExchangeHeader.type(header, 0);
            if (type != null && lengthBytes < MAX_BYTES / 2) {
                ExchangeHeader.encode(header, 0, type, lengthBytes - ExchangeHeader.LENGTH_BYTES);
            }
        }
        return lengthBytes;
    }

    @Override
    public long take(final byte[] octets, final int length) {
        connections++;
        messages = 0;
        lastResult = 0;
        assembler.abandon();
        if (length <= copy.length) {
            memory.wrap(message, octets, 0, length);
            ExchangeVerifier.verify(message, 0, length);
        }
        final ExchangeConnection connection = new ExchangeConnection(
            new PastChannel(octets, length), (length & 1) == 0, SMALL, counters, () -> nowNs, nowNs);
        connection.speak((length & 2) == 0 ? ExchangeHeader.OLDEST_VERSION : ExchangeHeader.VERSION);
        if (length % 8 != 0) {
            connection.beginSession(nowNs);
        }
        for (int i = 0; i < MAX_BYTES && !connection.isEnded(); i++) {
            connection.poll(nowNs, this::onMessage);
        }
        if (!connection.isEnded()) {
            throw new AssertionError("all has come and the connection goes on");
        }
        connection.linger(nowNs);
        nowNs++;
        return (long)connection.end().ordinal() << 32 | (long)lastResult << 16 | messages;
    }

    private ExchangeResult onMessage(
        final ExchangeConnection connection, final MessageType type, final DirectBuffer buffer, final int offset) {
        messages++;
        final int lengthBytes = ExchangeHeader.lengthBytes(buffer, offset);
        buffer.getBytes(offset, copy, 0, lengthBytes);
        memory.wrap(message, copy, 0, lengthBytes);
        if (ExchangeVerifier.verify(message, 0, lengthBytes) != ExchangeResult.ACCEPTED) {
            throw new AssertionError(type + " was accepted before");
        }
        ExchangeMessagesTest.read(message);
        final ExchangeResult result = switch (type) {
            case INTERVAL_BEGIN -> {
                assembler.begin(message, 0);
                yield ExchangeResult.ACCEPTED;
            }
            case INTERVAL_END -> assembler.end(message, 0);
            case DROPS, CELLS, IN_FLIGHT, FLOW_SUMS, WITNESS -> assembler.add(type, message, 0);
            default -> ExchangeResult.ACCEPTED;
        };
        lastResult = result.ordinal() << 5 | type.ordinal();
        if (type == MessageType.INTERVAL_END && result == ExchangeResult.ACCEPTED && assembler.spoiled() == null) {
            checkWhole();
        }
        return result;
    }

    private void checkWhole() {
        final ReceivedInterval interval = assembler.interval();
        if (interval.inFlightCount() * 8L + interval.witnesses().count() * (long)FlowSum.LENGTH_BYTES > MOST_LIST_BYTES ||
            !interval.hasSketches() || !GEOMETRY.equals(interval.sketch().geometry())) {
            throw new AssertionError("an interval that does not fit its settings");
        }
        lastResult |= 1 << 12;
    }

    @Override
    public void check() {
        long ended = 0;
        for (final ExchangeCounter each : ExchangeCounter.values()) {
            ended += each.name().startsWith("ENDED_") ? counters.get(each) : 0;
        }
        if (ended != connections) {
            throw new AssertionError(connections + " connections, " + ended + " ends counted");
        }
    }

    @Override
    public int maxInputBytes() {
        return MAX_BYTES;
    }

    @Override
    public long allocationBoundBytes() {
        return 4L << 20;
    }
}
