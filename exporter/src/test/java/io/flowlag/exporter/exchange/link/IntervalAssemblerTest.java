package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.exchange.wire.ExchangeHeader;
import io.flowlag.exporter.exchange.wire.ExchangeResult;
import io.flowlag.exporter.exchange.wire.ExchangeSettings;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Content;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Injection;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.Mode;
import io.flowlag.exporter.exchange.wire.ExchangeSettings.SketchPart;
import io.flowlag.exporter.exchange.wire.ExchangeVerifier;
import io.flowlag.exporter.exchange.wire.IntervalBeginMessage;
import io.flowlag.exporter.exchange.wire.MessageType;
import io.flowlag.exporter.exchange.wire.PointDrops;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import org.agrona.concurrent.SystemNanoClock;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.AbstractList;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages that are each verified, in any order and number: an interval is whole as it was sent, or not taken. */
class IntervalAssemblerTest {
    private static final long NUMBER = 7;
    private static final long RUN = 3;
    private static final int ERROR_ESTIMATE = 0x8587;
    private static final long MOST_LIST_BYTES = 100_000;
    private static final SketchGeometry LDS = SketchGeometry.lds(2, 1500, 1);
    private static final SketchGeometry LDA = SketchGeometry.lda(64, 0, 3);

    private final SettingsSchedule schedule = new SettingsSchedule();
    private final IntervalAssembler assembler =
        new IntervalAssembler(schedule, MOST_LIST_BYTES, ExchangeFixture::room);
    private final HeldSettings held = new HeldSettings(RUN, new ExchangeSettings(1, 0, ExchangeFixture.SECOND_NS, 0,
        new Content(Mode.CELLS, 0, 0), ExchangeFixture.SECRETS, ExchangeFixture.ALL_TRAFFIC, Injection.NONE,
        List.of(new SketchPart(ExchangeSettings.ANY, LDS), new SketchPart(0, LDA))));

    private List<UnsafeBuffer> messages() {
        schedule.add(held);
        final LossyDifferenceAggregator aggregator =
            new LossyDifferenceAggregator(LDA, ExchangeFixture.SEED);
        aggregator.begin(NUMBER, ExchangeFixture.SECOND_NS);
        final EncodedInterval interval = new IntervalEncoder(SystemNanoClock.INSTANCE, new ExchangeCounters())
            .begin(NUMBER, held, PointDrops.NONE).errorEstimate(ERROR_ESTIMATE)
            .sketch(ExchangeFixture.sketch(NUMBER, LDS, 2000).image())
            .sketch(aggregator.image()).list(MessageType.IN_FLIGHT, ExchangeFixture.digests(new long[6000]), 6000)
            .list(MessageType.WITNESS, ExchangeFixture.flows(500), 500).end();
        final List<UnsafeBuffer> messages = new ArrayList<>();
        int lengthBytes;
        for (int offset = 0; offset < interval.lengthBytes(); offset += lengthBytes) {
            lengthBytes = ExchangeHeader.lengthBytes(interval.messages(), offset);
            final byte[] copy = new byte[lengthBytes];
            interval.messages().getBytes(offset, copy);
            messages.add(new UnsafeBuffer(copy));
        }
        return messages;
    }

    /** As a connection does it: whatever is not accepted ends all. */
    private ExchangeResult take(final List<UnsafeBuffer> messages) {
        ExchangeResult result = ExchangeResult.UNEXPECTED;
        for (final UnsafeBuffer message : messages) {
            result = ExchangeVerifier.verify(message, 0, message.capacity());
            if (result == ExchangeResult.ACCEPTED) {
                switch (ExchangeHeader.type(message, 0)) {
                    case INTERVAL_BEGIN -> assembler.begin(message, 0);
                    case INTERVAL_END -> result = assembler.end(message, 0);
                    default -> result = assembler.add(ExchangeHeader.type(message, 0), message, 0);
                }
            }
            if (result != ExchangeResult.ACCEPTED) {
                return result;
            }
        }
        return assembler.isOpen() ? ExchangeResult.INTERVAL : result;
    }

