package io.flowlag.exporter.runtime.collect;

/** Collecting could not begin, or ended early. The message is one line with the cause and the remedy. */
public final class CollectException extends Exception {
    private static final long serialVersionUID = 1L;

    /** Kind of failure, with the command's exit code. */
    public enum Kind {
        /** A file was damaged; everything readable was written. */
        DAMAGED(65),
        /** A file is missing or unreadable, or an address is unavailable. */
        NO_INPUT(66),
        /** The records could not be written. */
        CANNOT_WRITE(73),
        /** The process may not bind the address or read the file. */
        NO_PERMISSION(77);

        private final int exitCode;

        Kind(final int exitCode) {
            this.exitCode = exitCode;
        }

        /** {@return the command's exit code} */
        public int exitCode() {
            return exitCode;
        }
    }

    private final Kind kind;

    /**
     * A failure.
     *
     * @param message one line with the cause and the remedy.
     * @param cause   or null.
     */
    public CollectException(final Kind kind, final String message, final Throwable cause) {
        super(message, cause);
        this.kind = kind;
    }

    /** {@return the kind of failure} */
    public Kind kind() {
        return kind;
    }
}
