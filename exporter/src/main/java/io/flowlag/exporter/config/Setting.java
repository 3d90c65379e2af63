package io.flowlag.exporter.config;

/**
 * A value that somebody gave, or a default. Immutable.
 *
 * @param note what the reader of the effective values should know besides; may be empty.
 */
record Setting(Object value, String text, Origin origin, String note) {
    Setting(final Object value, final String text, final Origin origin) {
        this(value, text, origin, "");
    }

    static Setting defaultOf(final ConfigKey<?> key) {
        return new Setting(key.defaultValue(), key.defaultText(), Origin.DEFAULT);
    }
}
