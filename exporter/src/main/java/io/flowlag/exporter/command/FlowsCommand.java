package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.monitoring.FlowRows;
import io.flowlag.exporter.monitoring.FlowView;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

import java.util.List;
import java.util.concurrent.Callable;

/** {@code flowlag flows}. */
@Command(name = "flows", description =
    "Lists flows of a running process, the slowest first: those that live, and those that ended in the last minute.")
final class FlowsCommand implements Callable<Integer>, QueryOptions.Asking {
    private static final int LARGEST_CLASS = 255;

    @Spec
    private CommandSpec spec;

    @Mixin
    private StatusOptions process;

    @Option(names = "--class", paramLabel = "N",
        description = "Flows of this traffic class, by its place in rli.classes, from 0.")
    private Integer classIndex;

    @Option(names = "--living", description = "Living flows alone.")
    private boolean isLiving;

    private final Terminal terminal;

    FlowsCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        final Listing listing = QueryOptions.read(spec.commandLine().getParseResult(), terminal);
        if (classIndex != null && (classIndex < 0 || classIndex > LARGEST_CLASS)) {
            throw new ExitException(ExitCode.USAGE, "--class=" + classIndex + ": must be 0 to " + LARGEST_CLASS);
        }
        try (StatusFileReader reader = process.open()) {
            final List<FlowView> flows = StatusOptions.living(reader).flows().flows().stream()
                .filter((flow) -> (classIndex == null || classIndex == flow.classIndex()) &&
                    (!isLiving || flow.endReason() == null)).toList();
            final StringBuilder text = new StringBuilder();
            final String remark = FlowRows.append(flows, listing, text);
            terminal.out().print(text);
            if (!remark.isEmpty()) {
                terminal.message("flowlag: " + remark);
            }
            return ExitCode.DONE.number();
        }
    }
}
