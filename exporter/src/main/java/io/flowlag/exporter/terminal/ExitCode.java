package io.flowlag.exporter.terminal;

import io.flowlag.exporter.capture.CaptureException;

/** Exit codes of the commands, as in sysexits.h. With damaged input, what could be read was exported. */
public enum ExitCode {
    DONE(0),
    USAGE(64),
    DAMAGED_INPUT(65),
    NO_INPUT(66),
    /** A fault of the program. */
    INTERNAL(70),
    CANNOT_WRITE(73),
    NO_PERMISSION(77),
    CONFIGURATION(78);

    private final int number;

    ExitCode(final int number) {
        this.number = number;
    }

    /** {@return the exit status} */
    public int number() {
        return number;
    }

    /** The code for a source that cannot be opened. A bad filter counts as a configuration error: its origin is unknown here. */
    public static ExitCode of(final CaptureException.Kind kind) {
        return switch (kind) {
            case DAMAGED -> DAMAGED_INPUT;
            case NO_PERMISSION -> NO_PERMISSION;
            case BAD_FILTER -> CONFIGURATION;
            case NO_INPUT, UNAVAILABLE -> NO_INPUT;
        };
    }
}
