package io.flowlag.ipfix.collect;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import org.junit.jupiter.api.Test;

import java.util.List;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

/** Elements learned from RFC 5610 type records. */
class TypeInformationTest {
    /** All nine fields: 346, 303 | 339, 344, 345, 342, 343, 341, 340. */
    private static final Octets TYPE_TEMPLATE = set(3, octets().u16(300).u16(9).u16(2)
        .u16(346).u16(4).u16(303).u16(2).u16(339).u16(1).u16(344).u16(1).u16(345).u16(2).u16(342).u16(8).u16(343).u16(8)
        .u16(341).u16(65535).u16(340).u16(65535));
    private static final Octets ENTERPRISE_TEMPLATE = set(2, octets().u16(256).u16(1).u16(0x8000 | 5).u16(8).u32(32473));
    private static final Octets DATA = set(256, octets().u64(-5));

    private final Collection collection = new Collection();
    private final TransportSession session = collection.open(SessionKind.UDP);

    private static Octets type(final int enterpriseNumber, final int elementId, final int dataType, final String name) {
        return set(300, octets().u32(enterpriseNumber).u16(elementId).u8(dataType).u8(1).u16(8).u64(0).u64(-1)
            .u8(name.length()).text(name).u8(4).text("text"));
    }

    private void send(final Octets... sets) {
        assertEquals(MessageResult.ACCEPTED, collection.send(session, message(1, 0, 1, sets)));
    }

    @Test
    void shouldNameElementsThatWereTypedBeforeTheirTemplate() {
        send(TYPE_TEMPLATE, type(32473, 5, 8, "vendorDelay"));
        collection.inspection = record -> {
            assertEquals(-5, record.signed(0));
            assertSame(DataType.SIGNED64, record.element(0).type());
            assertSame(Semantics.QUANTITY, record.element(0).semantics());
            assertSame(Units.NANOSECONDS, record.element(0).units());
            assertEquals("", record.element(0).description(), "could be as long as a message, for each of many elements");
        };
        send(ENTERPRISE_TEMPLATE, DATA);
        assertEquals("vendorDelay=fffffffffffffffb", collection.records.get(1));
        assertEquals(1, collection.count(CollectorCounter.ELEMENTS_LEARNED));
    }

    @Test
    void shouldNameElementsThatWereTypedAfterTheirTemplate() {
        send(ENTERPRISE_TEMPLATE, TYPE_TEMPLATE, DATA);
        send(type(32473, 5, 8, "vendorDelay"));
        send(DATA);
        assertEquals("32473:5=fffffffffffffffb", collection.records.get(0));
        assertEquals("vendorDelay=fffffffffffffffb", collection.records.get(2));
    }

    @Test
    void shouldKeepWhatSessionsLearnApart() {
        send(TYPE_TEMPLATE, type(32473, 5, 8, "vendorDelay"));
        final TransportSession other = collection.open(SessionKind.UDP);
        collection.send(other, message(1, 0, 1, ENTERPRISE_TEMPLATE, DATA));
        assertEquals("32473:5=fffffffffffffffb", collection.records.get(1));
    }

    @Test
    void shouldKeepTheFirstOfTwoThatContradict() {
        send(TYPE_TEMPLATE, type(32473, 5, 8, "vendorDelay"), type(32473, 5, 8, "vendorDelay"));
        send(type(32473, 5, 4, "vendorCount"), ENTERPRISE_TEMPLATE, DATA);
        assertEquals("vendorDelay=fffffffffffffffb", collection.records.get(3));
        assertEquals(1, collection.count(CollectorCounter.ELEMENTS_REFUSED));
    }

    @Test
    void shouldRefuseNamesThatWouldDeceive() {
        final List<String> names = List.of("octetDeltaCount", "", "_options", "a\"b", "a b", "a\u001b[2J", "x".repeat(129));
        send(TYPE_TEMPLATE);
        names.forEach(name -> send(type(32473, 5, 8, name)));
        assertEquals(names.size(), collection.count(CollectorCounter.ELEMENTS_REFUSED));
        assertEquals(0, collection.count(CollectorCounter.ELEMENTS_LEARNED));
    }

    /** As an exporter does that sends elements which everybody knows under a number of its own. */
    @Test
    void shouldLearnAnElementWhoseNameAnotherEnterpriseHasToo() {
        collection.registry.add(
            new InformationElement(1, 5, "vendorDelay", DataType.SIGNED64, Semantics.QUANTITY, Units.NANOSECONDS, ""));
        collection.registry.add(
            new InformationElement(32473, 6, "otherDelay", DataType.SIGNED64, Semantics.QUANTITY, Units.NANOSECONDS, ""));
        send(TYPE_TEMPLATE, type(32473, 5, 8, "otherDelay"), type(32473, 5, 8, "vendorDelay"), ENTERPRISE_TEMPLATE, DATA);
        assertEquals("vendorDelay=fffffffffffffffb", collection.records.get(2));
        assertEquals(1, collection.count(CollectorCounter.ELEMENTS_REFUSED), "a name twice in one enterprise");
    }

    @Test
    void shouldNotLetExportersChangeIanasElements() {
        send(TYPE_TEMPLATE, type(0, 4, 13, "somethingElse"), set(2, Octets.template(256, 4, 1)), set(256, octets().u8(6)));
        assertEquals("protocolIdentifier=06", collection.records.get(1));
    }

    @Test
    void shouldKeepTheFirstOfTwoThatContradictForAnElementThatIanaAddedLater() {
        send(TYPE_TEMPLATE, type(0, 30_000, 8, "newDelay"), type(0, 30_000, 8, "newDelay"));
        send(type(0, 30_000, 4, "newCount"), set(2, Octets.template(256, 30_000, 8)), DATA);
        assertEquals("newDelay=fffffffffffffffb", collection.records.get(3));
        assertEquals(1, collection.count(CollectorCounter.ELEMENTS_LEARNED));
        assertEquals(1, collection.count(CollectorCounter.ELEMENTS_REFUSED));
    }

    @Test
    void shouldBoundWhatIsLearned() {
        send(TYPE_TEMPLATE);
        for (int elementId = 1; elementId <= 2000; elementId++) {
            send(type(32473, elementId, 4, "vendor" + elementId));
        }
        assertEquals(1024, collection.count(CollectorCounter.ELEMENTS_LEARNED));
        assertEquals(2000 - 1024, collection.count(CollectorCounter.ELEMENTS_REFUSED));
    }
}
