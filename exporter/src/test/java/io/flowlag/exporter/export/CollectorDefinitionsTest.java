package io.flowlag.exporter.export;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.flowlag.exporter.docs.GeneratedDocs;
import io.flowlag.ipfix.element.DataType;
import org.junit.jupiter.api.Test;
import org.xml.sax.SAXException;

import javax.xml.parsers.DocumentBuilderFactory;
import javax.xml.parsers.ParserConfigurationException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class CollectorDefinitionsTest {
    private static final String DIRECTORY = "collectors/";

    @Test
    void shouldKeepTheDefinitionFilesEqualToTheElementTable() throws IOException {
        for (final Map.Entry<String, String> file : CollectorDefinitions.files().entrySet()) {
            GeneratedDocs.assertFile(DIRECTORY + file.getKey(), file.getValue());
        }
    }

    @Test
    void shouldShipNoFileThatNobodyMakes() throws IOException {
        final Set<String> expected = new TreeSet<>(CollectorDefinitions.files().keySet());
        expected.add("README.md");
        try (Stream<Path> files = Files.list(GeneratedDocs.directory().resolve(DIRECTORY))) {
            assertEquals(expected, new TreeSet<>(files.map((file) -> file.getFileName().toString()).toList()));
        }
    }

    @Test
    void shouldWriteWellFormedYamlAndXml() throws IOException, ParserConfigurationException, SAXException {
        for (final Map.Entry<String, String> file : CollectorDefinitions.files().entrySet()) {
            if (file.getKey().endsWith(".yaml")) {
                final JsonNode tree = new YAMLMapper().readTree(file.getValue());
                assertTrue(tree.isObject() && !tree.isEmpty(), file.getKey());
            } else if (file.getKey().endsWith(".xml")) {
                DocumentBuilderFactory.newInstance().newDocumentBuilder()
                    .parse(new ByteArrayInputStream(file.getValue().getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    @Test
    void shouldTellEveryCollectorOfEveryElementThatItNeeds() {
        final Map<String, String> files = CollectorDefinitions.files();
        final long enterprise = RecordReference.elementsToDefine().stream().filter((element) -> element.isEnterprise()).count();
        final long all = RecordReference.elementsToDefine().size();
        // Collectors of flow records alone know no octets.
        final long numbers = RecordReference.elementsToDefine().stream()
            .filter((element) -> element.type() != DataType.OCTET_ARRAY).count();

        assertEquals(numbers, count(files, "goflow2-mapping.yaml", "    - field: "));
        assertEquals(enterprise, count(files, "ipfixcol2-flowlag.xml", "    <element>"));
        assertEquals(all - enterprise, count(files, "ipfixcol2-iana.xml", "    <element>"));
        assertEquals(all, count(files, "libfixbuf-elements.xml", "    <record>"));
        assertEquals(numbers, count(files, "nprobe-custom-fields.txt", "PATH_DELAY") +
            count(files, "nprobe-custom-fields.txt", "FLOWLAG"));
        assertEquals(numbers, count(files, "pmacct-primitives.lst", "name="));
        assertEquals(enterprise - (all - numbers), count(files, "telegraf-flowlag.csv", "32473."));
    }

    private static long count(final Map<String, String> files, final String file, final String lineStart) {
        return files.get(file).lines().filter((line) -> line.startsWith(lineStart)).count();
    }
}
