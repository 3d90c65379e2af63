package io.flowlag.common.config;

/** A text that is not a value of its type. The message completes a sentence that begins with {@code key=text: }. */
public final class BadValueException extends Exception {
    private static final long serialVersionUID = 1L;

    public BadValueException(final String message) {
        super(message);
    }
}
