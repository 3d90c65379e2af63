package io.flowlag.exporter.config;

/**
 * A value that holds, and where it came from: one line of {@code check-config}. Immutable.
 *
 * @param path       of the key; for a destination with its index.
 * @param text       of the value, as it may be written in a file.
 * @param note       what the reader should know besides, such as what {@code auto} became; may be empty.
 * @param reloadable whether a running process takes a new value over.
 * @param value      as it was understood: one may be written in several ways.
 */
public record EffectiveValue(String path, String text, Origin origin, String note, boolean reloadable, Object value) {
}
