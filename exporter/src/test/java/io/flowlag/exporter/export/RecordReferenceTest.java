package io.flowlag.exporter.export;

import io.flowlag.exporter.docs.GeneratedDocs;
import org.junit.jupiter.api.Test;

import java.io.IOException;

class RecordReferenceTest {
    private static final String PAGE = "records.md";

    @Test
    void shouldKeepTheTableOfFieldsEqualToTheEncodersTable() throws IOException {
        GeneratedDocs.assertSection(PAGE, "fields", RecordReference.fields());
    }

    @Test
    void shouldKeepTheTableOfEnterpriseElementsEqualToTheRegistry() throws IOException {
        GeneratedDocs.assertSection(PAGE, "enterprise elements", RecordReference.enterpriseElements());
    }

    @Test
    void shouldKeepTheEndReasonsEqualToTheCode() throws IOException {
        GeneratedDocs.assertSection(PAGE, "end reasons", RecordReference.endReasons());
    }
}
