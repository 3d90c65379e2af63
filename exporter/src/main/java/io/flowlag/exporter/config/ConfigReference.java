package io.flowlag.exporter.config;

import java.util.List;
import java.util.stream.Collectors;

/** Text generated from {@link ConfigTable}: the shipped example and the lines of {@code check-config}. Stateless. */
public final class ConfigReference {
    private static final int COMMENT_COLUMNS = 100;

    private ConfigReference() {
    }

    /** {@return every key, one line each: key and default, aligned, then type and range, whether it reloads, and help} */
    public static List<String> keyLines() {
        final String format = format(ConfigTable.keys().stream().mapToInt((key) -> key.path().length()).max().orElse(0),
            ConfigTable.keys().stream().mapToInt((key) -> key.defaultText().length()).max().orElse(0));
        return ConfigTable.keys().stream().map((key) -> String.format(format, key.path() + ":", key.defaultText(),
            key.syntax() + destinations(key) + (key.isReloadable() ? "; reload" : "; restart"), ". " + key.description()))
            .toList();
    }

    /** {@return the shipped example: every key with its default or an example, commented out except for what is needed} */
    public static String exampleYaml() {
        final StringBuilder text = new StringBuilder(
            "# flowlag: every key with its default or an example. A line with '#' and no space is a key that is off;\n" +
            "# remove the '#' to set it. Keys that are not set have their defaults. See docs/configuration.md.\n");
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

    /** The effective values, one line each: key, value and origin, aligned. */
    public static List<String> effectiveLines(final ExporterConfig config) {
        final int pathColumns = config.effectiveValues().stream().mapToInt((value) -> value.path().length()).max().orElse(0);
        final int textColumns = config.effectiveValues().stream().mapToInt((value) -> value.text().length()).filter((n) -> n <=
            40)
            .max().orElse(0);
        final String format = format(pathColumns, textColumns);
        return config.effectiveValues().stream().map((value) -> String.format(format, value.path() + ":", value.text(),
            value.origin(), value.note().isEmpty() ? "" : " (" + value.note() + ")")).toList();
    }

    private static boolean isLive(final ConfigKey<?> key) {
        return key == ConfigTable.INTERFACES || key == ConfigTable.DESTINATIONS;
    }

    private static String format(final int pathColumns, final int textColumns) {
        return "%-" + (pathColumns + 1) + "s %-" + textColumns + "s  # %s%s";
    }

    private static String destinations(final ConfigKey<?> key) {
        return key.isPerDestination() ? "; per destination (" + key.transports().stream().map(ValueTypes::name)
            .collect(Collectors.joining(", ")) + ")" : "";
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
