package io.flowlag.exporter.command;

import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.console.Terminal;
import io.flowlag.exporter.observe.StatusFileReader;
import io.flowlag.exporter.observe.TopView;
import io.flowlag.exporter.process.TopProcess;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

/** {@code flowlag top}. */
@Command(name = "top", description =
    "Shows a running process: health, packets, drops, delay of the classes, the slowest flows with their bounds. q ends it.")
final class TopCommand implements Callable<Integer> {
    private static final int ONCE_COLUMNS = 100;
    private static final double LONGEST_SECONDS = 3600;

    @Mixin
    private StatusOptions process;

    @Option(names = "--once", description = "Prints the state once, all flows of it, and ends.")
    private boolean isOnce;

    @Option(names = "--interval", paramLabel = "SECONDS", defaultValue = "1",
        description = "How often the view is drawn. Default: 1.")
    private double seconds;

    private final Terminal terminal;

    TopCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (!(seconds >= 0.1 && seconds <= LONGEST_SECONDS)) {
            throw new ExitException(ExitCode.USAGE, "--interval=" + seconds + ": must be 0.1 to 3600 seconds");
        }
        try (StatusFileReader reader = process.open()) {
            if (isOnce || !TopProcess.isPossible()) {
                new TopView().lines(StatusOptions.living(reader), null, ONCE_COLUMNS, 0).forEach(terminal.out()::println);
                return ExitCode.DONE.number();
            }
            StatusOptions.living(reader);
            return TopProcess.run(reader, (long)(seconds * 1e9), terminal).number();
        }
    }
}
