package io.flowlag.exporter.config;

import java.util.List;

/** An invalid configuration. Every error is one line that names the place, the value and the remedy. */
public final class ConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** Kind of failure; the command maps it to an exit code. */
    public enum Kind {
        /** All errors are in options of the command line. */
        USAGE,
        /** The file is missing or cannot be read. */
        NO_INPUT,
        /** At least one error is in the configuration's contents. */
        CONFIGURATION
    }

    private final Kind kind;
    private final transient List<String> errors;

    /**
     * Reports the errors.
     *
     * @param errors one line each, at least one.
     */
    public ConfigurationException(final Kind kind, final List<String> errors) {
        super(String.join("\n", errors));
        this.kind = kind;
        this.errors = List.copyOf(errors);
    }

    /** {@return the kind of failure} */
    public Kind kind() {
        return kind;
    }

    /** {@return every error, one line each, in the order of the file} */
    public List<String> errors() {
        return errors;
    }
}
