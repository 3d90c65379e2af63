package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;

import java.util.List;

/** {@code flowlag meter}. Described by calls: for annotations the JVM makes classes at each start. */
final class MeterCommand extends ConfiguredCommand {
    private static final String READ_OPTION = "--read";

    MeterCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, ConfigOptions.ofCaptures());
    }

    /** {@return what the command line needs to know of it} */
    CommandSpec specify() {
        final CommandSpec command = CommandSpec.wrapWithoutInspection(this).name("meter");
        command.usageMessage()
            .description("Meters captures as fast as the machine can, to IPFIX or, without --export, to a table.");
        command.addOption(OptionSpec.builder("-r", READ_OPTION).arity("1..*").required(true).paramLabel("FILE").type(List.class)
            .auxiliaryTypes(String.class)
            .description("Captures (pcap, pcapng, gzip of either), several in time order; - is standard input.").build());
        spec(command);
        return command;
    }

    @Override
    void layOver(final ConfigLoader loader) {
        loader.reads("-r", files());
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        return starter().meter(config, List.copyOf(files()), terminal());
    }

    private List<String> files() {
        return line().matchedOptionValue(READ_OPTION, List.of());
    }
}
