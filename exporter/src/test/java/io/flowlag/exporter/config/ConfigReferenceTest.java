package io.flowlag.exporter.config;

import io.flowlag.exporter.docs.GeneratedDocs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ConfigReferenceTest {
    @TempDir
    private Path directory;

    @Test
    void shouldKeepTheReferencePageEqualToTheTable() throws IOException {
        GeneratedDocs.assertSection("configuration.md", "reference", ConfigReference.markdown());
    }

    @Test
    void shouldKeepTheExampleEqualToTheTable() throws IOException {
        GeneratedDocs.assertFile("flowlag.example.yaml", ConfigReference.exampleYaml());
    }

    @Test
    void shouldShipAnExampleThatHoldsAsItStands() {
        final ExporterConfig config = new ConfigLoader().text("example", ConfigReference.exampleYaml()).conclude();
        assertEquals(List.of("eth0"), config.capture().interfaces());
        assertEquals("192.0.2.1", config.exporting().destinations().get(0).host());
        assertFalse(config.isDefault(ConfigTable.INTERFACES));
        assertTrue(config.isDefault(ConfigTable.ACTIVE_TIMEOUT));
    }

    @Test
    void shouldShipAnExampleWhoseEveryKeyIsUnderstood() {
        final String everyKey = ConfigReference.exampleYaml().replaceAll("(?m)^( *)#(\\S)", "$1$2");
        final List<String> errors;
        try {
            new ConfigLoader().text("example", everyKey).conclude();
            errors = List.of();
        } catch (final ConfigurationException e) {
            assertTrue(e.errors().stream().allMatch((line) -> line.contains("no such file") ||
                line.contains("a key without digest") || line.contains("is for role both") ||
                line.contains("is for segment.role ") ||
                line.contains("with clock.source file alone")),
                e.getMessage());
            return;
        }
        assertEquals(List.of("files of the example are missing here"), errors);
    }

    /** What the page on the exchange says of its limits is what the product has. */
    @Test
    void shouldSayTheDefaultsOfTheExchange() throws IOException {
        final String page = Files.readString(GeneratedDocs.directory().resolve("exchange.md"));
        final String memory = ConfigTable.EXCHANGE_MEMORY.defaultText().replace("m", " MiB") + " (`exchange.memory`)";
        assertTrue(page.contains(memory), memory);
        assertFalse(page.contains("64 MiB"), "the default of long ago");
    }

    /** Two files, one key: by them each flow has its delay and loss, as by the two commands. */
    @Test
    void shouldShipExamplesOfTwoHostsThatMeasureTogether() throws IOException {
        final ExporterConfig receiver = example("two-hosts-receiver");
        final ExporterConfig sender = example("two-hosts-sender");
        assertTrue(receiver.lds().enabled() && receiver.reconcile().enabled() && sender.reconcile().enabled());
        assertEquals(receiver.exchange().listen().port(), sender.exchange().connect().port());
        assertEquals(sender.rli().target(), sender.exchange().connect().host());
        assertNotNull(receiver.exchange().keyFile());
        for (final ExporterConfig each : List.of(receiver, sender)) {
            assertEquals(receiver.exchange().keyFile(), each.exchange().keyFile());
            assertEquals(receiver.exchange().keyFile(), each.rli().keyFile());
        }
    }

    private ExporterConfig example(final String name) throws IOException {
        return ExamplesTest.load(GeneratedDocs.directory().resolve("examples/" + name + ".yaml"), directory);
    }

    @Test
    void shouldDescribeEveryKeyInOneParagraph() {
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            assertTrue(key.description().endsWith("."), key.path());
            assertFalse(key.description().contains("\n"), key.path());
            assertTrue(key.path().matches("[a-z0-9-]+(\\.[a-z0-9-]+)*"), key.path());
        }
    }
}
