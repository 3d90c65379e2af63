package io.flowlag.ipfix;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The page that maps rules to tests names only existing tests. */
class ConformancePageTest {
    private static final Pattern TEST_NAME = Pattern.compile("should[A-Z][A-Za-z0-9]+");

    @Test
    void shouldNameOnlyTestsThatExist() throws IOException {
        final String page = Files.readString(Path.of("../docs/ipfix-conformance.md"));
        final String sources = sources();
        final Matcher names = TEST_NAME.matcher(page);
        int count = 0;
        while (names.find()) {
            assertTrue(sources.contains("void " + names.group() + "("), "no test is named " + names.group());
            count++;
        }
        assertTrue(count > 40, "the page names " + count + " tests");
    }

    private static String sources() throws IOException {
        try (Stream<Path> files = Files.walk(Path.of("src/test/java"))) {
            final List<Path> java = files.filter(file -> file.toString().endsWith(".java")).collect(Collectors.toList());
            final StringBuilder text = new StringBuilder();
            for (final Path file : java) {
                text.append(Files.readString(file));
            }
            return text.toString();
        }
    }
}
