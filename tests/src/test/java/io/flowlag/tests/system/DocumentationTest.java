package io.flowlag.tests.system;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Links;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The documents' statements on the program hold. */
class DocumentationTest {
    private static final Pattern DEMO = Pattern.compile("(?s)<!-- demo: .*?```text\\n(.*?)```");
    private static final Pattern COMMAND_LINE = Pattern.compile("(?m)^    (?:sudo )?bin/flowlag ([a-z-]+)(.*)$");
    private static final Pattern OPTION = Pattern.compile("(?<= )--?[a-z][a-z-]*");

    @Test
    void shouldShowTheDemosRealOutputInTheReadme() throws IOException {
        final Command.Result demo = new Flowlag().inThisJvm().run("demo").orFail();
        final List<MatchResult> shown = DEMO.matcher(read(readme())).results().toList();

        assertEquals(1, shown.size());
        assertEquals(shape(shown.get(0).group(1)), shape(demo.output()), "paste the output of bin/flowlag demo into README.md");
    }

    @Test
    void shouldNameOnlyCommandsAndOptionsThatExist() throws IOException {
        for (final Path page : pages()) {
            for (final MatchResult line : COMMAND_LINE.matcher(read(page)).results().toList()) {
                final Command.Result help = new Flowlag().inThisJvm().run(line.group(1), "--help").orFail();
                for (final MatchResult option : OPTION.matcher(line.group(2).replaceAll(" +# .*", "")).results().toList()) {
                    assertTrue(help.output().matches("(?s).*[ ,]" + Pattern.quote(option.group()) + "\\b.*"),
                        page + ": " + line.group());
                }
            }
        }
    }

    @Test
    void shouldListEveryExitCodeOfTheHelpInTheReadmeAndOnThePageOfTroubles() throws IOException {
        final String help = new Flowlag().inThisJvm().run("--help").orFail().output();
        final List<String> codes = Pattern.compile("\\b(\\d{1,2}) [a-z]").matcher(help.substring(help.indexOf("Exit codes")))
            .results().map((code) -> "| " + code.group(1) + " | ").toList();

        assertFalse(codes.isEmpty());
        for (final Path page : List.of(readme(), Checkout.root().resolve("docs/troubleshooting.md"))) {
            final String text = read(page);
            codes.forEach((code) -> assertTrue(text.contains(code), page + " lacks " + code));
        }
    }

    @Test
    void shouldLinkToFilesAndHeadingsThatExist() throws IOException {
        assertEquals(List.of(), Links.broken(Checkout.root(), pages()));
    }

    @Test
    void shouldWalkThroughFilesThatExist() throws IOException {
        final Path exporter = Checkout.root().resolve("exporter/src/main/java/io/flowlag/exporter");
        final List<String> steps = Pattern.compile("`([\\w/]+\\.java)`")
            .matcher(read(Checkout.root().resolve("docs/packet-path.md"))).results().map((step) -> step.group(1)).toList();

        assertTrue(steps.size() >= 25, steps.toString());
        assertEquals(List.of(), steps.stream()
            .filter((step) -> !Files.exists(exporter.resolve(step)) && !Files.exists(Checkout.root().resolve(step))).toList());
    }

    @Test
    void shouldListEveryPageInTheIndex() throws IOException {
        final String index = read(Checkout.root().resolve("docs/README.md"));
        try (Stream<Path> files = Files.list(Checkout.root().resolve("docs"))) {
            final List<String> names = files.map((file) -> file.getFileName().toString())
                .filter((name) -> !"README.md".equals(name)).filter((name) -> !index.contains("(" + name)).toList();

            assertEquals(List.of(), names);
        }
    }

    /** Only what differs from run to run is left out: the port, and how records fell into messages. */
    private static String shape(final String output) {
        return output.strip().replaceAll("127\\.0\\.0\\.1:\\d+", "127.0.0.1:PORT")
            .replaceAll("\\d+ IPFIX messages", "N IPFIX messages").replaceAll("\\d+ options records", "N options records");
    }

    private static List<Path> pages() throws IOException {
        final List<Path> pages = new ArrayList<>(List.of(readme(), Checkout.root().resolve("ipfix/README.md")));
        try (Stream<Path> files = Files.walk(Checkout.root().resolve("docs"))) {
            files.filter((file) -> file.toString().endsWith(".md")).forEach(pages::add);
        }
        return pages;
    }

    private static Path readme() {
        return Checkout.root().resolve("README.md");
    }

    private static String read(final Path page) throws IOException {
        return Files.readString(page);
    }
}
