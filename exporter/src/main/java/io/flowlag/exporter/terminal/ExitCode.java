package io.flowlag.exporter.terminal;

import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.config.ConfigurationException;

/** Exit codes of the commands, as in sysexits.h. */
public enum ExitCode {
    /** Done. */
    DONE(0),
    /** The command line is wrong. */
    USAGE(64),
    /** The input is damaged; what could be read was exported. */
    DAMAGED_INPUT(65),
    /** The input is missing or unreadable. */
    NO_INPUT(66),
    /** A fault of the program. */
    INTERNAL(70),
    /** Output cannot be written. */
    CANNOT_WRITE(73),
    /** The system does not permit it. */
    NO_PERMISSION(77),
    /** The configuration is wrong. */
    CONFIGURATION(78);

    private final int number;

    ExitCode(final int number) {
        this.number = number;
    }

    /** {@return the exit status} */
    public int number() {
        return number;
    }

    /**
     * The code for a source that cannot be opened.
     *
     * @param kind of failure; a bad filter counts as a configuration error, because its origin is unknown here.
     */
    public static ExitCode of(final CaptureException.Kind kind) {
        switch (kind) {
            case DAMAGED:
                return DAMAGED_INPUT;
            case NO_PERMISSION:
                return NO_PERMISSION;
            case BAD_FILTER:
                return CONFIGURATION;
            case NO_INPUT:
            case UNAVAILABLE:
            default:
                return NO_INPUT;
        }
    }

    /** The code for an invalid configuration. */
    public static ExitCode of(final ConfigurationException.Kind kind) {
        switch (kind) {
            case USAGE:
                return USAGE;
            case NO_INPUT:
                return NO_INPUT;
            case CONFIGURATION:
            default:
                return CONFIGURATION;
        }
    }
}
