package io.flowlag.common.command;

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
}
