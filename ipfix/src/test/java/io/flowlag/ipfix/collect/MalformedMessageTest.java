package io.flowlag.ipfix.collect;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.params.provider.Arguments.arguments;

/** A malformed message is refused for its defect and changes nothing. */
class MalformedMessageTest {
    private static final Octets GOOD_TEMPLATE = set(2, template(256, 4, 1));
    private static final Octets OTHER_TEMPLATE = set(2, template(500, 4, 1));

    static Stream<Arguments> malformed() {
        return Stream.of(
            arguments(MessageResult.MESSAGE_LENGTH, new byte[0]),
            arguments(MessageResult.MESSAGE_LENGTH, new byte[] {0, 10, 0}),
            arguments(MessageResult.VERSION, octets().u16(9).u16(16).u32(0).u32(0).u32(0).toBytes()),
            arguments(MessageResult.MESSAGE_LENGTH, octets().u16(10).u16(8).u32(0).toBytes()),
            arguments(MessageResult.MESSAGE_LENGTH, octets().u16(10).u16(17).u32(0).u32(0).u32(1).toBytes()),
            arguments(MessageResult.MESSAGE_LENGTH, octets().u16(10).u16(16).u32(0).u32(0).u32(1).u8(0).toBytes()),
            arguments(MessageResult.SET_LENGTH, message(1, 0, 1, octets().u16(256).u8(0))),
            arguments(MessageResult.SET_LENGTH, message(1, 0, 1, octets().u16(256).u16(3))),
            arguments(MessageResult.SET_LENGTH, message(1, 0, 1, octets().u16(256).u16(0))),
            arguments(MessageResult.SET_LENGTH, message(1, 0, 1, octets().u16(256).u16(9).u32(0))),
            arguments(MessageResult.SET_LENGTH, message(1, 0, 1, OTHER_TEMPLATE, octets().u16(256).u16(65535))),
            arguments(MessageResult.SET_ID, message(1, 0, 1, set(0, octets().u32(0)))),
            arguments(MessageResult.SET_ID, message(1, 0, 1, set(1, octets().u32(0)))),
            arguments(MessageResult.SET_ID, message(1, 0, 1, OTHER_TEMPLATE, set(255, octets().u32(0)))),
            arguments(MessageResult.TEMPLATE_ID, message(1, 0, 1, set(2, template(255, 4, 1)))),
            arguments(MessageResult.TEMPLATE_ID, message(1, 0, 1, set(2, octets().u16(3).u16(0)))),
            arguments(MessageResult.TEMPLATE_CUT, message(1, 0, 1, set(2, octets().u16(256).u16(2).u16(4).u16(1)))),
            arguments(MessageResult.TEMPLATE_CUT, message(1, 0, 1, set(2, octets().u16(256).u16(65535)))),
            arguments(MessageResult.TEMPLATE_CUT,
                message(1, 0, 1, set(2, octets().u16(256).u16(1).u16(0x8001).u16(4).u16(0)))),
            arguments(MessageResult.TEMPLATE_CUT,
                message(1, 0, 1, set(2, octets().u16(256).u16(2).u16(0x8001).u16(4).u32(7)))),
            arguments(MessageResult.TEMPLATE_CUT, message(1, 0, 1, set(3, octets().u16(256).u16(1)))),
            arguments(MessageResult.TEMPLATE_SCOPE,
                message(1, 0, 1, set(3, octets().u16(256).u16(1).u16(0).u16(4).u16(1)))),
            arguments(MessageResult.TEMPLATE_SCOPE,
                message(1, 0, 1, set(3, octets().u16(256).u16(1).u16(2).u16(4).u16(1)))),
            arguments(MessageResult.TEMPLATE_ELEMENT_ID, message(1, 0, 1, set(2, template(256, 0, 1)))),
            arguments(MessageResult.TEMPLATE_ELEMENT_ID,
                message(1, 0, 1, set(2, octets().u16(256).u16(1).u16(0x8000).u16(4).u32(7)))),
            arguments(MessageResult.TEMPLATE_LENGTH, message(1, 0, 1, set(2, template(256, 4, 0)))),
            arguments(MessageResult.TEMPLATE_LENGTH, message(1, 0, 1, set(2, template(256, 82, 65534, 4, 1)))),
            arguments(MessageResult.TEMPLATE_FIELD_COUNT,
                message(1, 0, 1, set(2, octets().u16(256).u16(1025).bytes(new byte[4 * 1025])))),
            arguments(MessageResult.RECORD_CUT, message(1, 0, 1, set(2, template(256, 1, 8)), set(256, octets().u32(0)))),
            arguments(MessageResult.RECORD_CUT,
                message(1, 0, 1, set(2, template(256, 82, 65535)), set(256, octets().u8(2).u8(0)))),
            arguments(MessageResult.RECORD_CUT,
                message(1, 0, 1, set(2, template(256, 82, 65535)), set(256, octets().u8(255)))),
            arguments(MessageResult.RECORD_CUT,
                message(1, 0, 1, set(2, template(256, 82, 65535)), set(256, octets().u8(255).u8(0)))),
            arguments(MessageResult.RECORD_CUT, message(1, 0, 1,
                set(2, template(256, 82, 65535)), set(256, octets().u8(255).u16(65535).u32(0)))),
            arguments(MessageResult.RECORD_CUT, message(1, 0, 1,
                set(2, template(256, 82, 65535, 4, 1, 82, 65535)), set(256, octets().u8(2).u8(0).u8(0)))),
            arguments(MessageResult.RECORD_CUT, message(1, 0, 1,
                set(2, template(256, 82, 65535, 1, 8)), set(256, octets().u8(1).u64(0)))));
    }

