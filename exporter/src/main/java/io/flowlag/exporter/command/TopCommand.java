package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.listing.DurationText;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.monitoring.TopControl;
import io.flowlag.exporter.monitoring.TopView;
import io.flowlag.exporter.runtime.TopProcess;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** {@code flowlag top}. */
@Command(name = "top", description =
    "Shows a running process: health, packets, drops, delay of the classes, and its flows, a row each. h shows keys, q ends it.")
final class TopCommand implements Callable<Integer>, QueryOptions.Asking {
    private static final int ONCE_COLUMNS = 100;
    private static final String NUMBER = "[0-9]+(\\.[0-9]+)?";
    private static final long LEAST_NS = 100_000_000L;
    private static final long LONGEST_NS = 3_600_000_000_000L;

    @Spec
    private CommandSpec spec;

    @Mixin
    private StatusOptions process;

    @Option(names = "--once", description = "Prints the state once, all flows of it, and ends.")
    private boolean isOnce;

    @Option(names = "--interval", paramLabel = "DURATION", defaultValue = "1s",
        description = "How often the view is drawn, such as 500ms; a number alone is seconds. Default: 1s.")
    private String interval;

    private final Terminal terminal;

    TopCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public boolean hasFormats() {
        return false;
    }

    @Override
    public Integer call() {
        final long intervalNs = intervalNs();
        final TopControl control = new TopControl(QueryOptions.query(spec.commandLine().getParseResult()));
        try (StatusFileReader reader = process.open()) {
            if (isOnce || !TopProcess.isPossible()) {
                new TopView(control).lines(StatusOptions.living(reader), null, ONCE_COLUMNS, 0)
                    .forEach(terminal.out()::println);
                return ExitCode.DONE.number();
            }
            StatusOptions.living(reader);
            return TopProcess.run(reader, intervalNs, control, terminal).number();
        }
    }

    private long intervalNs() {
        final Double durationNs = DurationText.ns(interval.matches(NUMBER) ? interval + "s" : interval);
        if (durationNs == null) {
            throw new ExitException(ExitCode.USAGE,
                "--interval=" + interval + ": write 500ms or 2s (units " + DurationText.UNIT_NAMES + ")");
        }
        if (durationNs < LEAST_NS || durationNs > LONGEST_NS) {
            throw new ExitException(ExitCode.USAGE, "--interval=" + interval + ": must be 100ms to 1h");
        }
        return Math.round(durationNs);
    }
}
