package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.LogLevel;
import io.flowlag.exporter.runtime.CollectProcess;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.ipfix.collect.ListenAddress;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.transport.Endpoint;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.List;

/** {@code flowlag collect}. */
@Command(name = "collect", description =
    "Receives IPFIX and prints the flow records, with -v options records too; without options, from UDP port " +
    Endpoint.IPFIX_PORT + " on loopback.")
final class CollectCommand extends ConfiguredCommand implements QueryOptions.Asking {
    private static final String DEFAULT_ADDRESS = "udp://127.0.0.1:" + Endpoint.IPFIX_PORT;

    @Option(names = "--listen", paramLabel = "URI",
        description = "Address to receive on: udp://HOST:PORT, tcp://HOST:PORT or tls://HOST:PORT. Repeatable. Default: " +
        DEFAULT_ADDRESS + ".")
    private List<String> addresses = new ArrayList<>();

    @Option(names = {"-r", "--read"}, arity = "1..*", paramLabel = "FILE",
        description = "IPFIX files (RFC 5655) to read instead, plain or gzip; - is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(names = "--count", paramLabel = "N", defaultValue = "0",
        description = "Ends after N records. Default: 0, no limit.")
    private long recordLimit;

    @Option(names = "--idle-exit", paramLabel = "SECONDS", defaultValue = "0",
        description = "Ends when no message came for so long after the first one. Default: 0, never.")
    private double idleSeconds;

    CollectCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, new ConfigOptions(ConfigOption.ENTERPRISE_NUMBER, ConfigOption.TLS_CERTIFICATE,
            ConfigOption.TLS_KEY, ConfigOption.TLS_TRUST, ConfigOption.LOG_FILE));
    }

    @Override
    void layOver(final ConfigLoader loader) {
        loader.reads("-r", files);
    }

    @Override
    boolean hasSeveralSegments() {
        return true;
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        if (!addresses.isEmpty() && !files.isEmpty()) {
            throw new ExitException(ExitCode.USAGE, "collect: --listen and --read contradict each other: leave one out");
        }
        if (recordLimit < 0 || idleSeconds < 0) {
            throw new ExitException(ExitCode.USAGE, "collect: --count and --idle-exit must not be negative");
        }
        final CollectOptions source = files.isEmpty() ?
            CollectProcess.listening(config, listenAddresses(config)) : CollectOptions.DEFAULTS.withFiles(files);
        return starter().collect(config, source
            .withListing(QueryOptions.read(line(), terminal()))
            .withEnd(recordLimit, (long)(idleSeconds * Nanoseconds.PER_SECOND))
            .withVoice(config.log().level() == LogLevel.ERROR, config.log().level() == LogLevel.DEBUG), terminal());
    }

    private List<ListenAddress> listenAddresses(final ExporterConfig config) {
        final List<ListenAddress> listening = new ArrayList<>();
        for (final String text : addresses.isEmpty() ? List.of(DEFAULT_ADDRESS) : addresses) {
            final ListenAddress address;
            try {
                address = ListenAddress.parse(text);
            } catch (final IllegalArgumentException ex) {
                throw new ExitException(ExitCode.USAGE, "--listen=" + ex.getMessage());
            }
            final ExporterConfig.Tls tls = config.exporting().tls();
            if (address.kind() == SessionKind.TLS && (tls.certificate() == null || tls.key() == null || tls.trust() == null)) {
                throw new ExitException(ExitCode.USAGE,
                    "--listen=" + text + ": needs --tls-certificate, --tls-key and --tls-trust, a PEM file each");
            }
            listening.add(address);
        }
        return listening;
    }
}
