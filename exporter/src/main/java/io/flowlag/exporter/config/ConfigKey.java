package io.flowlag.exporter.config;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One key of the configuration: a row of {@link ConfigTable}. Immutable.
 *
 * @param <T> of its value.
 */
public final class ConfigKey<T> {
    private final String path;
    private final ValueType<T> type;
    private final String defaultText;
    private final String example;
    private final String description;
    private final boolean reloadable;
    private final RestartReason restartReason;
    private final Set<ExporterConfig.Transport> transports;
    private final T defaultValue;

    private ConfigKey(final String path, final ValueType<T> type, final String defaultText, final String example,
        final boolean reloadable, final RestartReason restartReason, final Set<ExporterConfig.Transport> transports,
        final String description) {
        this.path = path;
        this.type = type;
        this.defaultText = defaultText;
        this.example = example;
        this.reloadable = reloadable;
        this.restartReason = restartReason;
        this.transports = transports;
        this.description = description;
        this.defaultValue = parseDefault();
    }

    static <T> ConfigKey<T> of(final String path, final ValueType<T> type, final String defaultText, final String description) {
        return new ConfigKey<>(path, type, defaultText, defaultText, false, null,
            EnumSet.noneOf(ExporterConfig.Transport.class), description);
    }

    ConfigKey<T> reloads() {
        return new ConfigKey<>(path, type, defaultText, example, true, null, transports, description);
    }

    ConfigKey<T> restarts(final RestartReason reason) {
        return new ConfigKey<>(path, type, defaultText, example, false, reason, transports, description);
    }

    ConfigKey<T> example(final String text) {
        return new ConfigKey<>(path, type, defaultText, text, reloadable, restartReason, transports, description);
    }

    /** The same key, which destinations of these transports may also set for themselves. */
    ConfigKey<T> perDestination(final ExporterConfig.Transport first, final ExporterConfig.Transport... others) {
        return new ConfigKey<>(
            path, type, defaultText, example, reloadable, restartReason, EnumSet.of(first, others), description);
    }

    /** {@return the full name, its parts joined by dots} */
    public String path() {
        return path;
    }

    /** {@return the last part of the name} */
    public String name() {
        return path.substring(path.lastIndexOf('.') + 1);
    }

    /** {@return the section, empty at the top} */
    public String section() {
        return path.contains(".") ? path.substring(0, path.lastIndexOf('.')) : "";
    }

    /** {@return the default as text} */
    public String defaultText() {
        return defaultText;
    }

    /** {@return the value in the shipped example} */
    public String example() {
        return example;
    }

    /** {@return the default} */
    public T defaultValue() {
        return defaultValue;
    }

    /** {@return one sentence on what the key does} */
    public String description() {
        return description;
    }

    /** {@return type, range and choices, for people} */
    public String syntax() {
        return type.syntax();
    }

    /** {@return whether a running process applies a new value without a restart} */
    public boolean isReloadable() {
        return reloadable;
    }

    /** {@return why a reload does not apply the key; null if it does} */
    public RestartReason restartReason() {
        return restartReason;
    }

    /** {@return whether a destination may set the key for itself} */
    public boolean isPerDestination() {
        return !transports.isEmpty();
    }

    /** {@return the transports of the destinations that may set the key for themselves} */
    public Set<ExporterConfig.Transport> transports() {
        return transports;
    }

    ValueType<T> type() {
        return type;
    }

    @SuppressWarnings("unchecked")
    T cast(final Object value) {
        return (T)value;
    }

    private T parseDefault() {
        try {
            return type.isList() && "[]".equals(defaultText) ? type.parseAll(List.of()) : type.parse(defaultText);
        } catch (final BadValueException e) {
            throw new IllegalStateException(path + "=" + defaultText + ": " + e.getMessage(), e);
        }
    }

    @Override
    public String toString() {
        return path;
    }
}
