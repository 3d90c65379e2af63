package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.HostPort;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.exporter.runtime.run.RunProcess;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code flowlag run}. */
@Command(name = RunCommand.NAME, description =
    "Meters live interfaces and exports IPFIX, or prints flows without -c and --export, until it is stopped: with --format, " +
    "--sort, --top and --group-by as meter has them.")
final class RunCommand extends ConfiguredCommand implements QueryOptions.Asking {
    static final String NAME = "run";

    /** In the help: behind {@link ConfigOption#EGRESS}, and behind them all. */
    private static final int HOSTS_ORDER = 17;
    private static final int SELF_TEST_ORDER = 500;
    /** A host, an IPv6 address with or without brackets, and a port where the host cannot be mistaken for one. */
    private static final Pattern RECEIVER =
        Pattern.compile("(?:\\[([0-9A-Fa-f:.]+)\\]|([^:\\[\\]]+|[0-9A-Fa-f]*:[0-9A-Fa-f:.]*:[0-9A-Fa-f:.]*?))(?::([0-9]{1,5}))?");

    @Option(names = "--router", order = HOSTS_ORDER, paramLabel = "IFACE,...", hideParamSyntax = true, split = ",",
        description = "Measures each ordered pair of a router's interfaces (segments.auto).")
    private List<String> interfaces;

    @Option(names = "--receiver", order = HOSTS_ORDER,
        description = "Measures as the receiver of two hosts (segment.role).")
    private boolean isReceiver;

    @Option(names = "--sender", order = HOSTS_ORDER, paramLabel = "RECEIVER[:PORT]",
        description = "Measures as the sender of two hosts, with this receiver. Default port: 8621.")
    private String receiver;

    @Option(names = "--key", order = HOSTS_ORDER, paramLabel = "FILE",
        description = "Key that both hosts share, as flowlag key writes it.")
    private String keyFile;

    @Option(names = "--self-test", order = SELF_TEST_ORDER,
        description = "Checks itself by a copy of the input with a known delay and loss.")
    private boolean isSelfTest;

    @Option(names = {"-r", "--read"}, order = SELF_TEST_ORDER, arity = "1..*", paramLabel = "FILE",
        description = "Captures for --self-test, instead of an interface.")
    private List<String> files;

    /** What runs, when a reload asks; else null. */
    private ExporterConfig first;

    RunCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, new ConfigOptions(ConfigOption.INTERFACE, ConfigOption.values()));
    }

    /** It has many options of its own, and a filter of packets. */
    @Override
    public boolean hasFilters() {
        return false;
    }

    @Override
    void layOver(final ConfigLoader loader) {
        if (files != null) {
            loader.reads("-r", files);
        }
        if (interfaces != null && (isReceiver || receiver != null)) {
            throw new ExitException(ExitCode.USAGE, "run: --router contradicts --receiver and --sender: put the segments in a " +
                "file (segments)");
        }
        if (interfaces != null) {
            loader.router("--router", interfaces);
        }
        if (isReceiver && receiver != null) {
            throw new ExitException(ExitCode.USAGE, "run: --receiver and --sender contradict each other: leave one out");
        }
        if (isReceiver) {
            loader.option("--receiver", ConfigTable.ROLE, List.of("receiver"));
            loader.optionUnlessGiven("--receiver", ConfigTable.DIRECTION, "in");
        }
        if (receiver != null) {
            final Matcher written = RECEIVER.matcher(receiver);
            if (!written.matches()) {
                throw new ExitException(ExitCode.USAGE, "run: --sender " + receiver + ": write HOST or HOST:PORT, an IPv6 " +
                    "address with a port in brackets");
            }
            final String host = written.group(1) != null ? written.group(1) : written.group(2);
            final String port = written.group(3) != null ? written.group(3) : Integer.toString(HostPort.EXCHANGE_PORT);
            loader.option("--sender", ConfigTable.ROLE, List.of("sender"));
            loader.option("--sender", ConfigTable.EXCHANGE_CONNECT,
                List.of((host.contains(":") ? "[" + host + "]" : host) + ":" + port));
            loader.optionUnlessGiven("--sender", ConfigTable.TARGET, host);
            loader.optionUnlessGiven("--sender", ConfigTable.DIRECTION, "out");
        }
        if (keyFile != null) {
            loader.option("--key", ConfigTable.EXCHANGE_KEY_FILE, List.of(keyFile));
            loader.option("--key", ConfigTable.REFERENCE_KEY_FILE, List.of(keyFile));
        }
        QueryOptions.layOver(line(), loader);
    }

    @Override
    ExporterConfig conclude(final ConfigLoader loader) {
        if (isSelfTest) {
            return loader.conclude();
        }
        if (first != null) {
            return loader.conclude(MemoryPlan::parts, first);
        }
        first = loader.conclude(MemoryPlan::parts);
        return first;
    }

    @Override
    boolean hasSeveralSegments() {
        return !isSelfTest;
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        if (isSelfTest || !RunProcess.hasRecords(config) || !config.exporting().destinations().isEmpty()) {
            QueryOptions.requireNone(line(), "run");
        }
        if (isSelfTest) {
            return starter().selfTest(testable(config), files == null ? List.of() : List.copyOf(files), terminal());
        }
        if (files != null) {
            throw new ExitException(ExitCode.USAGE, "run: -r is for --self-test; meter and delay read captures");
        }
        return starter().run(
            complete(config), () -> complete(load()), QueryOptions.read(line(), terminal()), terminal());
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
        if (hasFile && RunProcess.hasRecords(config) && config.exporting().destinations().isEmpty()) {
            throw new ExitException(exitCode,
                "run: no destination: name one with --export udp://HOST:4739, or in a file under exporting.destinations");
        }
        return config;
    }
}
