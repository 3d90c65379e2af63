package io.flowlag.exporter.monitoring;

/** An unusable status file; the message is one line with the remedy. */
public final class StatusFileException extends Exception {
    private static final long serialVersionUID = 1L;

    private final boolean isDamaged;

    /**
     * A failure.
     *
     * @param isDamaged whether the file exists and is damaged.
     */
    public StatusFileException(final String message, final boolean isDamaged) {
        super(message);
        this.isDamaged = isDamaged;
    }

    /** {@return whether the file exists and is damaged} */
    public boolean isDamaged() {
        return isDamaged;
    }
}
