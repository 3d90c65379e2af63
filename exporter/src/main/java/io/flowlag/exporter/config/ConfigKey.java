package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.ValueType;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;

/**
 * One key of the configuration: a row of {@link ConfigTable}. Immutable after the table is made; any thread.
 *
 * @param <T> of its value.
 */
public final class ConfigKey<T> {
    private final String path;
    private final String section;
    private final String name;
    private final ValueType<T> type;
    private final String defaultText;
    private final String description;
    private final T defaultValue;
    private final Set<ExporterConfig.Transport> transports = EnumSet.noneOf(ExporterConfig.Transport.class);
    private String example;
    private String derivation;
    private boolean expert;
    private boolean reloadable;
    private RestartReason restartReason;

    ConfigKey(final String path, final ValueType<T> type, final String defaultText, final String description) {
        this.path = path;
        section = path.contains(".") ? path.substring(0, path.lastIndexOf('.')) : "";
        name = path.substring(path.lastIndexOf('.') + 1);
        this.type = type;
        this.defaultText = defaultText;
        this.description = description;
        example = defaultText;
        try {
            defaultValue = type.isList() && "[]".equals(defaultText) ? type.parseAll(List.of()) : type.parse(defaultText);
        } catch (final BadValueException ex) {
            throw new IllegalStateException(path + "=" + defaultText + ": " + ex.getMessage(), ex);
        }
    }

    ConfigKey<T> reloads() {
        reloadable = true;
        restartReason = null;
        return this;
    }

    ConfigKey<T> restarts(final RestartReason reason) {
        restartReason = reason;
        return this;
    }

    ConfigKey<T> example(final String text) {
        example = text;
        return this;
    }

    /** Without a given value it follows from others by this rule; its default is the value where the rule says nothing else. */
    ConfigKey<T> derived(final String rule) {
        derivation = rule;
        if (example.equals(defaultText) && !ValueTypes.NONE.equals(example)) {
            example = ValueTypes.AUTO;
        }
        return this;
    }

    ConfigKey<T> forExperts() {
        expert = true;
        return this;
    }

    /** Destinations of these transports may set the key for themselves. */
    ConfigKey<T> perDestination(final ExporterConfig.Transport... some) {
        transports.addAll(List.of(some));
        return this;
    }

    /** {@return the full name, its parts joined by dots} */
    public String path() {
        return path;
    }

    /** {@return the last part of the name} */
    public String name() {
        return name;
    }

    /** {@return the section, empty at the top} */
    public String section() {
        return section;
    }

    /** {@return what stands for the default in references: {@code auto} where it is derived} */
    public String defaultText() {
        return isDerived() ? ValueTypes.AUTO : defaultText;
    }

    /** {@return the default as written in a file, where nothing else is derived} */
    String plainDefaultText() {
        return defaultText;
    }

    /** {@return whether the value follows from others unless it is given} */
    public boolean isDerived() {
        return derivation != null;
    }

    /** {@return the rule by which the value follows from others; null if it does not} */
    public String derivation() {
        return derivation;
    }

    /** {@return whether few users set the key} */
    public boolean isExpert() {
        return expert;
    }

    /** {@return the value in the shipped example} */
    public String example() {
        return example;
    }

    public T defaultValue() {
        return defaultValue;
    }

    /** {@return one sentence on what the key does} */
    public String description() {
        return description;
    }

    /** {@return type, range and choices, for people} */
    public String syntax() {
        return type.syntax() + (isAutoAdded() ? ", or auto" : "");
    }

    /** {@return whether a text leaves the value to flowlag, and the type itself has no such word} */
    boolean isLeftToDefault(final String text) {
        return ValueTypes.AUTO.equals(text) && isAutoAdded();
    }

    private boolean isAutoAdded() {
        return isDerived() && !type.syntax().contains(ValueTypes.AUTO);
    }

    /** {@return whether a running process applies a new value without a restart} */
    public boolean isReloadable() {
        return reloadable;
    }

    /** {@return why a reload does not apply the key; null if it does} */
    public RestartReason restartReason() {
        return restartReason;
    }

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

    @Override
    public String toString() {
        return path;
    }
}
