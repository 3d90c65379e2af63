package io.flowlag.exporter.config;

import io.flowlag.exporter.docs.GeneratedDocs;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ConfigReferenceTest {
    private static final Pattern KEY_IN_TEXT = Pattern.compile("`([a-z]+(?:\\.[a-z][a-z0-9-]*)+)(?:[=:][^`]*)?`");
    private static final Pattern KEY_IN_HELP = Pattern.compile("\\b[a-z]+(?:\\.[a-z][a-z0-9-]*)+");
    private static final Pattern FILE_NAME = Pattern.compile("\\.(md|yaml|pcap|ipfix|json|key)$");

    @TempDir
    private Path directory;

    @Test
    void shouldListEveryKeyWithDefaultTypeRangeAndHelp() {
        final List<String> lines = ConfigReference.keyLines();
        final List<ConfigKey<?>> keys = new ArrayList<>(ConfigTable.keys());
        keys.sort(Comparator.comparing(ConfigKey::isExpert));
        assertEquals(keys.size(), lines.size());
        for (int i = 0; i < lines.size(); i++) {
            final ConfigKey<?> key = keys.get(i);
            assertTrue(lines.get(i).startsWith(key.path() + ": "), lines.get(i));
            assertTrue(lines.get(i).contains(" " + key.defaultText() + " "), lines.get(i));
            assertTrue(lines.get(i).contains("  # " + key.syntax() + "; "), lines.get(i));
            assertEquals(key.isExpert(), lines.get(i).contains("; expert. "), lines.get(i));
            final String rule = key.isDerived() ? " With auto: " + key.derivation() + "." : "";
            assertTrue(lines.get(i).endsWith(". " + key.description() + rule), lines.get(i));
        }
        assertTrue(lines.stream().anyMatch((line) -> line.matches(
            "metering.idle-timeout: +15s +# duration, 1ms to 1d; reload\\. A flow without packets for this long ends.*")));
        assertTrue(lines.stream().anyMatch((line) -> line.matches(
            "exporting.rate-limit: +none +# rate in bits/s, 8k to 100g, or none; per destination .udp, tcp, tls.; reload.*")));
    }

    /** The others stand under expert, each with the same name. */
    @Test
    void shouldOfferFewKeysEachWithOneLine() {
        final String[] parts = ExampleConfiguration.yaml().split("(?m)^expert:$");
        assertEquals(2, parts.length);
        final Pattern key = Pattern.compile("(?m)^ *#?([a-z-]+): \\S.*$");
        assertTrue(key.matcher(parts[0]).results().count() <= 60, "keys that a user may want");
        assertEquals(ConfigTable.keys().size(), key.matcher(String.join("", parts)).results().count());
        final List<String> lines = parts[0].lines().toList();
        for (int i = 1; i < lines.size(); i++) {
            if (key.matcher(lines.get(i)).matches()) {
                assertTrue(lines.get(i - 1).matches(" *# [A-Z].*\\."), lines.get(i - 1));
                assertFalse(lines.get(i - 1).isBlank() || i > 1 && lines.get(i - 2).matches(" *# .*[^.]"), lines.get(i));
            }
        }
    }

    @Test
    void shouldTakeKeysInTheSectionExpert() {
        final String text = "expert: {threading: shared, lds: {rows: 3}, exporting: {tls: {peers: [a.b]}}}\n";
        final ExporterConfig config = new ConfigLoader().text("f", text).conclude();
        assertEquals(ExporterConfig.Threading.SHARED, config.threading());
        assertEquals(3, config.lds().shape().rows());
        for (final String twice : List.of("threading: invoker", "lds: {rows: 2}")) {
            final String message = assertThrows(ConfigurationException.class, () ->
                new ConfigLoader().text("f", text + twice).conclude()).getMessage();
            assertTrue(message.contains(": is given twice, first in line 1: leave one out"), message);
        }
    }

    /** What is left to flowlag says what it follows from, where nothing is set and where it is derived from what is set. */
    @Test
    void shouldSayOfEveryDerivedValueWhatItWasDerivedFrom() {
        for (final String text : List.of("{}",
            "segment: {role: receiver}\nexchange: {listen: 127.0.0.1:1}\nrli: {policy: passive}",
            "segment: {ingress: a, egress: b}\nrli: {target: h, capacity: 1m}\nmetering: {cut: 10s, max-flows: 1m}")) {
            final ExporterConfig config = new ConfigLoader().text("f", text).conclude();
            for (final ConfigKey<?> key : ConfigTable.keys()) {
                final boolean isLeft = key.isDerived() && !key.isPerDestination() && config.isDefault(key);
                assertTrue(!isLeft || !config.effectiveValue(key).note().isEmpty(), key.path());
            }
        }
        final List<String> lines = ConfigReference.effectiveLines(new ConfigLoader().text("f", "lds: {enabled: auto}\n" +
            "exporting: {destinations: [udp://h]}").conclude());
        assertTrue(lines.stream().anyMatch((line) ->
            line.matches("lds.enabled: +off +# default \\(auto: on with exchange.listen\\)")), lines::toString);
        assertTrue(lines.stream().anyMatch((line) -> line.matches(
            "exporting.destinations\\[0].options: +off +# default \\(auto: on for tcp, tls and file, off for udp\\)")),
            lines::toString);
    }

    @Test
    void shouldNameOnlyKeysThatExistOnEveryPage() throws IOException {
        final Path docs = GeneratedDocs.directory();
        final List<Path> pages;
        try (Stream<Path> files = Files.walk(docs)) {
            pages = Stream.concat(Stream.of(docs.resolveSibling("README.md")),
                files.filter((file) -> file.toString().endsWith(".md"))).toList();
        }
        int count = 0;
        for (final Path page : pages) {
            for (final MatchResult name : KEY_IN_TEXT.matcher(Files.readString(page)).results().toList()) {
                final String path = name.group(1);
                if (!FILE_NAME.matcher(path).find() && ConfigTable.isSection(path.substring(0, path.indexOf('.')))) {
                    assertTrue(isKeyOrSection(path), page + " names " + path);
                    count++;
                }
            }
        }
        assertTrue(count > 200, "pages name " + count + " keys");
    }

    @Test
    void shouldKeepTheExampleEqualToTheTable() throws IOException {
        GeneratedDocs.assertFile("flowlag.example.yaml", ExampleConfiguration.yaml());
    }

    @Test
    void shouldShipAnExampleThatHoldsAsItStands() {
        final ExporterConfig config = new ConfigLoader().text("example", ExampleConfiguration.yaml()).conclude();
        assertEquals(List.of("eth0"), config.capture().interfaces());
        assertEquals("192.0.2.1", config.exporting().destinations().get(0).address().host());
        assertFalse(config.isDefault(ConfigTable.INTERFACES));
        assertTrue(config.isDefault(ConfigTable.ACTIVE_TIMEOUT));
    }

    @Test
    void shouldShipAnExampleWhoseEveryKeyIsUnderstood() {
        final String everyKey = ExampleConfiguration.yaml().replaceAll("(?m)^( *)#(\\S)", "$1$2");
        final List<String> errors;
        try {
            new ConfigLoader().text("example", everyKey).conclude();
            errors = List.of();
        } catch (final ConfigurationException ex) {
            assertTrue(ex.errors().stream().allMatch((line) -> line.contains("no such file") ||
                line.contains("is for role both") ||
                line.contains("is for segment.role ") ||
                line.contains("clock.file tells it anew") || line.contains("is the clock of one sender")),
                ex.getMessage());
            return;
        }
        assertEquals(List.of("files of the example are missing here"), errors);
    }

    /** What the page on the exchange says of its limits is what the product has. */
    @Test
    void shouldSayTheDefaultsOfTheExchange() throws IOException {
        final String page = Files.readString(GeneratedDocs.directory().resolve("exchange.md"));
        final String memory = ConfigTable.EXCHANGE_MEMORY.plainDefaultText().replace("m", " MiB") + " (`exchange.memory`)";
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
        assertEquals(sender.rli().references().target(), sender.exchange().connect().host());
        assertNotNull(receiver.exchange().keyFile());
        for (final ExporterConfig each : List.of(receiver, sender)) {
            assertEquals(receiver.exchange().keyFile(), each.exchange().keyFile());
            assertEquals(receiver.exchange().keyFile(), each.rli().references().keyFile());
        }
    }

    private ExporterConfig example(final String name) throws IOException {
        return ExamplesTest.load(GeneratedDocs.directory().resolve("examples/" + name + ".yaml"), directory);
    }

    @Test
    void shouldHelpWithEveryKeyInOneShortLine() {
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            final String help = key.description();
            assertTrue(help.matches("[A-Z][^\n]{10,108}\\."), key.path() + ": " + help);
            KEY_IN_HELP.matcher(help).results().map((name) -> name.group())
                .filter((name) -> ConfigTable.isSection(name.substring(0, name.indexOf('.'))))
                .forEach((name) -> assertTrue(isKeyOrSection(name), key.path() + " names " + name));
            assertTrue(key.path().matches("[a-z0-9-]+(\\.[a-z0-9-]+)*"), key.path());
        }
    }

    private static boolean isKeyOrSection(final String path) {
        return ConfigTable.key(path) != null || ConfigTable.isSection(path);
    }
}
