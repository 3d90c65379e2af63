package io.flowlag.exporter.config;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Text generated from {@link ConfigTable}: the shipped example and the lines of {@code check-config}. Stateless. */
public final class ConfigReference {
    /** What the section for experts has. */
    public static final String EXPERT_DESCRIPTION = "Keys that few need: flowlag derives them, or their defaults suit. " +
        "They may also stand outside of expert, in their own sections.";
    private static final int COMMENT_COLUMNS = 100;
    private static final String INDENT = "  ";

    private ConfigReference() {
    }

    /**
     * {@return every key, one line each, those for experts last: key and default, aligned, then type and range, whether it
     * reloads, help, and the rule by which it is derived}
     */
    public static List<String> keyLines() {
        final String format = format(ConfigTable.keys().stream().mapToInt((key) -> key.path().length()).max().orElse(0),
            ConfigTable.keys().stream().mapToInt((key) -> key.defaultText().length()).max().orElse(0));
        return ConfigTable.keys().stream().sorted(Comparator.comparing(ConfigKey::isExpert)).map((key) ->
            String.format(format, key.path() + ":", key.defaultText(), key.syntax() + destinations(key) +
                (key.isReloadable() ? "; reload" : "; restart") + (key.isExpert() ? "; expert" : ""),
                ". " + key.description() + rule(key))).toList();
    }

    /** {@return how a derived value follows from others, as a sentence behind a space; nothing for other keys} */
    public static String rule(final ConfigKey<?> key) {
        return key.isDerived() ? " With auto: " + key.derivation() + "." : "";
    }

    /**
     * {@return the shipped example: every key with its default or an example, those for experts in a section of their own,
     * commented out except for what is needed}
     */
    public static String exampleYaml() {
        final StringBuilder text = new StringBuilder(
            "# flowlag: the keys that you may want, with their defaults or examples. A line with '#' and no space is a key\n" +
            "# that is off; remove the '#' to set it. 'flowlag check-config --all' has types and ranges too.\n");
        for (final String section : ConfigTable.sections()) {
            keys(text.append(ConfigTable.keysOf(section, false).isEmpty() ? "" : "\n"), section, false, "");
        }
        comment(text.append('\n'), "", EXPERT_DESCRIPTION);
        text.append(ConfigLoader.EXPERT).append(":\n");
        ConfigTable.sections().forEach((section) -> keys(text, section, true, INDENT));
        return text.toString();
    }

    /** Appends the keys of a section that are for experts, or the others, below its name. */
    private static void keys(final StringBuilder text, final String section, final boolean isExpert, final String margin) {
        final List<ConfigKey<?>> keys = ConfigTable.keysOf(section, isExpert);
        final String nameIndent = margin + INDENT.repeat((int)section.chars().filter((c) -> c == '.').count());
        final String indent = section.isEmpty() ? margin : nameIndent + INDENT;
        if (!isExpert && !keys.isEmpty()) {
            comment(text, nameIndent, ConfigTable.sectionDescription(section));
        }
        if (!section.isEmpty() && !keys.isEmpty()) {
            text.append(nameIndent).append(section.substring(section.lastIndexOf('.') + 1)).append(":\n");
        }
        for (final ConfigKey<?> key : keys) {
            text.append(indent).append("# ").append(key.description()).append('\n');
            text.append(indent).append(isLive(key) ? "" : "#").append(key.name()).append(": ").append(key.example())
                .append(key.isDerived() ? "  # auto: " + key.derivation() : "").append('\n');
        }
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
