package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.runtime.size.SizeOptions;
import io.flowlag.exporter.runtime.size.SizeProcess;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.math.BigDecimal;
import java.math.MathContext;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** {@code flowlag size}. */
@Command(name = "size", description =
    "Says what to set at the receiver for a load and a target, then why: sizes of a sketch (LDS), memory, cost on the wire.")
final class SizeCommand implements Callable<Integer> {
    private static final Pattern NUMBER_AND_UNIT = Pattern.compile("([0-9]+(?:\\.[0-9]+)?) ?([A-Za-z%]*)");
    private static final Map<String, Double> COUNTS = Map.of("", 1.0, "k", 1e3, "m", 1e6, "g", 1e9);
    private static final Map<String, Double> SHARES = Map.of("", 1.0, "%", 0.01);
    private static final Map<String, Double> RATES = Map.of("k", 1e3, "m", 1e6, "g", 1e9);
    private static final Map<String, Double> DURATIONS = Map.of("us", 1e3, "ms", 1e6, "s", 1e9, "m", 6e10, "h", 3.6e12);
    private static final double LONGEST_INTERVAL_NS = 8.64e13;

    @Option(names = "--flows", paramLabel = "N",
        description = "Flows in an interval, such as 146000 or 146k. Needed unless captures tell.")
    private String flows;

    @Option(names = "--packets", paramLabel = "N",
        description = "Packets of all flows in an interval. Needed unless captures tell.")
    private String packets;

    @Option(names = {"-r", "--read"}, arity = "1..*", paramLabel = "FILE",
        description = "Captures to take flows, packets and the sizes of flows from, in the interval with the most flows; " +
        "- is standard input.")
    private List<String> files = new ArrayList<>();

    @Option(names = "--loss", paramLabel = "SHARE", defaultValue = "0",
        description = "Packets that the path loses at most, such as 0.5%%. Default: 0.")
    private String loss;

    @Option(names = "--error", paramLabel = "SHARE", defaultValue = "5%",
        description = "By how much other flows may pull a flow's mean. Default: 5%%.")
    private String error;

    @Option(names = "--confidence", paramLabel = "SHARE", defaultValue = "98.5%",
        description = "Flows that must be as good. Default: 98.5%%.")
    private String confidence;

    @Option(names = "--flow-packets", paramLabel = "N", defaultValue = "1000",
        description = "Packets of the smallest flow that must be as good. Default: 1000.")
    private String flowPackets;

    @Option(names = "--interval", paramLabel = "DURATION", defaultValue = "1s",
        description = "Measurement interval. Default: 1s.")
    private String interval;

    @Option(names = "--bandwidth", paramLabel = "RATE",
        description = "What the exchange may take, such as 10m (bits/s). Default: no limit.")
    private String bandwidth;

    private final Terminal terminal;

    SizeCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        if (files.isEmpty() && (flows == null || packets == null)) {
            throw new ExitException(ExitCode.USAGE, "size: name the load: --flows N and --packets N, or a capture with -r FILE");
        }
        final SizeOptions options = new SizeOptions(
            flows == null ? 0 : count("--flows", flows),
            packets == null ? 0 : count("--packets", packets),
            share("--loss", loss, 0, 0.99),
            share("--error", error, 1e-6, 0.99),
            share("--confidence", confidence, 0.64, 0.999999),
            count("--flow-packets", flowPackets),
            (long)number("--interval", interval, DURATIONS, "100ms or 1s", 1e3, LONGEST_INTERVAL_NS),
            bandwidth == null ? 0 : (long)number("--bandwidth", bandwidth, RATES, "10m (bits/s; k, m or g)", 1, 1e15),
            List.copyOf(files));
        if (options.flows() > 0 && options.packets() > 0 && options.packets() <= options.flows()) {
            throw new ExitException(ExitCode.USAGE, "--packets=" + packets + ": must be more than --flows=" + flows);
        }
        if (options.error() * options.flowPackets() <= 1) {
            throw new ExitException(ExitCode.USAGE, "--error=" + error + ": of --flow-packets=" + flowPackets +
                " is not more than one packet: raise one of them");
        }
        return SizeProcess.run(options, terminal).number();
    }

    private static long count(final String option, final String text) {
        return (long)number(option, text, COUNTS, "146000 or 146k", 1, 1e12);
    }

    private static double share(final String option, final String text, final double least, final double most) {
        return number(option, text, SHARES, "5% or 0.05", least, most);
    }

    private static double number(
        final String option,
        final String text,
        final Map<String, Double> units,
        final String example,
        final double least,
        final double most) {
        final Matcher matcher = NUMBER_AND_UNIT.matcher(text.strip());
        final Double factor = matcher.matches() ? units.get(matcher.group(2)) : null;
        if (factor == null) {
            throw new ExitException(ExitCode.USAGE, option + "=" + text + ": write " + example);
        }
        final double value = Double.parseDouble(matcher.group(1)) * factor;
        if (!(value >= least && value <= most)) {
            throw new ExitException(ExitCode.USAGE, option + "=" + text + ": must be " + limit(least / factor) +
                matcher.group(2) + " to " + limit(most / factor) + matcher.group(2));
        }
        return value;
    }

    private static String limit(final double value) {
        return new BigDecimal(value).round(new MathContext(6)).stripTrailingZeros().toPlainString();
    }
}
