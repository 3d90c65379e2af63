package io.flowlag.exporter.config;

import java.util.List;

/** A configuration that cannot be started: every error in it, one line each, each naming the place, the value and the way out. */
public final class ConfigurationException extends RuntimeException {
    private static final long serialVersionUID = 1L;

    /** What kind of failure it was; the command turns it into an exit code. */
    public enum Kind {
        /** All errors are in options of the command line. */
        USAGE,
        /** The file itself is missing or cannot be read. */
        NO_INPUT,
        /** At least one error is in what the configuration says. */
        CONFIGURATION
    }

    private final Kind kind;
    private final transient List<String> errors;

    /**
     * A refusal.
     *
     * @param errors one line each, at least one.
     */
    public ConfigurationException(final Kind kind, final List<String> errors) {
        super(String.join("\n", errors));
        this.kind = kind;
        this.errors = List.copyOf(errors);
    }

    /** {@return what kind of failure it was} */
    public Kind kind() {
        return kind;
    }

    /** {@return every error, one line each, in the order of the file} */
    public List<String> errors() {
        return errors;
    }
}
