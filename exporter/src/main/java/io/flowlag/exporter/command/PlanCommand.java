package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.runtime.plan.PlanOptions;
import io.flowlag.exporter.runtime.plan.PlanProcess;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.network.topology.Topology;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;

/** {@code flowlag plan}. */
@Command(name = "plan", description = {
    "Says which nodes of a network get measurement points next, and what each exporter measures and needs.",
    "With --out also writes a configuration for each exporter, the network with its segments, and a drawing."})
final class PlanCommand implements Callable<Integer> {
    @Option(names = "--network", paramLabel = "NETWORK", required = true,
        description = "The network: a FILE of YAML, rocketfuel:DIRECTORY, graphml:FILE or rfc8345:FILE.")
    private String network;

    @Option(names = "--points", paramLabel = "N", required = true,
        description = "Points to add to those that the file has; 0 for none.")
    private int points;

    @Option(names = "--objective", paramLabel = "WHAT", defaultValue = "probes",
        description = "What each point makes least: probes, the hops of probes between all points and servers (the LDA paper), " +
        "or sets, the hops that are suspected when one is slow. Default: probes.")
    private PlanOptions.Objective objective;

    @Option(names = "--out", paramLabel = "DIR", description = "Where files go; made if it is not there. Default: no files.")
    private Path directory;

    @Option(names = "--key", paramLabel = "PATH",
        description = "Where hosts have the key, as their configurations name it. Default: flowlag.key in DIR, whole path.")
    private Path key;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "table",
        description = "One of table, json (all segments, and what is left out) and csv (a row for each number of points). " +
        "Default: table.")
    private PlanOptions.Format format;

    @Option(names = "--max-flows", paramLabel = "N",
        description = "metering.max-flows of each exporter. Default: that of run.")
    private String maxFlows;

    @Option(names = "--export", paramLabel = "URI",
        description = "Destination of each exporter's records, for its configuration. Repeatable. Default: none.")
    private List<String> destinations = new ArrayList<>();

    private final Terminal terminal;

    PlanCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (points < 0 || points > Topology.MOST_NODES) {
            throw new ExitException(
                ExitCode.USAGE, "plan: --points " + points + ": must be 0 to " + Topology.MOST_NODES);
        }
        final ConfigLoader loader = new ConfigLoader();
        if (maxFlows != null) {
            loader.option("--max-flows", ConfigTable.MAX_FLOWS, List.of(maxFlows));
        }
        if (!destinations.isEmpty()) {
            loader.option("--export", ConfigTable.DESTINATIONS, destinations);
        }
        loader.conclude();
        return PlanProcess.run(new PlanOptions(
            network, points, objective, maxFlows, List.copyOf(destinations), directory, key, format), terminal).number();
    }
}
