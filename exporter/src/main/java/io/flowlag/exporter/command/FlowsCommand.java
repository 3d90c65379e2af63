package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.listing.FlowRow;
import io.flowlag.exporter.listing.Grouping;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.monitoring.FlowRows;
import io.flowlag.exporter.monitoring.FlowView;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.monitoring.StatusSnapshot;
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

    @Option(names = "--hour", description = "What stood out in the last hour instead, from when to when, of flows that have " +
        "ended too: slow times, in which the mean between two snapshots (worst_us) was above twice the usual one of the flow " +
        "(usual_us; at first of others), and above it by three times its spread and more than the error bounds, for 10 packets " +
        "at least; those first that waited longest beyond the usual, in all. Then losses, by the records that ended. With " +
        "--group-by dst/24, src/24, dscp or proto of groups.")
    private boolean isOfHour;

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
        if (isOfHour && (classIndex != null || isLiving)) {
            throw new ExitException(ExitCode.USAGE, "--hour has all flows: leave --class and --living out");
        }
        try (StatusFileReader reader = process.open()) {
            final StatusSnapshot snapshot = StatusOptions.living(reader);
            if (isOfHour) {
                printHour(snapshot, listing);
                return ExitCode.DONE.number();
            }
            final List<String> hour = FlowRows.hour(snapshot.flows(), snapshot.statistics().nowMs());
            final List<FlowView> flows = snapshot.flows().flows().stream()
                .filter((flow) -> (classIndex == null || classIndex == flow.classIndex()) &&
                    (!isLiving || flow.endReason() == null)).toList();
            final StringBuilder text = new StringBuilder();
            final String remark = FlowRows.append(flows, listing, text);
            terminal.out().print(text);
            terminal.out().flush();
            if (!remark.isEmpty()) {
                terminal.message("flowlag: " + remark);
            }
            if (!hour.isEmpty()) {
                terminal.message("flowlag: flows --hour: " + String.join("; ", hour));
            }
            return ExitCode.DONE.number();
        }
    }

    private void printHour(final StatusSnapshot snapshot, final Listing listing) {
        final String grouping = spec.commandLine().getParseResult().matchedOptionValue("--group-by", "flow");
        final List<FlowRow> rows = snapshot.flows().worst().get(grouping);
        if (rows == null) {
            throw new ExitException(ExitCode.USAGE, "--hour --group-by " + grouping + ": is kept of " +
                String.join(", ", snapshot.flows().worst().keySet()));
        }
        final StringBuilder text = new StringBuilder();
        FlowRows.append(rows, Grouping.parse(grouping), listing, text);
        terminal.out().print(text);
        if (rows.isEmpty()) {
            terminal.message("flowlag: " + (snapshot.segments().isEmpty() ? "no delay is measured here" :
                "nothing stood out in the last hour: nothing was above twice its usual delay, and no loss became known"));
        }
    }
}
