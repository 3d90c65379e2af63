package io.flowlag.exporter.config;

import java.util.List;

/**
 * A parser of values: one instance for each type and range. Immutable.
 *
 * @param <T> of the value.
 */
final class ValueType<T> {
    private final String syntax;
    private final Parser<String, T> parser;
    private final Parser<List<String>, T> listParser;

    /** Turns what is written into a value; the exception's message names the remedy. */
    interface Parser<I, T> {
        T parse(I written) throws BadValueException;
    }

    private ValueType(final String syntax, final Parser<String, T> parser, final Parser<List<String>, T> listParser) {
        this.syntax = syntax;
        this.parser = parser;
        this.listParser = listParser;
    }

    /**
     * A single value.
     *
     * @param syntax type, range and choices, for the reference and for messages.
     */
    static <T> ValueType<T> of(final String syntax, final Parser<String, T> parser) {
        return new ValueType<>(syntax, parser, null);
    }

    /** A list; a single text is a list of one. */
    static <T> ValueType<T> listOf(final String itemSyntax, final Parser<List<String>, T> parser) {
        return new ValueType<>("list of: " + itemSyntax, (text) -> parser.parse(List.of(text)), parser);
    }

    String syntax() {
        return syntax;
    }

    T parse(final String text) throws BadValueException {
        return parser.parse(text);
    }

    boolean isList() {
        return listParser != null;
    }

    T parseAll(final List<String> texts) throws BadValueException {
        if (listParser == null) {
            throw new BadValueException("is one value, not a list");
        }
        return listParser.parse(texts);
    }
}
