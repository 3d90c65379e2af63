package io.flowlag.common.command;

/** A command ends early: exit code, and one line with the cause and the remedy. */
public class ExitException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    private final ExitCode exitCode;

    /** With one line that names the cause and the remedy. */
    public ExitException(final ExitCode exitCode, final String message) {
        super(message);
        this.exitCode = exitCode;
    }

    /** {@return the exit code} */
    public final ExitCode exitCode() {
        return exitCode;
    }
}
