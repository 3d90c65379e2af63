package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.console.Terminal;
import picocli.CommandLine.Command;

/** {@code flowlag run}. */
@Command(name = "run", description = "Meters live interfaces and exports IPFIX until it is told to stop.")
final class RunCommand extends ConfiguredCommand {
    private final ProcessStarter starter;

    RunCommand(final ProcessStarter starter, final Terminal terminal) {
        super(terminal, new ConfigOptions(ConfigOption.INTERFACE, ConfigOption.values()));
        this.starter = starter;
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        return starter.run(complete(config), () -> complete(load()), terminal());
    }

    private ExporterConfig complete(final ExporterConfig config) {
        final boolean hasFile = line().hasMatchedOption("-c");
        final ExitCode exitCode = hasFile ? ExitCode.CONFIGURATION : ExitCode.USAGE;
        if (config.capture().interfaces().isEmpty() && config.segment().role() != ExporterConfig.Role.BOTH) {
            throw new ExitException(exitCode, "run: no interface: name one with -i IFACE, or in a file under capture.interfaces");
        }
        if (config.exporting().destinations().isEmpty()) {
            throw new ExitException(exitCode,
                "run: no destination: name one with --export udp://HOST:4739, or in a file under exporting.destinations");
        }
        return config;
    }
}
