package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Prefix;
import io.flowlag.exporter.monitoring.FlowFilter;
import io.flowlag.exporter.monitoring.FlowListing;
import io.flowlag.exporter.monitoring.FlowView;
import io.flowlag.exporter.monitoring.StatusFileReader;
import io.flowlag.exporter.monitoring.StatusSnapshot;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

import java.util.List;
import java.util.concurrent.Callable;

/** {@code flowlag flows}. */
@Command(name = "flows", description =
    "Lists flows of a running process, the slowest first: those that live, and those that ended in the last minute.")
final class FlowsCommand implements Callable<Integer> {
    /** How flows are printed. */
    enum Format {
        TABLE, JSON
    }

    private static final int LARGEST_PORT = 65_535;
    private static final int LARGEST_DSCP = 63;
    private static final int LARGEST_CLASS = 255;

    @Mixin
    private StatusOptions process;

    @Option(names = "--source", paramLabel = "PREFIX", description = "Flows from these addresses, such as 192.0.2.0/24.")
    private String source;

    @Option(names = "--destination", paramLabel = "PREFIX", description = "Flows to these addresses.")
    private String destination;

    @Option(names = "--prefix", paramLabel = "PREFIX", description = "Flows from or to these addresses.")
    private String prefix;

    @Option(names = "--port", paramLabel = "N", description = "Flows from or to this port.")
    private Integer port;

    @Option(names = "--protocol", paramLabel = "NAME", description = "Flows of this protocol: tcp, udp, icmp, icmp6, sctp or a " +
        "number.")
    private String protocol;

    @Option(names = "--dscp", paramLabel = "N", description = "Flows with this DSCP.")
    private Integer dscp;

    @Option(names = "--class", paramLabel = "N",
        description = "Flows of this traffic class, by its place in rli.classes, from 0.")
    private Integer classIndex;

    @Option(names = "--min-delay", paramLabel = "DURATION", description = "Flows with at least this mean delay, such as 5ms.")
    private String minimumDelay;

    @Option(names = "--living", description = "Living flows alone.")
    private boolean isLiving;

    @Option(names = "--limit", paramLabel = "N", defaultValue = "0", description = "At most N flows. Default: 0, all that the " +
        "status holds (status.flows).")
    private int limit;

    @Option(names = "--format", paramLabel = "FORMAT", defaultValue = "table",
        description = "One of table and json (an object a line). Default: table.")
    private Format format;

    private final Terminal terminal;

    FlowsCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        final FlowFilter filter = new FlowFilter(
            prefix("--source", source), prefix("--destination", destination), prefix("--prefix", prefix),
            number("--port", port, LARGEST_PORT), protocol(), number("--dscp", dscp, LARGEST_DSCP),
            number("--class", classIndex, LARGEST_CLASS), minimumNs(), isLiving);
        if (limit < 0) {
            throw new ExitException(ExitCode.USAGE, "--limit=" + limit + ": must not be negative");
        }
        try (StatusFileReader reader = process.open()) {
            final StatusSnapshot snapshot = StatusOptions.living(reader);
            final List<FlowView> flows = snapshot.flows().flows().stream().filter(filter::matches)
                .limit(limit == 0 ? Long.MAX_VALUE : limit).toList();
            if (format == Format.JSON) {
                terminal.out().print(FlowListing.json(flows));
            } else {
                FlowListing.lines(flows).forEach(terminal.out()::println);
            }
            return ExitCode.DONE.number();
        }
    }

    private static Prefix prefix(final String option, final String text) {
        try {
            return text == null ? null : Prefix.of(text);
        } catch (final IllegalArgumentException ex) {
            throw new ExitException(ExitCode.USAGE, option + "=" + text + ": " + ex.getMessage());
        }
    }

    private static int number(final String option, final Integer value, final int largest) {
        if (value != null && (value < 0 || value > largest)) {
            throw new ExitException(ExitCode.USAGE, option + "=" + value + ": must be 0 to " + largest);
        }
        return value == null ? -1 : value;
    }

    private int protocol() {
        final int number = protocol == null ? -1 : FlowView.protocolNumber(protocol.strip());
        if (protocol != null && number < 0) {
            throw new ExitException(
                ExitCode.USAGE, "--protocol=" + protocol + ": must be tcp, udp, icmp, icmp6, sctp or a number, 0 to 255");
        }
        return number;
    }

    private Long minimumNs() {
        if (minimumDelay == null) {
            return null;
        }
        final Double durationNs = DurationText.ns(minimumDelay);
        if (durationNs == null) {
            throw new ExitException(ExitCode.USAGE,
                "--min-delay=" + minimumDelay + ": write 5ms (units " + DurationText.UNIT_NAMES + ")");
        }
        return Math.round(durationNs);
    }
}
