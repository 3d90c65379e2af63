package io.flowlag.exporter.config;

import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;

/** Text generated from {@link ConfigTable}: the lines of {@code check-config}. Stateless. */
public final class ConfigReference {
    /** What the section for experts has. */
    public static final String EXPERT_DESCRIPTION = "Keys that few need: flowlag derives them, or their defaults suit. " +
        "They may also stand outside of expert, in their own sections.";

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

    private static String format(final int pathColumns, final int textColumns) {
        return "%-" + (pathColumns + 1) + "s %-" + textColumns + "s  # %s%s";
    }

    private static String destinations(final ConfigKey<?> key) {
        return key.isPerDestination() ? "; per destination (" + key.transports().stream().map(ValueTypes::name)
            .collect(Collectors.joining(", ")) + ")" : "";
    }
}
