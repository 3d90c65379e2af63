package io.flowlag.ipfix.session;

import io.flowlag.ipfix.element.DataType;
import io.flowlag.ipfix.element.InformationElement;
import io.flowlag.ipfix.element.Semantics;
import io.flowlag.ipfix.element.Units;
import io.flowlag.ipfix.support.Records;
import io.flowlag.ipfix.support.ScriptedTransport;
import io.flowlag.ipfix.support.StrictParser;
import io.flowlag.ipfix.support.StrictParser.Field;
import io.flowlag.ipfix.support.StrictParser.WireRecord;
import io.flowlag.ipfix.template.Template;
import io.flowlag.ipfix.template.TemplateCatalog;
import io.flowlag.ipfix.transport.TransportKind;
import org.junit.jupiter.api.Test;

import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class OptionsWriterTest {
    private static final long NOW_MS = 1_700_000_000_000L;

    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry());
    private final ScriptedTransport transport = ScriptedTransport.connected(TransportKind.STREAM);
    private final ExportingSession session = new ExportingSession(transport, new SessionSettings(), catalog);
    private final OptionsWriter writer = new OptionsWriter(session, catalog);

    private static InformationElement element(final int id, final DataType type, final Semantics semantics) {
        return new InformationElement(
            Records.DOCUMENTATION_ENTERPRISE, id, "testElement" + id, type, semantics, Units.NANOSECONDS, "Line.");
    }

    private WireRecord only(final int scopeFieldCount, final Integer... elementIds) {
        session.flush(NOW_MS);
        final StrictParser parser = new StrictParser(65535);
        transport.messages().forEach(parser::parse);
        final WireRecord record = parser.records().get(0);
        assertEquals(1, parser.records().size());
        assertEquals(scopeFieldCount, record.template().scopeFieldCount());
        assertEquals(List.of(elementIds),
            record.template().fields().stream().map(Field::elementId).collect(Collectors.toList()));
        return record;
    }

    private static void assertValues(final WireRecord record, final long... values) {
        for (int i = 0; i < values.length; i++) {
            assertEquals(new BigInteger(Long.toUnsignedString(values[i])), new BigInteger(1, record.values().get(i)));
        }
    }

    @Test
    void shouldDescribeAnElementWithAllNineFields() {
        assertTrue(writer.typeInformation(element(5, DataType.UNSIGNED32, Semantics.IDENTIFIER), NOW_MS) > 0);
        final WireRecord record = only(2, 346, 303, 339, 344, 345, 342, 343, 341, 340);
        assertValues(record, 32473, 5, 3, 4, 8, 0, 0xFFFF_FFFFL);
        assertEquals("testElement5", new String(record.values().get(7), StandardCharsets.UTF_8));
        assertEquals("Line.", new String(record.values().get(8), StandardCharsets.UTF_8));
    }

    @Test
    void shouldTellSamplingByChanceWithItsMeanDistance() {
        writer.randomSampling(7, 8, NOW_MS);
        assertValues(only(2, 302, 304, 305, 306, 311), 7, 4, 1, 7, Double.doubleToRawLongBits(0.125));
    }

    @Test
    void shouldTellHowFlowsAreSelected() {
        writer.flowSelection(2, 4, NOW_MS);
        assertValues(only(2, 302, 390, 311), 2, 4, Double.doubleToRawLongBits(0.25));
    }

    @Test
    void shouldGiveTheRangeOfUnsignedTypesAndNoneOfOthers() {
        writer.typeInformation(element(6, DataType.UNSIGNED64, Semantics.DELTA_COUNTER), NOW_MS);
        writer.typeInformation(element(7, DataType.SIGNED64, Semantics.QUANTITY), NOW_MS);
        session.flush(NOW_MS);
        final StrictParser parser = new StrictParser(65535);
        transport.messages().forEach(parser::parse);
        assertValues(parser.records().get(0), 32473, 6, 4, 3, 8, 0, -1);
        assertValues(parser.records().get(1), 32473, 7, 8, 1, 8, 0, 0);
    }

    @Test
    void shouldNotDescribeWhatMustNotBeDescribed() {
        assertThrows(IllegalArgumentException.class,
            () -> writer.typeInformation(Records.registry().element("octetDeltaCount"), NOW_MS));
        assertThrows(IllegalArgumentException.class,
            () -> writer.typeInformation(element(8, DataType.SIGNED64, Semantics.FLAGS), NOW_MS));
        assertThrows(IllegalArgumentException.class,
            () -> writer.typeInformation(element(9, DataType.FLOAT64, Semantics.IDENTIFIER), NOW_MS));
        assertThrows(IllegalArgumentException.class,
            () -> writer.typeInformation(element(9, DataType.STRING, Semantics.QUANTITY), NOW_MS));
    }

    @Test
    void shouldWriteMeteringStatistics() {
        writer.meteringStatistics(0x80000001, 10, 20, 30, NOW_MS);
        assertValues(only(1, 149, 41, 42, 40), 0x80000001L, 10, 20, 30);
    }

    @Test
    void shouldWriteMeteringReliability() {
        writer.between(NOW_MS - 10, NOW_MS).meteringReliability(1, 2, 3, NOW_MS);
        assertValues(only(1, 149, 164, 165, 323, 323), 1, 2, 3, NOW_MS - 10, NOW_MS);
    }

    @Test
    void shouldWriteExportingReliability() {
        writer.between(NOW_MS - 10, NOW_MS).exportingReliability(1, 2, 3, 4, NOW_MS);
        assertValues(only(1, 144, 166, 167, 168, 323, 323), 1, 2, 3, 4, NOW_MS - 10, NOW_MS);
    }

    @Test
    void shouldWriteFlowKeys() {
        final Template described = catalog.template("sourceIPv4Address", "octetDeltaCount");
        writer.flowKeys(described, 1, NOW_MS);
        assertValues(only(1, 145, 173), described.templateId(), 1);
    }

    @Test
    void shouldWriteInterfaceNames() {
        writer.interfaceName(3, "eth0", "up\u00e9 \ud83d\ude00", NOW_MS);
        final WireRecord record = only(1, 10, 82, 83);
        assertEquals("eth0", new String(record.values().get(1), StandardCharsets.UTF_8));
        assertEquals("up\u00e9 \ud83d\ude00", new String(record.values().get(2), StandardCharsets.UTF_8));
    }

    @Test
    void shouldWriteTheTimeWindowOfAFile() {
        writer.timeWindow(NOW_MS - 1000, NOW_MS, NOW_MS);
        assertValues(only(1, 267, 272, 269), 0, NOW_MS - 1000, NOW_MS);
    }

    @Test
    void shouldSayNotSentWhenTheCatalogIsFull() {
        final TemplateCatalog full = new TemplateCatalog(Records.registry(), 1);
        full.optionsTemplate(1, "observationDomainId", "octetDeltaCount");
        final OptionsWriter poor = new OptionsWriter(new ExportingSession(transport, new SessionSettings(), full), full);
        assertEquals(ExportingSession.NOT_SENT, poor.meteringStatistics(1, 2, 3, 4, NOW_MS));
    }
}
