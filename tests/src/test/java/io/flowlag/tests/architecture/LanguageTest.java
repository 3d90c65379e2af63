package io.flowlag.tests.architecture;

import io.flowlag.tests.support.Checkout;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Plain language in pages, and in the comments and strings of the product. */
class LanguageTest {
    private static final int LONGEST_SENTENCE_WORDS = 40;
    private static final int MOST_PAGE_OCTETS = 220 * 1024;
    private static final Pattern PHRASE = Pattern.compile(
        "\\b(nobody|whoever|foresaw|in +vain|(is|are) +told|beside +the|any +more|taken +up)\\b", Pattern.CASE_INSENSITIVE);
    private static final Pattern COMMENT_OR_STRING = Pattern.compile(
        "\"\"\"(?s:.*?)\"\"\"|\"(?:\\\\.|[^\"\\\\\\n])*\"|'(?:\\\\.|[^'\\\\\\n])*'|/\\*(?s:.*?)\\*/|//[^\\n]*");
    private static final Pattern NO_PROSE = Pattern.compile("(?s)```.*?```|(?m)^( {4}|\\t|\\||#|<!--).*$|<[^>]+>|`[^`]*`");
    private static final Pattern SENTENCE_END =
        Pattern.compile("(?<=[.!?:;])\\s+(?=[^a-z])|\\n\\s*\\n|\\n\\s*(?=[-*] |\\d+\\. )");

    @Test
    void shouldUsePlainWordsInPages() throws IOException {
        final List<String> found = new ArrayList<>();
        for (final Path page : pages()) {
            phrases(page, Files.readString(page), 0, found);
        }
        assertEquals(List.of(), found);
    }

    @Test
    void shouldUsePlainWordsInCommentsAndStrings() throws IOException {
        final List<String> found = new ArrayList<>();
        try (Stream<Path> files = Files.walk(Checkout.root())) {
            for (final Path file : files.filter(LanguageTest::isProduct).toList()) {
                final String text = Files.readString(file);
                for (final MatchResult prose : COMMENT_OR_STRING.matcher(text).results().toList()) {
                    final String before = text.substring(0, prose.start());
                    phrases(file, prose.group(), (int)before.lines().count() - 1, found);
                }
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void shouldWriteShortSentencesInPages() throws IOException {
        final List<String> found = new ArrayList<>();
        for (final Path page : pages()) {
            final String prose = NO_PROSE.matcher(Files.readString(page)).replaceAll(" x ");
            for (final String sentence : SENTENCE_END.split(prose)) {
                final long words = Arrays.stream(sentence.split("\\s+")).filter((word) -> !word.isBlank()).count();
                if (words > LONGEST_SENTENCE_WORDS) {
                    found.add(Checkout.root().relativize(page) + ": " + words + " words: " + sentence.strip());
                }
            }
        }
        assertEquals(List.of(), found);
    }

    @Test
    void shouldKeepPagesShort() throws IOException {
        long octets = 0;
        for (final Path page : pages()) {
            octets += page.startsWith(Checkout.root().resolve("docs")) ? Files.size(page) : 0;
        }
        assertTrue(octets <= MOST_PAGE_OCTETS, octets + " octets");
    }

    @Test
    void shouldFindWhatItLooksFor() {
        final List<String> found = new ArrayList<>();
        phrases(Checkout.root().resolve("page"), "First.\n * It is\n * told of Nobody\n * any more.", 0, found);

        assertEquals(List.of("page:2: is told", "page:3: Nobody", "page:4: any more"), found);
    }

    /** A phrase may go over the end of a line of a comment. */
    private static void phrases(final Path file, final String text, final int linesBefore, final List<String> found) {
        for (final MatchResult phrase : PHRASE.matcher(text.replaceAll("[\\s*]", " ")).results().toList()) {
            final long line = text.substring(0, phrase.start()).chars().filter((octet) -> octet == '\n').count();
            found.add(Checkout.root().relativize(file) + ":" + (line + 1 + linesBefore) + ": " +
                phrase.group().replaceAll(" +", " "));
        }
    }

    private static boolean isProduct(final Path file) {
        final String name = Checkout.root().relativize(file).toString();
        return name.endsWith(".java") && name.contains("src/main/") && !name.contains("target/");
    }

    private static List<Path> pages() throws IOException {
        try (Stream<Path> docs = Files.walk(Checkout.root().resolve("docs")); Stream<Path> top = Files.list(Checkout.root())) {
            return Stream.concat(docs, top).filter((file) -> file.toString().endsWith(".md")).toList();
        }
    }
}
