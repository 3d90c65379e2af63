package io.flowlag.exporter.command;

import io.flowlag.common.command.CommandModule;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Unmatched;

import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.Callable;
import java.util.function.BooleanSupplier;

/** {@code flowlag station} of a package without the station. */
@Command(name = StationCommand.NAME, description = {
    "Receives the records of all exporters of a network and shows where it loses time.",
    "With --config FILE as that says, with --demo of a simulated network. A package of its own: a source tree has it."})
final class StationCommand implements Callable<Integer> {
    /** Name of the command. */
    static final String NAME = "station";

    @Unmatched
    private List<String> arguments = new ArrayList<>();

    private StationCommand() {
    }

    /** {@return the command of the module on the class path, or one that says that there is none} */
    static Object of(final Terminal terminal) {
        return ServiceLoader.load(CommandModule.class).stream().map(ServiceLoader.Provider::get)
            .filter((module) -> NAME.equals(module.name())).findFirst()
            .map((module) -> module.command(new CommandModule.Surroundings(terminal.out(), terminal::message, stop())))
            .orElseGet(StationCommand::new);
    }

    private static BooleanSupplier stop() {
        return new BooleanSupplier() {
            private Signals signals;

            @Override
            public boolean getAsBoolean() {
                if (signals == null) {
                    signals = Signals.install(Signals.HangUp.STOPS);
                }
                return signals.isStopRequested();
            }
        };
    }

    @Override
    public Integer call() {
        throw new ExitException(ExitCode.NO_INPUT,
            "station: it is not part of this package; bin/flowlag station of a source tree has it");
    }
}
