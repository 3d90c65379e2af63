package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;

/**
 * A given value, or a default. Immutable.
 *
 * @param note for the reader of the effective values; may be empty.
 */
record Setting(Object value, String text, Origin origin, String note) {
    Setting(final Object value, final String text, final Origin origin) {
        this(value, text, origin, "");
    }

    static Setting defaultOf(final ConfigKey<?> key) {
        return new Setting(key.defaultValue(), key.plainDefaultText(), Origin.DEFAULT);
    }
}
