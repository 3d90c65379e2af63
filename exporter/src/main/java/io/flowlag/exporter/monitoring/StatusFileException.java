package io.flowlag.exporter.monitoring;

/** A status file that cannot be used; the message is one line with the way out. */
public final class StatusFileException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isDamaged;

    /**
     * A failure.
     *
     * @param isDamaged whether the file is there and makes no sense.
     */
    public StatusFileException(final String message, final boolean isDamaged) {
        super(message);
        this.isDamaged = isDamaged;
    }

    /** {@return whether the file is there and makes no sense} */
    public boolean isDamaged() {
        return isDamaged;
    }
}
