package io.flowlag.exporter.config;

import java.util.List;

/** The shipped example, generated from {@link ConfigTable}. Stateless. */
final class ExampleConfiguration {
    private static final int COMMENT_COLUMNS = 100;
    private static final String INDENT = "  ";

    private ExampleConfiguration() {
    }

    /**
     * {@return the shipped example: every key with its default or an example, those for experts in a section of their own,
     * commented out except for what is needed}
     */
    static String yaml() {
        final StringBuilder text = new StringBuilder(
            "# flowlag: the keys that you may want, with their defaults or examples. A line with '#' and no space is a key\n" +
            "# that is off; remove the '#' to set it. 'flowlag check-config --all' has types and ranges too.\n");
        for (final String section : ConfigTable.sections()) {
            keys(text.append(ConfigTable.keysOf(section, false).isEmpty() ? "" : "\n"), section, false, "");
        }
        comment(text.append('\n'), "", ConfigReference.EXPERT_DESCRIPTION);
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

    private static boolean isLive(final ConfigKey<?> key) {
        return key == ConfigTable.INTERFACES || key == ConfigTable.DESTINATIONS;
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
