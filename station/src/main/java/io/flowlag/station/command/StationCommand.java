package io.flowlag.station.command;

import io.flowlag.common.command.CommandModule;
import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Problems;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.config.StationConfigReader;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;
import java.util.concurrent.Callable;

/** {@code flowlag station}. */
@Command(name = "station", description = {
    "Receives the records of all exporters of a network and shows where it loses time: pages, REST, metrics.",
    "With --demo a simulated network sends records; one of its hops becomes slow."})
final class StationCommand implements Callable<Integer> {
    private static final String INLET = "inlet";
    private static final Set<String> PARTS = Set.of(INLET, "view");

    @Option(names = "--config", paramLabel = "FILE", description = "The configuration of the station.")
    private Path file;

    @Option(names = "--demo", description = "Shows a simulated network; needs no configuration, no root and no network.")
    private boolean isDemo;

    @Parameters(arity = "0..1", paramLabel = "PART",
        description = {"inlet or view: that alone, beside a job on a Flink cluster, with Kafka between them.",
            "Without it, all in one process."})
    private String part;

    private final CommandModule.Surroundings surroundings;

    StationCommand(final CommandModule.Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    @Override
    public Integer call() {
        if (isDemo == (file != null)) {
            throw new ExitException(ExitCode.USAGE, "station: give either --config FILE or --demo");
        }
        if (part != null && (isDemo || !PARTS.contains(part))) {
            throw new ExitException(ExitCode.USAGE, "station: " + part + " is no part: write inlet or view, and --config FILE");
        }
        try {
            if (isDemo) {
                DemoStation.run(surroundings);
            } else if (part != null) {
                runPart(config());
            } else {
                try (Station station = Station.start(config(), surroundings.message())) {
                    station.run(surroundings.stop());
                }
            }
            return ExitCode.DONE.number();
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.NO_INPUT, "station: " + ex.getMessage());
        }
    }

    private void runPart(final StationConfig config) throws IOException {
        if (config.kafka() == null) {
            throw new ExitException(ExitCode.CONFIGURATION, "station: a part alone needs Kafka: give kafka.brokers");
        }
        if (INLET.equals(part)) {
            Receiver.run(config, surroundings.message(), surroundings.stop());
        } else {
            TopicFeed.run(config, surroundings.message(), surroundings.stop());
        }
    }

    private StationConfig config() {
        final Problems problems = new Problems();
        final StationConfig config = StationConfigReader.read(file, problems);
        if (config == null) {
            problems.lines().forEach(surroundings.message());
            throw new ExitException(problems.isInputMissing() ? ExitCode.NO_INPUT : ExitCode.CONFIGURATION,
                "station: " + file + " cannot be used");
        }
        return config;
    }
}
