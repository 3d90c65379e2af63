package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.terminal.Terminal;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.List;

/**
 * The manual pages and the shell completion of a package, made from the commands and from the table of keys alone, so that they
 * say what this version does. Run by {@code bin/package}, not by the program. Has no state.
 */
public final class Manual {
    private static final int FIRST_SECTION = 1;
    private static final int FILE_FORMATS_SECTION = 5;

    private Manual() {
    }

    /**
     * Prints one of them to standard output.
     *
     * @param arguments {@code flowlag.1}, {@code flowlag.yaml.5} or {@code completion}; then the version and, as YYYY-MM-DD, the
     *                  date that stand on the page.
     */
    public static void main(final String[] arguments) {
        if (arguments.length != 3) {
            throw new IllegalArgumentException("flowlag.1|flowlag.yaml.5|completion VERSION DATE");
        }
        final PrintStream out = new PrintStream(System.out, true, StandardCharsets.UTF_8);
        out.print(text(arguments[0], arguments[1], LocalDate.parse(arguments[2])));
        out.flush();
    }

    static String text(final String name, final String version, final LocalDate date) {
        final CommandLine commands = new Main(new ProcessLauncher(), Terminal.system()).commandLine();
        return switch (name) {
            case "flowlag.1" -> commandsPage(commands.getCommandSpec(), version, date);
            case "flowlag.yaml.5" -> configurationPage(version, date);
            case "completion" -> AutoComplete.bash("flowlag", commands);
            default -> throw new IllegalArgumentException(name + " is neither flowlag.1, flowlag.yaml.5 nor completion");
        };
    }

    private static String commandsPage(final CommandSpec root, final String version, final LocalDate date) {
        final StringBuilder page = new StringBuilder();
        title(page, FIRST_SECTION, "FLOWLAG", version, date);
        section(page, "NAME", "flowlag - " + firstLine(root));
        page.append(".SH SYNOPSIS\n.B flowlag\n.I COMMAND\n.RI [ OPTIONS ]\n");
        section(page, "DESCRIPTION", "flowlag reads packets, from Linux interfaces or capture files, and sends IPFIX flow " +
            "records to any collector. It says for every flow how long its packets took from one point of a network to " +
            "another: the mean, its error bound, the spread, and the loss.");
        page.append(".SH COMMANDS\n");
        root.subcommands().forEach((name, command) -> command(page, name, command.getCommandSpec()));
        page.append(".SH EXIT STATUS\n");
        final String codes = String.join(" ", root.usageMessage().footer()).replace("Exit codes:", "").strip();
        for (final String code : codes.replaceAll("\\.$", "").split(";")) {
            final String[] words = code.strip().split(" ", 2);
            item(page, words[0], words[1]);
        }
        page.append(".SH SIGNALS\n");
        item(page, "SIGTERM, SIGINT", "Every flow is exported, and the process ends with 0.");
        item(page, "SIGHUP",
            "Makes run read its configuration, keys and certificates again, and collect with TLS its key and certificates.");
        item(page, "SIGUSR1", "Writes the counters to the log.");
        page.append(".SH SEE ALSO\n.BR flowlag.yaml (5)\n");
        return page.toString();
    }

    private static void command(final StringBuilder page, final String name, final CommandSpec command) {
        page.append(".SS flowlag ").append(escaped(name)).append('\n').append(paragraph(firstLine(command)));
        command.positionalParameters().forEach((each) -> item(page, each.paramLabel(), sentence(each.description())));
        for (final OptionSpec option : command.options()) {
            final String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
            item(page, String.join(", ", option.names()) + value, sentence(option.description()));
        }
    }

    private static String configurationPage(final String version, final LocalDate date) {
        final StringBuilder page = new StringBuilder();
        title(page, FILE_FORMATS_SECTION, "FLOWLAG.YAML", version, date);
        section(page, "NAME", "flowlag.yaml - configuration of flowlag");
        section(page, "DESCRIPTION", "The file is YAML, read by flowlag run -c FILE and the other commands. A key stands in " +
            "its section; absent keys have their defaults. An unknown key, a value out of its range, or values that " +
            "contradict each other are refused, with the line and a way out: flowlag check-config FILE says so without " +
            "starting anything. A key marked reload may be changed in a running process, by SIGHUP.");
        for (final String name : ConfigTable.sections()) {
            page.append(".SH ").append(name.isEmpty() ? "TOP" : escaped(name)).append('\n')
                .append(paragraph(ConfigTable.sectionDescription(name)));
            for (final ConfigKey<?> key : ConfigTable.keysOf(name)) {
                item(page, key.path() + ": " + key.syntax(), key.description() + " Default: " + key.defaultText() + "." +
                    (key.isReloadable() ? " Reload." : ""));
            }
        }
        page.append(".SH SEE ALSO\n.BR flowlag (1)\n");
        return page.toString();
    }

    private static void title(
        final StringBuilder page, final int section, final String name, final String version, final LocalDate date) {
        page.append(".TH ").append(name).append(' ').append(section).append(' ').append(date).append(" \"flowlag ")
            .append(escaped(version)).append("\" \"User Commands\"\n");
    }

    private static void section(final StringBuilder page, final String name, final String text) {
        page.append(".SH ").append(name).append('\n').append(paragraph(text));
    }

    private static void item(final StringBuilder page, final String name, final String text) {
        page.append(".TP\n.B ").append(escaped(name)).append('\n').append(paragraph(text));
    }

    private static String firstLine(final CommandSpec command) {
        return sentence(command.usageMessage().description());
    }

    /** What picocli would print: a percent sign is written twice in what it is given. */
    private static String sentence(final String[] description) {
        final List<String> lines = new ArrayList<>();
        for (final String line : description) {
            lines.add(line.replace("%%", "%").strip());
        }
        return String.join(" ", lines);
    }

    /** A line that begins with a period or an apostrophe would be a request. */
    private static String paragraph(final String text) {
        final String escaped = escaped(text);
        return (escaped.startsWith(".") || escaped.startsWith("'") ? "\\&" : "") + escaped + "\n";
    }

    private static String escaped(final String text) {
        return text.replace("\\", "\\e").replace("-", "\\-").replace("@ |", "@|");
    }
}
