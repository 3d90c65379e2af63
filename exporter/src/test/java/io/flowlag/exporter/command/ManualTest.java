package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

import java.time.LocalDate;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ManualTest {
    private static final LocalDate DATE = LocalDate.of(2026, 1, 2);
    private static final List<String> REQUESTS = List.of(".TH", ".SH", ".SS", ".TP", ".B", ".I", ".RI", ".BR");

    private static String text(final String name) {
        return Manual.text(name, "1.2.3", DATE);
    }

    @Test
    void shouldHaveEveryCommandAndOption() {
        final String page = text("flowlag.1").replace("\\-", "-");
        final CommandLine commands = new Main(new ProcessLauncher(), Terminal.system()).commandLine();
        for (final CommandLine command : commands.getSubcommands().values()) {
            assertTrue(page.contains(".SS flowlag " + command.getCommandName() + "\n"), command.getCommandName());
            command.getCommandSpec().options().forEach((option) ->
                assertTrue(page.contains(".B " + String.join(", ", option.names())), option.longestName()));
        }
        assertTrue(page.startsWith(".TH FLOWLAG 1 2026-01-02 \"flowlag 1.2.3\""), page.substring(0, 80));
        assertTrue(page.contains(".B 78\nconfiguration\n"), "exit codes");
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
        for (final String name : List.of("flowlag.1", "flowlag.yaml.5")) {
            text(name).lines().forEach((line) -> {
                assertTrue(!line.startsWith(".") || REQUESTS.contains(line.split(" ")[0]), line);
                assertTrue(!line.startsWith("'"), line);
                assertTrue(!line.contains("%%") && !line.contains("@|"), line);
            });
        }
    }

    @Test
    void shouldCompleteEveryCommand() {
        final String script = text("completion");
        for (final String command : new Main(new ProcessLauncher(), Terminal.system()).commandLine().getSubcommands().keySet()) {
            assertTrue(script.contains("_picocli_flowlag_" + command.replace("-", "")), command);
        }
        assertEquals(text("completion"), script);
    }

    @Test
    void shouldRefuseOtherNames() {
        assertThrows(IllegalArgumentException.class, () -> text("flowlag.8"));
    }
}
