package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import java.time.LocalDate;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ManualTest {
    private static final LocalDate DATE = LocalDate.of(2026, 1, 2);
    private static final List<String> REQUESTS = List.of(".TH", ".SH", ".TP", ".B", ".I", ".RI", ".BR");

    private static String text(final String name) {
        return Manual.pages("1.2.3", DATE).get(name);
    }

    @Test
    void shouldHaveEveryCommandAndOption() {
        final String overview = text("flowlag.1").replace("\\-", "-");
        final CommandLine commands = new Main(new ProcessLauncher(), Terminal.system()).commandLine();
        for (final CommandLine command : commands.getSubcommands().values()) {
            final String name = "flowlag-" + command.getCommandName();
            assertTrue(overview.contains(".B " + name + "(1)\n"), name);
            final String page = text(name + ".1").replace("\\-", "-");
            assertTrue(page.startsWith(".TH " + name.toUpperCase(Locale.ROOT) + " 1 2026-01-02 \"flowlag 1.2.3\""), page);
            command.getCommandSpec().options().forEach((option) ->
                assertTrue(page.contains(".B " + String.join(", ", option.names())), option.longestName()));
        }
        assertTrue(overview.startsWith(".TH FLOWLAG 1 2026-01-02 \"flowlag 1.2.3\""), overview.substring(0, 80));
        assertTrue(overview.contains(".B 78\nconfiguration\n"), "exit codes");
    }

    @Test
    void shouldHaveExamplesThatTheCommandsTake() {
        final CommandLine commands = new Main(new ProcessLauncher(), Terminal.system()).commandLine();
        for (final String name : commands.getSubcommands().keySet()) {
            final List<String> examples = Manual.examples(name);
            for (int i = 0; i < examples.size(); i += 2) {
                final String line = examples.get(i);
                assertTrue(line.startsWith(name), line);
                assertDoesNotThrow(() -> commands.parseArgs(line.split(" ")), line);
            }
        }
    }

    @Test
    void shouldHaveEveryKey() {
        final String page = text("flowlag.yaml.5").replace("\\-", "-");
        for (final ConfigKey<?> key : ConfigTable.keys()) {
            assertTrue(page.contains(".B " + key.path() + ": "), key.path());
        }
    }

    /** What begins with a period by mistake is swallowed; what has a percent sign was once a format. */
    @Test
    void shouldHaveNoStrayRequestAndNoFormat() {
        final Map<String, String> pages = new LinkedHashMap<>(Manual.pages("1.2.3", DATE));
        pages.remove("completion");
        pages.values().forEach((page) -> page.lines().forEach((line) -> {
            assertTrue(!line.startsWith(".") || REQUESTS.contains(line.split(" ")[0]), line);
            assertTrue(!line.startsWith("'"), line);
            assertTrue(!line.contains("%%") && !line.contains("@|"), line);
        }));
    }

    @Test
    void shouldCompleteEveryCommand() {
        final String script = text("completion");
        for (final String command : new Main(new ProcessLauncher(), Terminal.system()).commandLine().getSubcommands().keySet()) {
            assertTrue(script.contains("_picocli_flowlag_" + command.replace("-", "")), command);
        }
        assertEquals(text("completion"), script);
    }
}
