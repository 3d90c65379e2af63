package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.monitoring.MetricList;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.concurrent.Callable;

/** {@code flowlag metrics}. */
@Command(name = "metrics", description = "Lists the metrics that /metrics of a running process can serve.")
final class MetricsCommand implements Callable<Integer> {
    @Option(names = "--list", required = true, description = "Prints name, type, unit and help of each metric, by name.")
    private boolean isList;

    @Option(names = "--json", description = "Prints the list as JSON.")
    private boolean isJson;

    private final Terminal terminal;

    MetricsCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (isJson) {
            terminal.out().println(MetricList.json());
        } else {
            MetricList.lines().forEach(terminal.out()::println);
        }
        return ExitCode.DONE.number();
    }
}
