package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.List;

/** {@code flowlag meter}. */
@Command(name = "meter", description = "Meters captures as fast as the machine can, to IPFIX or, without --export, to a table.")
final class MeterCommand extends ConfiguredCommand {
    @Option(names = {"-r", "--read"}, arity = "1..*", required = true, paramLabel = "FILE",
        description = "Captures (pcap, pcapng, gzip of either), several in time order; - is standard input.")
    private List<String> files;

    private final ProcessStarter starter;

    MeterCommand(final ProcessStarter starter, final Terminal terminal) {
        super(terminal, new ConfigOptions(ConfigOption.EXPORT, ConfigOption.PROFILE, ConfigOption.OPTIONS, ConfigOption.STATS,
            ConfigOption.FILTER, ConfigOption.ACTIVE, ConfigOption.IDLE, ConfigOption.MAX_FLOWS, ConfigOption.FLOW_KEY,
            ConfigOption.TUNNELS, ConfigOption.FRAGMENTS, ConfigOption.OBSERVATION_DOMAIN, ConfigOption.ENTERPRISE_NUMBER,
            ConfigOption.THREADING, ConfigOption.TLS_CERTIFICATE, ConfigOption.TLS_KEY, ConfigOption.TLS_TRUST,
            ConfigOption.TLS_PEER, ConfigOption.LOG_FILE));
        this.starter = starter;
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        return starter.meter(config, List.copyOf(files), terminal());
    }
}
