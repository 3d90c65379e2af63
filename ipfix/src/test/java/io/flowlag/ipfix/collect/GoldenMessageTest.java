package io.flowlag.ipfix.collect;

import org.junit.jupiter.api.Test;

import java.util.List;

import static io.flowlag.ipfix.collect.Octets.message;
import static io.flowlag.ipfix.collect.Octets.octets;
import static io.flowlag.ipfix.collect.Octets.set;
import static io.flowlag.ipfix.collect.Octets.template;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Messages in the manner of RFC 7011 appendix A, written out octet by octet. */
class GoldenMessageTest {
    private final Collection collection = new Collection();
    private final TransportSession session = collection.open(SessionKind.TCP);

    @Test
    void shouldDecodeFixedLengthRecords() {
        final byte[] message = octets().hex(
            "000a 0058 5899 5e07 0000 0000 0000 04d2" +
            "0002 001c 0100 0005 0008 0004 000c 0004 000f 0004 0002 0004 0001 0004" +
            "0100 002c" + "c000 0201 c000 02fe c000 0264 0000 1391 0051 8c81" +
            "c633 6402 cb00 7103 cb00 7104 0000 02ec 0005 ef46").toBytes();

        assertEquals(MessageResult.ACCEPTED, collection.send(session, message));

        assertEquals(List.of(
            "sourceIPv4Address=c0000201 destinationIPv4Address=c00002fe ipNextHopIPv4Address=c0000264 " +
            "packetDeltaCount=00001391 octetDeltaCount=00518c81",
            "sourceIPv4Address=c6336402 destinationIPv4Address=cb007103 ipNextHopIPv4Address=cb007104 " +
            "packetDeltaCount=000002ec octetDeltaCount=0005ef46"), collection.records);
        assertEquals(2, collection.count(CollectorCounter.RECORDS));
        assertEquals(0, collection.count(CollectorCounter.PADDING_NOT_ZERO));
    }

    @Test
    void shouldReadTheHeader() {
        collection.inspection = record -> {
            assertEquals(0x58995e07, record.exportTimeSeconds());
            assertEquals(77, record.sequenceNumber());
            assertEquals(0xfffffffe, record.observationDomainId());
        };
        collection.send(session, message(0x58995e07, 77, 0xfffffffe, set(2, template(256, 4, 1)), set(256, octets().u8(6))));
        assertEquals(1, collection.records.size());
    }

    @Test
    void shouldDecodeEnterpriseElements() {
        final Octets template = octets().u16(257).u16(2).u16(0x8000 | 15).u16(4).u32(32473).u16(2).u16(8);
        collection.inspection = record -> {
            assertEquals(32473, record.enterpriseNumber(0));
            assertEquals(15, record.elementId(0));
            assertNull(record.element(0));
            assertEquals(5009, record.unsigned(1));
        };

        collection.send(session, message(1, 0, 1, set(2, template), set(257, octets().u32(0xdeadbeefL).u64(5009))));

        assertEquals(List.of("32473:15=deadbeef packetDeltaCount=0000000000001391"), collection.records);
    }

    @Test
    void shouldDecodeOptionsRecordsWithPadding() {
        final byte[] message = octets().hex(
            "000a 003c 5899 5e07 0000 0000 0000 0001" +
            "0003 0018 0102 0003 0001 008d 0004 0029 0002 002a 0002 0000" +
            "0102 0014 0000 0001 0159 27d9 0000 0002 02b2" + "4fb2").toBytes();

        assertEquals(MessageResult.ACCEPTED, collection.send(session, message));

        assertEquals(List.of(
            "options lineCardId=00000001 exportedMessageTotalCount=0159 exportedFlowRecordTotalCount=27d9",
            "options lineCardId=00000002 exportedMessageTotalCount=02b2 exportedFlowRecordTotalCount=4fb2"),
            collection.records);
        assertEquals(2, collection.count(CollectorCounter.OPTIONS_RECORDS));
        assertEquals(0, collection.count(CollectorCounter.RECORDS));
    }

    @Test
    void shouldDecodeVariableLengthsInBothForms() {
        final String longText = "x".repeat(1000);
        final Octets records = octets()
            .u8(5).text("hello").u8(6)
            .u8(255).u16(5).text("hallo").u8(17)
            .u8(0).u8(1)
            .u8(255).u16(1000).text(longText).u8(2);

        collection.send(session, message(1, 0, 1, set(2, template(300, 82, 65535, 4, 1)), set(300, records)));

        assertEquals(4, collection.records.size());
        assertEquals("interfaceName=68656c6c6f protocolIdentifier=06", collection.records.get(0));
        assertEquals("interfaceName=68616c6c6f protocolIdentifier=11", collection.records.get(1));
        assertEquals("interfaceName= protocolIdentifier=01", collection.records.get(2));
        assertTrue(collection.records.get(3).endsWith("78 protocolIdentifier=02"));
    }

    @Test
    void shouldAcceptAHeaderAlone() {
        assertEquals(MessageResult.ACCEPTED, collection.send(session, message(1, 0, 1)));
        assertEquals(1, collection.count(CollectorCounter.ACCEPTED));
    }

    @Test
    void shouldKeepTemplatesOfDomainsAndSessionsApart() {
        final TransportSession other = collection.open(SessionKind.TCP);
        collection.send(session, message(1, 0, 1, set(2, template(256, 4, 1))));
        collection.send(session, message(1, 0, 2, set(2, template(256, 5, 1))));
        collection.send(other, message(1, 0, 1, set(2, template(256, 60, 1))));

        collection.send(session, message(1, 0, 1, set(256, octets().u8(1))));
        collection.send(session, message(1, 0, 2, set(256, octets().u8(2))));
        collection.send(other, message(1, 0, 1, set(256, octets().u8(3))));

        assertEquals(
            List.of("protocolIdentifier=01", "ipClassOfService=02", "ipVersion=03"), collection.records);
    }

    @Test
    void shouldSkipAndCountDataWithoutTemplate() {
        assertEquals(MessageResult.ACCEPTED, collection.send(session, message(1, 0, 1,
            set(999, octets().u32(1)), set(2, template(256, 4, 1)), set(256, octets().u8(9)))));
        assertEquals(List.of("protocolIdentifier=09"), collection.records);
        assertEquals(1, collection.count(CollectorCounter.DATA_SETS_WITHOUT_TEMPLATE));
    }

    @Test
    void shouldNameReverseElements() {
        final Octets template = octets().u16(257).u16(1).u16(0x8000 | 2).u16(8).u32(29305);
        collection.send(session, message(1, 0, 1, set(2, template), set(257, octets().u64(3))));
        assertEquals(List.of("reversePacketDeltaCount=0000000000000003"), collection.records);
    }
}