    @Example
    void shouldBeWhole() {
        assertEquals(ExchangeResult.ACCEPTED, take(messages()));
        assertNull(assembler.spoiled(), assembler.spoiledText());
        final ReceivedInterval interval = assembler.interval();
        assertTrue(interval.hasSketches());
        assertEquals(6000, interval.inFlightCount());
        assertEquals(500, interval.witnesses().count());
        assertEquals(500, interval.witnesses().packets(499));
        assertTrue(interval.sketch().contentEquals(ExchangeFixture.sketch(NUMBER, LDS, 2000).image()));
        assertEquals(NUMBER, interval.aggregator(0).intervalNumber());
    }

    /** A connection uses the octets of a message again for later ones. */
    @Example
    void shouldKeepWhatItsFirstMessageSaid() {
        final List<UnsafeBuffer> messages = messages();
        final UnsafeBuffer received = new UnsafeBuffer(new byte[1 << 16]);
        final List<UnsafeBuffer> inOnePlace = new AbstractList<>() {
            @Override
            public UnsafeBuffer get(final int index) {
                received.setMemory(0, received.capacity(), (byte)0xff);
                received.putBytes(0, messages.get(index), 0, messages.get(index).capacity());
                return new UnsafeBuffer(received, 0, messages.get(index).capacity());
            }

            @Override
            public int size() {
                return messages.size();
            }
        };
        assertEquals(ExchangeResult.ACCEPTED, take(inOnePlace));
        assertNull(assembler.spoiled(), assembler.spoiledText());
        assertEquals(ExchangeFixture.SECOND_NS, assembler.intervalNs());
        assertEquals(ERROR_ESTIMATE, assembler.interval().errorEstimate());
    }

    @Example
    void shouldMissEveryMessageThatIsLeftOutOrRepeated() {
        final List<UnsafeBuffer> messages = messages();
        for (int i = 0; i < messages.size(); i++) {
            final List<UnsafeBuffer> without = new ArrayList<>(messages);
            without.remove(i);
            assembler.abandon();
            assertNotEquals(ExchangeResult.ACCEPTED, take(without), "without " + i);
            if (i > 0) {
                final List<UnsafeBuffer> twice = new ArrayList<>(messages);
                twice.add(i, messages.get(i));
                assembler.abandon();
                assertNotEquals(ExchangeResult.ACCEPTED, take(twice), "twice " + i);
            }
        }
    }

    @Property(tries = 60)
    void shouldStandAnyOrderAndAnyChange(@ForAll final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final List<UnsafeBuffer> messages = messages();
        for (int changes = random.nextInt(6); changes > 0; changes--) {
            final int index = random.nextInt(messages.size());
            final UnsafeBuffer message = messages.get(index);
            switch (random.nextInt(3)) {
                case 0 -> messages.add(random.nextInt(messages.size()), messages.remove(index));
                case 1 -> messages.add(random.nextInt(messages.size()), message);
                default -> {
                    final int bodyOffset = random.nextInt(Math.min(200, message.capacity() - ExchangeHeader.LENGTH_BYTES));
                    message.putByte(ExchangeHeader.LENGTH_BYTES + bodyOffset, (byte)random.nextInt(256));
                }
            }
        }
        if (take(messages) == ExchangeResult.ACCEPTED && assembler.spoiled() == null) {
            final ReceivedInterval interval = assembler.interval();
            assertEquals(LDS, interval.sketch().geometry());
            assertEquals(LDA, interval.aggregator(0).geometry());
            assertEquals(assembler.number(), interval.intervalNumber());
            assertEquals(assembler.number(), interval.sketch().intervalNumber());
            assertTrue(interval.inFlightCount() * 8L + interval.witnesses().count() * 72L <= MOST_LIST_BYTES);
        }
    }

    @Example
    void shouldRefuseListsBeyondTheLimitBeforeTheyCome() {
        final List<UnsafeBuffer> messages = messages();
        final UnsafeBuffer begin = new UnsafeBuffer(new byte[100]);
        final int lengthBytes = IntervalBeginMessage.encode(begin, NUMBER, held.settings(), RUN);
        IntervalBeginMessage.count(begin, MessageType.CELLS, 2);
        IntervalBeginMessage.count(begin, MessageType.IN_FLIGHT, Integer.MAX_VALUE);
        messages.set(0, new UnsafeBuffer(begin, 0, lengthBytes));
        assertEquals(ExchangeResult.INTERVAL, take(messages));
        assertEquals(ExchangeResult.INTERVAL, assembler.spoiled());
        assertEquals("octets of digests and flows: sender 17179869176, receiver at most 100000", assembler.spoiledText());
    }
}
