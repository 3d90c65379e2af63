package io.flowlag.exporter.config;

/** A text that is no value of its type; the message is the rest of a sentence that begins with {@code key=text: }. */
final class BadValueException extends Exception {
    private static final long serialVersionUID = 1L;

    BadValueException(final String message) {
        super(message);
    }
}
