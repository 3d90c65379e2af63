package io.flowlag.ipfix.collect;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.agrona.concurrent.UnsafeBuffer;

import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Laws that hold whatever arrives: no exception, every message accepted or refused for one reason, every field inside its
 * message, and nothing remembered beyond the limits.
 */
class MutationPropertyTest {
    private static final CollectorLimits LIMITS =
        new CollectorLimits(4, 4, 8, 32, 64, 512, 16, TimeUnit.SECONDS.toNanos(1800), TimeUnit.SECONDS.toNanos(30));
    private static final int MESSAGES_PER_TRY = 20;

    /** Valid messages that between them have every construct. */
    private static final List<byte[]> SEEDS = List.of(
        message(1, 0, 1, set(2, template(256, 8, 4, 12, 4, 7, 2, 11, 2, 4, 1, 1, 8, 2, 8, 152, 8, 153, 8)),
            set(256, octets().bytes(new byte[45]), octets().bytes(new byte[45]), octets().u8(0))),
        message(2, 2, 1, set(2, template(257, 82, 65535, 4, 1, 95, 65535), template(258, 27, 16)),
            set(257, octets().u8(3).text("abc").u8(6).u8(255).u16(300).bytes(new byte[300])),
            set(258, octets().bytes(new byte[32]))),
        message(3, 5, 1, set(2, octets().u16(259).u16(2).u16(0x8000 | 7).u16(8).u32(32473).u16(0x8000 | 1).u16(8).u32(29305)),
            set(259, octets().u64(1).u64(2))),
        message(4, 6, 1, set(3, octets().u16(300).u16(4).u16(2).u16(346).u16(4).u16(303).u16(2).u16(339).u16(1)
            .u16(341).u16(65535)), set(300, octets().u32(32473).u16(7).u8(8).u8(9).text("someDelay"))),
        message(5, 7, 2, set(3, octets().u16(400).u16(2).u16(1).u16(149).u16(4).u16(41).u16(8)),
            set(400, octets().u32(1).u64(5))),
        message(6, 7, 1, set(2, octets().u16(256).u16(0)), set(2, octets().u16(2).u16(0)), set(3, octets().u16(3).u16(0))));

    private final Collection collection = new Collection(LIMITS);
    private final TransportSession[] sessions = {
        collection.open(SessionKind.UDP), collection.open(SessionKind.TCP), collection.open(SessionKind.FILE)};

    @Provide
    Arbitrary<Long> seeds() {
        return Arbitraries.longs();
    }

    @Property(tries = 3000)
    void shouldSurviveWhateverIsChanged(@ForAll("seeds") final long seed) {
        final Random random = new Random(seed);
        collection.inspection = MutationPropertyTest::readEveryField;
        for (int i = 0; i < MESSAGES_PER_TRY; i++) {
            collection.nowNs += random.nextLong(TimeUnit.SECONDS.toNanos(600));
            final TransportSession session = sessions[random.nextInt(sessions.length)];
            collection.send(session, mutate(SEEDS.get(random.nextInt(SEEDS.size())), random));
            assertBounded();
        }
        assertEquals(collection.count(CollectorCounter.MESSAGES),
            collection.count(CollectorCounter.ACCEPTED) + CollectorCounter.refused(collection.counters));
        collection.records.clear();
    }

    @Property(tries = 2000)
    void shouldSurviveRandomOctets(@ForAll final byte[] octets) {
        final Octets set = octets().bytes(octets);
        for (final TransportSession session : sessions) {
            collection.send(session, octets);
            collection.send(session, message(1, 0, 1, set));
            collection.send(session, message(1, 0, 1, set(2, set)));
            collection.send(session, message(1, 0, 1, set(3, set)));
            collection.send(session, message(1, 0, 1, set(256, set)));
            assertBounded();
        }
        collection.records.clear();
    }

    /** A stream of the same octets gives the same records however it is cut into pieces. */
    @Property(tries = 300)
    void shouldNotCareHowAStreamIsCut(@ForAll("seeds") final long seed) {
        final Random random = new Random(seed);
        final Octets stream = octets();
        for (final byte[] each : SEEDS) {
            stream.bytes(each);
        }
        final Collection whole = new Collection();
        final TransportSession session = whole.open(SessionKind.TCP);
        SEEDS.forEach(each -> whole.send(session, each));

        final Collection pieces = new Collection();
        final TransportSession cutSession = pieces.open(SessionKind.TCP);
        final MessageAssembler assembler = new MessageAssembler();
        final byte[] octets = stream.toBytes();
        int position = 0;
        while (position < octets.length) {
            final int lengthBytes = Math.min(1 + random.nextInt(random.nextBoolean() ? 5 : 300), octets.length - position);
            assertTrue(assembler.onOctets(new UnsafeBuffer(octets), position, lengthBytes,
                (buffer, offset, length) -> pieces.process.onMessage(cutSession, buffer, offset, length, 0)));
            position += lengthBytes;
        }
        assertEquals(whole.records, pieces.records);
        assertEquals(SEEDS.size(), pieces.count(CollectorCounter.ACCEPTED));
    }

    private static byte[] mutate(final byte[] seed, final Random random) {
        byte[] mutated = seed.clone();
        final int changes = random.nextInt(4);
        for (int i = 0; i < changes; i++) {
            final int at = random.nextInt(mutated.length);
            switch (random.nextInt(4)) {
                case 0 -> mutated[at] = (byte)random.nextInt();
                case 1 -> mutated[at] ^= (byte)(1 << random.nextInt(8));
                case 2 -> mutated[at] = (byte)(random.nextBoolean() ? 0 : -1);
                default -> mutated = Arrays.copyOf(mutated, Math.max(1, mutated.length + random.nextInt(41) - 20));
            }
        }
        if (mutated.length >= 4 && random.nextInt(8) > 0) {
            mutated[0] = 0;
            mutated[1] = 10;
            mutated[2] = (byte)(mutated.length >> 8);
            mutated[3] = (byte)mutated.length;
        }
        return mutated;
    }

    private static void readEveryField(final CollectedRecord record) {
        for (int i = 0; i < record.fieldCount(); i++) {
            record.buffer().boundsCheck(record.fieldOffset(i), record.fieldLengthBytes(i));
            record.unsigned(i);
            record.signed(i);
            record.floating(i);
            record.timestampNs(i);
            record.string(i);
            record.bool(i);
        }
    }

    private void assertBounded() {
        int heldCount = 0;
        for (final TransportSession session : sessions) {
            assertTrue(session.templateCount() <= LIMITS.maxTemplatesPerSession());
            assertTrue(session.domainCount() <= LIMITS.maxDomainsPerSession());
            heldCount += session.heldCount();
        }
        assertEquals(heldCount, collection.process.heldCount());
        assertTrue(heldCount <= LIMITS.maxTemplateFields());
    }
}
