package io.flowlag.ipfix.template;

import io.flowlag.ipfix.support.Records;
import org.junit.jupiter.api.Test;

import java.util.Collections;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class TemplateCatalogTest {
    private final TemplateCatalog catalog = new TemplateCatalog(Records.registry(), 4);

    @Test
    void shouldGiveEqualListsEqualIdsFrom256() {
        final Template first = catalog.template("octetDeltaCount", "packetDeltaCount");
        final Template second = catalog.template("packetDeltaCount", "octetDeltaCount");
        assertEquals(256, first.templateId());
        assertEquals(257, second.templateId());
        assertSame(first, catalog.template("octetDeltaCount", "packetDeltaCount"));
        assertEquals(List.of(first, second), catalog.templates());
    }

    @Test
    void shouldTellScopesAndLengthsApart() {
        final Template data = catalog.template("octetDeltaCount", "packetDeltaCount");
        final Template options = catalog.optionsTemplate(1, "octetDeltaCount", "packetDeltaCount");
        final Template reduced =
            catalog.template(0, List.of(catalog.field("octetDeltaCount", 4), catalog.field("packetDeltaCount")));
        assertNotSame(data, options);
        assertTrue(options.isOptions());
        assertEquals(12, reduced.recordLengthBytes());
    }

    @Test
    void shouldRefuseMoreTemplatesThanItsBoundAndCount() {
        final Template first = catalog.template("octetDeltaCount");
        catalog.template("packetDeltaCount");
        catalog.template("protocolIdentifier");
        catalog.template("ipVersion");
        assertNull(catalog.template("flowEndReason"));
        assertNull(catalog.template("flowEndReason"));
        assertSame(first, catalog.template("octetDeltaCount"));
        assertEquals(2, catalog.refusedCount());
    }

    @Test
    void shouldHaveRoomForOptionsTemplatesWhereThoseOfDataHaveTakenTheirs() {
        final TemplateCatalog catalog = new TemplateCatalog(Records.registry(), 1);
        catalog.template("octetDeltaCount");
        assertNull(catalog.template("flowEndReason"));
        final Template options = catalog.optionsTemplate(1, "observationDomainId", "octetDeltaCount");
        assertEquals(257, options.templateId());
        assertNull(catalog.optionsTemplate(1, "observationDomainId", "flowEndReason"));
        assertSame(options, catalog.optionsTemplate(1, "observationDomainId", "octetDeltaCount"));
        assertEquals(2, catalog.refusedCount());
    }

    @Test
    void shouldRefuseWhatNoCollectorCouldTake() {
        final FieldSpecifier field = catalog.field("octetDeltaCount");
        assertThrows(IllegalArgumentException.class, () -> catalog.template(0, Collections.nCopies(61, field)));
        assertEquals(60, catalog.template(0, Collections.nCopies(60, field)).fieldCount());
        assertThrows(IllegalArgumentException.class, () -> catalog.template());
        assertThrows(IllegalArgumentException.class, () -> catalog.template("noSuchElement"));
        assertThrows(IllegalArgumentException.class, () -> catalog.optionsTemplate(0, "octetDeltaCount"));
        assertThrows(IllegalArgumentException.class, () -> catalog.optionsTemplate(2, "octetDeltaCount"));
        assertThrows(IllegalArgumentException.class, () -> catalog.template(0, List.of(catalog.field("interfaceName", 0))));
    }

    @Test
    void shouldRefuseLengthsThatTheTypeForbids() {
        assertThrows(IllegalArgumentException.class, () -> catalog.field("sourceIPv4Address", 3));
        assertThrows(IllegalArgumentException.class, () -> catalog.field("flowStartMilliseconds", 4));
        assertThrows(IllegalArgumentException.class, () -> catalog.field("protocolIdentifier", 2));
        final FieldSpecifier wrong = new FieldSpecifier(catalog.field("sourceIPv4Address").element(), 16);
        assertThrows(IllegalArgumentException.class, () -> catalog.template(0, List.of(wrong)));
        assertEquals(4, catalog.field("testDelaySquareSum", 4).lengthBytes());
    }

    @Test
    void shouldKnowLengthsAndOffsets() {
        final Template template = catalog.template("sourceIPv4Address", "interfaceName", "protocolIdentifier");
        assertTrue(template.isVariableLength());
        assertEquals(Template.VARIABLE, template.recordLengthBytes());
        assertEquals(6, template.minLengthBytes());
        assertEquals(4, template.fieldOffset(1));
        assertEquals(Template.VARIABLE, template.fieldOffset(2));
        assertEquals(2, template.indexOf("protocolIdentifier"));
        assertEquals(-1, template.indexOf("octetDeltaCount"));
        assertEquals("template 256 (sourceIPv4Address[4], interfaceName[variable], protocolIdentifier[1])",
            template.toString());
    }

    @Test
    void shouldRefuseReservedIds() {
        final List<FieldSpecifier> fields = List.of(catalog.field("octetDeltaCount"));
        assertThrows(IllegalArgumentException.class, () -> new Template(255, 0, fields));
        assertThrows(IllegalArgumentException.class, () -> new Template(65536, 0, fields));
        assertThrows(IllegalArgumentException.class, () -> new Template(256, 2, fields));
        assertThrows(IllegalArgumentException.class, () -> new FieldSpecifier(fields.get(0).element(), 65536));
    }
}
