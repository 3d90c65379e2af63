package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;

/** {@code flowlag demo}. */
@Command(name = "demo", description = "Shows the whole product in one process: needs no root, no network and under 30 s.")
final class DemoCommand extends ConfiguredCommand {
    DemoCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, new ConfigOptions(ConfigOption.EXPORT, ConfigOption.PROFILE, ConfigOption.OPTIONS,
            ConfigOption.STATS, ConfigOption.ACTIVE, ConfigOption.IDLE, ConfigOption.MAX_FLOWS, ConfigOption.THREADING,
            ConfigOption.LOG_FILE));
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        return starter().demo(config, terminal());
    }
}
