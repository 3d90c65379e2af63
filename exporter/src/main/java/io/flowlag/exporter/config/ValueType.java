package io.flowlag.exporter.config;

import java.util.List;

/**
 * How the text of a value is understood: one instance for each type and range. Immutable.
 *
 * @param <T> what the text becomes.
 */
abstract class ValueType<T> {
    /** Turns text into a value; the exception's message names the way out. */
    abstract T parse(String text) throws BadValueException;

    /** What may be written, for the reference and for messages: type, range, choices. */
    abstract String syntax();

    /** Whether the value is a list; then {@link #parseAll} is used. */
    boolean isList() {
        return false;
    }

    /** Turns the texts of a list into one value. */
    T parseAll(final List<String> texts) throws BadValueException {
        throw new BadValueException("is one value, not a list");
    }
}
