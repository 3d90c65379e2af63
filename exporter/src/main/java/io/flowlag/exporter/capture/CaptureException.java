package io.flowlag.exporter.capture;

/** A source could not be opened. The message is one line with the source and the remedy. */
public final class CaptureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** The kind of failure; the command turns it into an exit code. */
    public enum Kind {
        /** The input is missing, unreadable or of no known format. */
        NO_INPUT,
        /** The input has a valid start but is damaged: nothing could be read from it. */
        DAMAGED,
        /** The process may not do it. */
        NO_PERMISSION,
        /** The filter expression is wrong. */
        BAD_FILTER,
        /** A required library is not installed. */
        UNAVAILABLE
    }

    private final Kind kind;

    /** A failure; the message is one line with the source and the remedy. */
    public CaptureException(final Kind kind, final String message) {
        super(message);
        this.kind = kind;
    }

    /** {@return what kind of failure it was} */
    public Kind kind() {
        return kind;
    }
}
