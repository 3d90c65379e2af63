package io.flowlag.exporter.capture;

/**
 * A source could not be opened. The message is one line that names the source and the way out.
 */
public final class CaptureException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it was; the command turns it into an exit code. */
    public enum Kind {
        /** The input is missing, unreadable or of no known format. */
        NO_INPUT,
        /** The input began well and is damaged: nothing could be read from it. */
        DAMAGED,
        /** The process may not do it. */
        NO_PERMISSION,
        /** The filter expression is wrong. */
        BAD_FILTER,
        /** Something that the source needs is not installed. */
        UNAVAILABLE
    }

    private final Kind kind;

    /**
     * A failure.
     *
     * @param message one line that names the source and the way out.
     */
    public CaptureException(final Kind kind, final String message) {
        super(message);
        this.kind = kind;
    }

    /** {@return what kind of failure it was} */
    public Kind kind() {
        return kind;
    }
}
