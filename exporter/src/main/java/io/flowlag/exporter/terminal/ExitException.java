package io.flowlag.exporter.terminal;

/** A command cannot go on: its exit code, and one line that names the thing and the way out. */
public final class ExitException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    /**
     * A failure.
     *
     * @param message one line that names the thing and the way out.
     */
    public ExitException(final ExitCode exitCode, final String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** {@return how the command ends} */
    public ExitCode exitCode() {
        return exitCode;
    }
}