    @ParameterizedTest
    @MethodSource("malformed")
    void shouldRefuseAndLeaveEverythingAsItWas(final MessageResult expected, final byte[] malformed) {
        final Collection collection = new Collection();
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, GOOD_TEMPLATE, set(256, octets().u8(1))));

        assertEquals(expected, collection.send(session, malformed));

        assertEquals(1, collection.count(expected.counter()));
        assertEquals(1, CollectorCounter.refused(collection.counters));
        assertEquals(1, session.templateCount());
        assertEquals(1, session.domainCount());
        collection.send(session, message(1, 1, 1, set(256, octets().u8(2)), set(500, octets().u8(2))));
        assertEquals(List.of("protocolIdentifier=01", "protocolIdentifier=02"), collection.records);
        assertEquals(0, collection.count(CollectorCounter.SEQUENCE_GAPS));
        assertEquals(1, collection.count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
    }

    @Test
    void shouldNotWithdrawByARefusedMessage() {
        final Collection collection = new Collection();
        final TransportSession session = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, GOOD_TEMPLATE));
        collection.send(session, message(1, 0, 1, set(2, octets().u16(2).u16(0)), octets().u16(7).u16(4)));
        assertEquals(1, session.templateCount());
        assertEquals(0, collection.count(CollectorCounter.TEMPLATES_WITHDRAWN));
    }

    @Test
    void shouldRefuseEveryCutOfAMessage() {
        final byte[] whole = message(1, 0, 1,
            set(2, template(256, 82, 65535, 4, 1)), set(256, octets().u8(2).u16(0).u8(7)));
        for (int lengthBytes = 0; lengthBytes < whole.length; lengthBytes++) {
            final Collection collection = new Collection();
            final byte[] cut = Arrays.copyOf(whole, lengthBytes);
            assertEquals(MessageResult.MESSAGE_LENGTH, collection.send(collection.open(SessionKind.UDP), cut));
        }
    }

    @Test
    void shouldCountPaddingThatIsNotZero() {
        final Collection collection = new Collection();
        final TransportSession session = collection.open(SessionKind.TCP);
        assertEquals(MessageResult.ACCEPTED, collection.send(session,
            message(1, 0, 1, set(2, template(256, 1, 4)), set(256, octets().u32(5).u8(0).u8(1).u8(0)))));
        assertEquals(1, collection.records.size());
        assertEquals(1, collection.count(CollectorCounter.PADDING_NOT_ZERO));
    }
}
