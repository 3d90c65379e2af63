package io.flowlag.exporter.config;

import io.flowlag.common.config.Origin;

/**
 * An effective value and its origin: one line of {@code check-config}. Immutable.
 *
 * @param path       of the key; for a destination with its index.
 * @param text       of the value, in the syntax of a file.
 * @param note       further information, such as the result of {@code auto}; may be empty.
 * @param reloadable whether a running process applies a new value.
 * @param value      as parsed; different texts may have the same value.
 */
public record EffectiveValue(String path, String text, Origin origin, String note, boolean reloadable, Object value) {
}
