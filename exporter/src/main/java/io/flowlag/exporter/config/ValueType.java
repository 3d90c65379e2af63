package io.flowlag.exporter.config;

import java.util.List;

/**
 * A parser of values: one instance for each type and range. Immutable.
 *
 * @param <T> of the value.
 */
abstract class ValueType<T> {
    /** Parses a text; the exception's message names the remedy. */
    abstract T parse(String text) throws BadValueException;

    /** Describes type, range and choices, for the reference and for messages. */
    abstract String syntax();

    /** Whether the value is a list; then {@link #parseAll} is used. */
    boolean isList() {
        return false;
    }

    /** Parses the texts of a list. */
    T parseAll(final List<String> texts) throws BadValueException {
        throw new BadValueException("is one value, not a list");
    }
}
