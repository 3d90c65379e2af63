package io.flowlag.common.config;

import java.util.List;

/**
 * A parser of values: one instance for each type and range. Immutable.
 *
 * @param <T>        of the value.
 * @param syntax     type, range and choices, for people.
 * @param listParser of the items of a list; null if the value is single.
 */
public record ValueType<T>(String syntax, Parser<String, T> parser, Parser<List<String>, T> listParser) {
    /** Turns what is written into a value; the exception's message names the remedy. */
    public interface Parser<I, T> {
        T parse(I written) throws BadValueException;
    }

    /** A single value. The syntax is type, range and choices, for the reference and for messages. */
    public static <T> ValueType<T> of(final String syntax, final Parser<String, T> parser) {
        return new ValueType<>(syntax, parser, null);
    }

    /** A list; a single text is a list of one. */
    public static <T> ValueType<T> listOf(final String itemSyntax, final Parser<List<String>, T> parser) {
        return new ValueType<>("list of: " + itemSyntax, (text) -> parser.parse(List.of(text)), parser);
    }

    public T parse(final String text) throws BadValueException {
        return parser.parse(text);
    }

    public boolean isList() {
        return listParser != null;
    }

    public T parseAll(final List<String> texts) throws BadValueException {
        if (listParser == null) {
            throw new BadValueException("is one value, not a list");
        }
        return listParser.parse(texts);
    }
}
