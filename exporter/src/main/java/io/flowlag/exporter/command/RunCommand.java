package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.console.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.List;

/** {@code flowlag run}. */
@Command(name = RunCommand.NAME, description = "Meters live interfaces and exports IPFIX until it is told to stop.")
final class RunCommand extends ConfiguredCommand {
    static final String NAME = "run";

    private static final int SELF_TEST_ORDER = 500;

    @Option(names = "--self-test", order = SELF_TEST_ORDER,
        description = "Adds a known delay and loss to a copy of the input, measures them, and says whether they were found.")
    private boolean isSelfTest;

    @Option(names = {"-r", "--read"}, order = SELF_TEST_ORDER, arity = "1..*", paramLabel = "FILE",
        description = "Captures for --self-test, instead of an interface.")
    private List<String> files;

    private final ProcessStarter starter;

    RunCommand(final ProcessStarter starter, final Terminal terminal) {
        super(terminal, new ConfigOptions(ConfigOption.INTERFACE, ConfigOption.values()));
        this.starter = starter;
    }

    @Override
    void layOver(final ConfigLoader loader) {
        if (files != null) {
            loader.reads("-r", files);
        }
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        if (isSelfTest) {
            return starter.selfTest(testable(config), files == null ? List.of() : List.copyOf(files), terminal());
        }
        if (files != null) {
            throw new ExitException(ExitCode.USAGE, "run: -r is for --self-test; meter and delay read captures");
        }
        return starter.run(complete(config), () -> complete(load()), terminal());
    }

    private ExporterConfig testable(final ExporterConfig config) {
        for (final ConfigOption option : List.of(ConfigOption.INTERFACE, ConfigOption.INGRESS, ConfigOption.EGRESS)) {
            if (files != null && ConfigOptions.isGiven(config, option.key())) {
                throw new ExitException(ExitCode.USAGE, "run --self-test: -r and " + option.longName() +
                    " contradict each other: leave one out");
            }
        }
        if (files == null && config.capture().interfaces().isEmpty() &&
            config.segment().role() != ExporterConfig.Role.BOTH) {
            throw new ExitException(
                ExitCode.USAGE, "run --self-test: no input: name an interface with -i IFACE, or captures with -r FILE");
        }
        return config;
    }

    private ExporterConfig complete(final ExporterConfig config) {
        final boolean hasFile = line().hasMatchedOption("-c");
        final ExitCode exitCode = hasFile ? ExitCode.CONFIGURATION : ExitCode.USAGE;
        if (config.capture().interfaces().isEmpty() && config.segment().role() != ExporterConfig.Role.BOTH) {
            throw new ExitException(exitCode, "run: no interface: name one with -i IFACE, or in a file under capture.interfaces");
        }
        final boolean hasRecords = config.segment().role() != ExporterConfig.Role.SENDER || config.segment().senderRecords();
        if (hasRecords && config.exporting().destinations().isEmpty()) {
            throw new ExitException(exitCode,
                "run: no destination: name one with --export udp://HOST:4739, or in a file under exporting.destinations");
        }
        return config;
    }
}
