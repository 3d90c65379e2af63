package io.flowlag.exporter.config;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Problems;

import java.util.List;

/** An invalid configuration. Every error is one line that names the place, the value and the remedy. */
public final class ConfigurationException extends ExitException {
    private static final long serialVersionUID = 1L;

    private final transient List<String> errors;

    /** With at least one error: usage if all are in options of the command line, no input if the file cannot be read. */
    private ConfigurationException(final ExitCode exitCode, final List<String> errors) {
        super(exitCode, String.join("\n", errors));
        this.errors = List.copyOf(errors);
    }

    /** Throws the faults, if there are any. */
    public static void throwIfAny(final Problems problems) {
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems.isInputMissing() ? ExitCode.NO_INPUT :
                problems.areOfCommandLine() ? ExitCode.USAGE : ExitCode.CONFIGURATION, problems.lines());
        }
    }

    /** {@return every error, one line each, in the order of the file} */
    public List<String> errors() {
        return errors;
    }
}
