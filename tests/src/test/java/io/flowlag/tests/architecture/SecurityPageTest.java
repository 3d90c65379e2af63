package io.flowlag.tests.architecture;

import io.flowlag.tests.support.Checkout;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The page names tests as proofs, each of which must exist, and says how to report a vulnerability. */
class SecurityPageTest {
    private static final Pattern TEST = Pattern.compile("`([A-Za-z0-9]+Test)`");
    private static final int COLUMNS = 5;

    @Test
    void shouldNameTestsThatExist() throws IOException {
        final String page = Files.readString(Checkout.root().resolve("docs/security.md"));
        final Set<String> named = TEST.matcher(page).results().map((MatchResult each) -> each.group(1))
            .collect(Collectors.toCollection(TreeSet::new));
        assertTrue(named.size() > 20, named::toString);
        named.removeAll(testClasses());
        assertEquals(Set.of(), named);
    }

    @Test
    void shouldHaveWholeRows() throws IOException {
        final List<String> rows = Files.readAllLines(Checkout.root().resolve("docs/security.md")).stream()
            .filter((line) -> line.startsWith("|")).toList();
        assertTrue(rows.size() > 12);
        rows.forEach((row) -> assertEquals(COLUMNS + 1, row.chars().filter((each) -> each == '|').count(), row));
    }

    @Test
    void shouldSayHowToReportAVulnerability() throws IOException {
        final String page = Files.readString(Checkout.root().resolve("docs/security.md"));
        assertTrue(page.contains("[Report a vulnerability](../SECURITY.md)"));
        final String how = Files.readString(Checkout.root().resolve("SECURITY.md")).replaceAll("\\s+", " ");
        assertTrue(how.contains("Report a vulnerability to the maintainers privately"), how);
        assertTrue(how.contains("use the private report form of the place where you got this repository"), how);
    }

    private static Set<String> testClasses() throws IOException {
        final Set<String> names = new TreeSet<>();
        for (final String module : List.of("common", "ipfix", "rli", "sketch", "network", "exporter", "tests")) {
            try (Stream<Path> files = Files.walk(Checkout.root().resolve(module).resolve("src/test/java"))) {
                files.map((each) -> each.getFileName().toString()).filter((name) -> name.endsWith("Test.java"))
                    .forEach((name) -> names.add(name.substring(0, name.length() - ".java".length())));
            }
        }
        return names;
    }
}
