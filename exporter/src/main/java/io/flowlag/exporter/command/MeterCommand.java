package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Model.PositionalParamSpec;

import java.util.ArrayList;
import java.util.List;

/** {@code flowlag meter}. Described by calls: for annotations the JVM makes classes at each start. */
final class MeterCommand extends ConfiguredCommand implements QueryOptions.Asking {
    private static final String READ_OPTION = "--read";

    MeterCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, ConfigOptions.ofCaptures());
    }

    /** {@return what the command line needs to know of it} */
    CommandSpec specify() {
        final CommandSpec command = CommandSpec.wrapWithoutInspection(this).name("meter");
        command.usageMessage()
            .description("Meters captures as fast as the machine can, to IPFIX or, without --export, to standard output.");
        command.addOption(OptionSpec.builder("-r", READ_OPTION).arity("1..*").paramLabel("FILE").type(List.class)
            .auxiliaryTypes(String.class)
            .description("Captures (pcap, pcapng, gzip of either), several in time order; - is standard input.").build());
        command.addPositional(PositionalParamSpec.builder().arity("0..*").paramLabel("FILE").type(List.class)
            .auxiliaryTypes(String.class).description("The same without -r.").build());
        spec(command);
        return command;
    }

    @Override
    void layOver(final ConfigLoader loader) {
        loader.reads("-r", files());
        QueryOptions.layOver(line(), loader);
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        if (files().isEmpty()) {
            throw new ExitException(ExitCode.USAGE, "meter: no input: name captures, such as flowlag meter FILE.pcap");
        }
        if (!config.exporting().destinations().isEmpty()) {
            QueryOptions.requireNone(line(), "meter");
        }
        return starter().meter(config, List.copyOf(files()), QueryOptions.read(line(), terminal()), terminal());
    }

    private List<String> files() {
        final List<String> files = new ArrayList<>(line().matchedOptionValue(READ_OPTION, List.<String>of()));
        files.addAll(line().matchedPositionalValue(0, List.<String>of()));
        return files;
    }
}
