package io.flowlag.common.command;

import java.io.PrintStream;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;

/** A command of a module that is not in {@code flowlag.jar}; found on the class path as a service. */
public interface CommandModule {
    /**
     * What the command line gives a command.
     *
     * @param out     for results.
     * @param message takes lines for standard error.
     * @param stop    whether the process must end; polled several times a second. The first call takes the signals.
     */
    record Surroundings(PrintStream out, Consumer<String> message, BooleanSupplier stop) {
    }

    /** {@return the command's name} */
    String name();

    /** {@return the command, with picocli's annotations; it ends early by an {@link ExitException}} */
    Object command(Surroundings surroundings);
}
