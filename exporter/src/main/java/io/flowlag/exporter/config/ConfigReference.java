package io.flowlag.exporter.config;

import java.util.List;
import java.util.stream.Collectors;

/**
 * What is written about the configuration from {@link ConfigTable} alone: the reference of {@code docs/configuration.md}, the
 * shipped example and the lines of {@code check-config}. Has no state.
 */
public final class ConfigReference {
    private static final int COMMENT_COLUMNS = 100;

    private ConfigReference() {
    }

    /** {@return the reference: a table a section, in Markdown} */
    public static String markdown() {
        final StringBuilder text = new StringBuilder();
        for (final String section : ConfigTable.sections()) {
            text.append(section.isEmpty() ? "### (top)\n\n" : "### `" + section + "`\n\n");
            text.append(ConfigTable.sectionDescription(section)).append("\n\n");
            text.append("| key | value | default | reload | what it does |\n|---|---|---|---|---|\n");
            for (final ConfigKey<?> key : ConfigTable.keysOf(section)) {
                text.append(row(key));
            }
            text.append('\n');
        }
        return text.toString();
    }

    /** {@return the shipped example: every key with its default or an example, commented out but for the least that runs} */
    public static String exampleYaml() {
        final StringBuilder text = new StringBuilder(
            "# flowlag: every key, each with its default or an example. Lines that begin with '#' and no space are\n" +
            "# keys that may be switched on; what is not here has its default. See docs/configuration.md.\n");
        for (final String section : ConfigTable.sections()) {
            final String indent = "  ".repeat((int)section.chars().filter((c) -> c == '.').count() + (section.isEmpty() ? 0 : 1));
            comment(text.append('\n'), indent.isEmpty() ? "" : indent.substring(2), ConfigTable.sectionDescription(section));
            if (!section.isEmpty()) {
                text.append(indent.substring(2)).append(section.substring(section.lastIndexOf('.') + 1)).append(":\n");
            }
            for (final ConfigKey<?> key : ConfigTable.keysOf(section)) {
                comment(text, indent, key.description() + " (" + key.syntax() + ")");
                text.append(indent).append(isLive(key) ? "" :
                    "#").append(key.name()).append(": ").append(key.example()).append('\n');
            }
        }
        return text.toString();
    }

    /**
     * The effective values, one line each: key, value and origin, aligned.
     *
     * @param config concluded.
     */
    public static List<String> effectiveLines(final ExporterConfig config) {
        final int pathColumns = config.effectiveValues().stream().mapToInt((value) -> value.path().length()).max().orElse(0);
        final int textColumns = config.effectiveValues().stream().mapToInt((value) -> value.text().length()).filter((n) -> n <=
            40)
            .max().orElse(0);
        final String format = "%-" + (pathColumns + 1) + "s %-" + textColumns + "s  # %s%s";
        return config.effectiveValues().stream().map((value) -> String.format(format, value.path() + ":", value.text(),
            value.origin(), value.note().isEmpty() ? "" : " (" + value.note() + ")")).toList();
    }

    private static boolean isLive(final ConfigKey<?> key) {
        return key == ConfigTable.INTERFACES || key == ConfigTable.DESTINATIONS;
    }

    private static String row(final ConfigKey<?> key) {
        final String transports = key.isPerDestination() ? " Per destination: " + key.transports().stream()
            .map(ValueTypes::name).collect(Collectors.joining(", ")) + "." : "";
        return "| `" + key.name() + "` | " + escaped(key.syntax()) + " | `" + key.defaultText() + "` | " +
            (key.isReloadable() ? "yes" : "restart: " + key.restartReason().text()) +
            " | " + escaped(key.description()) + transports + " |\n";
    }

    private static String escaped(final String text) {
        return text.replace("|", "\\|").replace("<", "&lt;");
    }

    private static void comment(final StringBuilder text, final String indent, final String sentence) {
        StringBuilder line = new StringBuilder(indent).append('#');
        for (final String word : sentence.split(" ")) {
            if (line.length() + word.length() >= COMMENT_COLUMNS) {
                text.append(line).append('\n');
                line = new StringBuilder(indent).append('#');
            }
            line.append(' ').append(word);
        }
        text.append(line).append('\n');
    }
}
