package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigReference;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.terminal.Terminal;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The manual pages and the shell completion of a package, made from the commands and from the table of keys alone, so that they
 * say what this version does. Run by {@code bin/package}, not by the program. Has no state.
 */
public final class Manual {
    private static final int FIRST_SECTION = 1;
    private static final int FILE_FORMATS_SECTION = 5;

    /** Of each command a line that works, and what it does. */
    private static final Map<String, List<String>> EXAMPLES = Map.ofEntries(
        Map.entry("demo", List.of("demo", "Simulates traffic and measures it.")),
        Map.entry("run", List.of("run -i eth0 --export udp://192.0.2.1", "Meters one interface.",
            "run --ingress eth0 --egress eth1 --export udp://192.0.2.1", "Measures the delay of each flow through a router.",
            "run --router eth0,eth1,eth2 --export udp://192.0.2.1", "The same for each pair of interfaces.",
            "run --receiver -i eth0 --key flowlag.key --export udp://192.0.2.1", "One of two hosts, that makes the records.",
            "run --sender 198.51.100.9 -i eth1 --key flowlag.key", "The other.")),
        Map.entry("meter", List.of("meter -r capture.pcap", "Prints a table of flows.",
            "meter -r capture.pcap --export file:flows.ipfix", "Writes them to an IPFIX file.")),
        Map.entry("delay", List.of("delay -s before.pcap -r behind.pcap", "Prints delay and loss of each flow.")),
        Map.entry("collect", List.of("collect", "Receives by UDP on port 4739 of loopback.",
            "collect -r flows.ipfix --format json", "Reads a file.")),
        Map.entry("report", List.of("report -s before.pcap -r behind.pcap", "Writes report.html of delay and loss.",
            "report -o flows.html flows.ipfix", "The same of records.")),
        Map.entry("doctor", List.of("doctor", "Looks at the host and all interfaces.", "doctor eth0 eth1", "At these only.")),
        Map.entry("key", List.of("key flowlag.key", "Makes a key for two hosts.")),
        Map.entry("check-config", List.of("check-config flowlag.yaml", "Checks a file.",
            "check-config --all", "Lists every key.")),
        Map.entry("size", List.of("size --flows 10k --error 5%", "Sizes a sketch.")),
        Map.entry("plan", List.of("plan --network backbone.yaml --points 3 --out plan",
            "Chooses three nodes, and writes the configuration of each exporter.")),
        Map.entry("station", List.of("station --demo", "Shows a simulated network.", "station --config station.yaml",
            "Receives the records of a network.")),
        Map.entry("lab", List.of("lab", "Lists the experiments.")),
        Map.entry("top", List.of("top", "Shows the running process.")),
        Map.entry("flows", List.of("flows --min-delay 5ms", "Lists slow flows.")),
        Map.entry("metrics", List.of("metrics --list", "Lists every metric.")));

    private Manual() {
    }

    /**
     * Writes all of them.
     *
     * @param arguments a directory for {@code flowlag.1}, {@code flowlag-COMMAND.1} of each command, {@code flowlag.yaml.5} and
     *                  {@code completion}; then the version and, as YYYY-MM-DD, the date that stand on the pages.
     * @throws IOException if the directory cannot be written.
     */
    public static void main(final String[] arguments) throws IOException {
        if (arguments.length != 3) {
            throw new IllegalArgumentException("DIRECTORY VERSION DATE");
        }
        for (final Map.Entry<String, String> page : pages(arguments[1], LocalDate.parse(arguments[2])).entrySet()) {
            Files.writeString(Path.of(arguments[0], page.getKey()), page.getValue());
        }
    }

    /** By the name of the file. */
    static Map<String, String> pages(final String version, final LocalDate date) {
        final CommandLine commands = new Main(new ProcessLauncher(), Terminal.system()).commandLine();
        final Map<String, String> pages = new LinkedHashMap<>();
        pages.put("flowlag.1", overview(commands.getCommandSpec(), version, date));
        commands.getSubcommands().forEach((name, command) ->
            pages.put("flowlag-" + name + ".1", commandPage(name, command.getCommandSpec(), version, date)));
        pages.put("flowlag.yaml.5", configurationPage(version, date));
        pages.put("completion", AutoComplete.bash("flowlag", commands));
        return pages;
    }

    /** {@return of a command lines that work, each followed by what it does} */
    static List<String> examples(final String command) {
        return EXAMPLES.get(command);
    }

    private static String overview(final CommandSpec root, final String version, final LocalDate date) {
        final StringBuilder page = new StringBuilder();
        title(page, FIRST_SECTION, "FLOWLAG", version, date);
        section(page, "NAME", "flowlag - " + firstLine(root));
        page.append(".SH SYNOPSIS\n.B flowlag\n.I COMMAND\n.RI [ OPTIONS ]\n");
        section(page, "DESCRIPTION", "flowlag reads packets, from Linux interfaces or capture files, and sends IPFIX flow " +
            "records to any collector. It says for every flow how long its packets took from one point of a network to " +
            "another: the mean, its error bound, the spread, and the loss.");
        page.append(".SH COMMANDS\n");
        root.subcommands().forEach((name, command) -> item(page, "flowlag-" + name + "(1)", firstLine(command.getCommandSpec())));
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

    private static String commandPage(
        final String name, final CommandSpec command, final String version, final LocalDate date) {
        final StringBuilder page = new StringBuilder();
        title(page, FIRST_SECTION, "FLOWLAG-" + name.toUpperCase(Locale.ROOT), version, date);
        section(page, "NAME", "flowlag-" + name + " - " + command.usageMessage().description()[0].replace("%%", "%"));
        page.append(".SH SYNOPSIS\n.B flowlag ").append(escaped(name)).append("\n.RI [ OPTIONS ]\n");
        command.positionalParameters().forEach((each) -> page.append(".I ").append(escaped(each.paramLabel())).append('\n'));
        section(page, "DESCRIPTION", firstLine(command));
        page.append(".SH OPTIONS\n");
        command.positionalParameters().forEach((each) -> item(page, each.paramLabel(), sentence(each.description())));
        for (final OptionSpec option : command.options()) {
            final String value = option.arity().max() == 0 ? "" : "=" + option.paramLabel();
            item(page, String.join(", ", option.names()) + value, sentence(option.description()));
        }
        page.append(".SH EXAMPLES\n");
        final List<String> examples = examples(name);
        for (int i = 0; i < examples.size(); i += 2) {
            item(page, "flowlag " + examples.get(i), examples.get(i + 1));
        }
        page.append(".SH SEE ALSO\n.BR flowlag (1),\n.BR flowlag.yaml (5)\n");
        return page.toString();
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
            final List<ConfigKey<?>> keys = ConfigTable.keysOf(name, false);
            if (!keys.isEmpty()) {
                section(page, name.isEmpty() ? "TOP" : escaped(name), ConfigTable.sectionDescription(name));
                keys.forEach((key) -> item(page, key));
            }
        }
        section(page, "EXPERT", ConfigReference.EXPERT_DESCRIPTION);
        ConfigTable.keys().stream().filter(ConfigKey::isExpert).forEach((key) -> item(page, key));
        page.append(".SH SEE ALSO\n.BR flowlag (1)\n");
        return page.toString();
    }

    private static void item(final StringBuilder page, final ConfigKey<?> key) {
        item(page, key.path() + ": " + key.syntax(), key.description() + " Default: " + key.defaultText() + "." +
            ConfigReference.rule(key) + (key.isReloadable() ? " Reload." : ""));
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
