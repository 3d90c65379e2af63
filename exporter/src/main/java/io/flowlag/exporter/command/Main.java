package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Names;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.config.ConfigurationException;
import io.flowlag.exporter.terminal.LastResort;
import io.flowlag.exporter.terminal.LogProvider;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.ResultStream;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import org.slf4j.LoggerFactory;
import picocli.CommandLine;
import picocli.CommandLine.IExecutionExceptionHandler;
import picocli.CommandLine.IParameterExceptionHandler;
import picocli.CommandLine.IVersionProvider;
import picocli.CommandLine.MissingParameterException;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.UnmatchedArgumentException;

import java.io.IOException;
import java.io.InputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Properties;
import java.util.function.Supplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * The command line: finds the command, and turns whatever ends it into one line on standard error and an exit code. Used by one
 * thread, once.
 */
public final class Main {
    private static final int USAGE_COLUMNS = 110;
    /** Of long names with their values; others have a line of their own. */
    private static final int OPTION_COLUMNS = 23;
    private static final int HELP_ORDER = 1000;
    private static final String HELP = "help";
    private static final String VERSION = "--version";
    private static final String SHORT_VERSION = "-V";
    /** The parser would look up each of their classes. */
    private static final String NEEDLESS_CONVERTERS = "java\\.time\\..*,java\\.sql\\..*";
    private static final Pattern UNKNOWN_OPTION = Pattern.compile("Unknown options?: '([^'=]+)");

    private final Terminal terminal;
    private final CommandLine commandLine;

    /** The command line of a process; without the work behind them, the commands that need none. */
    public Main(final ProcessStarter starter, final Terminal terminal) {
        this(starter, terminal, null);
    }

    /** With one command alone, or with none for the version, because a start takes longer with each; else with all of them. */
    private Main(final ProcessStarter starter, final Terminal terminal, final String name) {
        this.terminal = terminal;
        commandLine = new CommandLine(root());
        final Handlers handlers = new Handlers();
        final Map<String, Supplier<Object>> commands = commands(starter, terminal);
        if (commands.containsKey(name)) {
            add(commands.get(name).get());
        } else if (!VERSION.equals(name) && !SHORT_VERSION.equals(name)) {
            commands.values().forEach((command) -> add(command.get()));
        }
        commandLine.getCommandSpec().addOption(OptionSpec.builder(SHORT_VERSION, VERSION).versionHelp(true).type(boolean.class)
            .arity("0").description("Prints the version.").build());
        commandLine.getCommandSpec().versionProvider(handlers);
        addHelp(commandLine);
        commandLine.getSubcommands().values().forEach(Main::addHelp);
        commandLine.setUsageHelpWidth(USAGE_COLUMNS);
        commandLine.setUsageHelpLongOptionsMaxWidth(OPTION_COLUMNS);
        commandLine.setCaseInsensitiveEnumValuesAllowed(true);
        commandLine.setUnmatchedOptionsAllowedAsOptionParameters(false);
        commandLine.setOut(new PrintWriter(terminal.out(), true, StandardCharsets.UTF_8));
        commandLine.setParameterExceptionHandler(handlers);
        commandLine.setExecutionExceptionHandler(handlers);
    }

    /** Of picocli's events. Lambdas would keep its classes, which are of an old version, from Java 17's archive. */
    private final class Handlers implements IParameterExceptionHandler, IExecutionExceptionHandler, IVersionProvider {
        @Override
        public int handleParseException(final ParameterException ex, final String[] arguments) {
            return onWrongLine(ex);
        }

        @Override
        public int handleExecutionException(final Exception ex, final CommandLine command, final ParseResult line) {
            return onFailure(ex, line);
        }

        @Override
        public String[] getVersion() throws IOException {
            return version();
        }
    }

    /** What stands before any command. */
    private static CommandSpec root() {
        final CommandSpec root = CommandSpec.create().name("flowlag");
        root.usageMessage().description("Exports IPFIX flow records of captures and live interfaces.")
            .synopsisSubcommandLabel("COMMAND").footer(
                "", "Exit codes: 0 done; 64 usage; 65 input damaged, the rest was exported; 66 input missing or unreadable;",
                "70 internal; 73 cannot write; 77 no permission; 78 configuration.");
        return root;
    }

    /** By name, in the order of the help. */
    private static Map<String, Supplier<Object>> commands(final ProcessStarter starter, final Terminal terminal) {
        final Map<String, Supplier<Object>> commands = new LinkedHashMap<>();
        if (starter != null) {
            commands.put("demo", () -> new DemoCommand(starter, terminal));
            commands.put(RunCommand.NAME, () -> new RunCommand(starter, terminal));
            commands.put("meter", () -> new MeterCommand(starter, terminal));
            commands.put("delay", () -> new DelayCommand(starter, terminal));
            commands.put("collect", () -> new CollectCommand(starter, terminal));
            commands.put("report", () -> new ReportCommand(starter, terminal));
        }
        commands.put("doctor", () -> new DoctorCommand(terminal));
        commands.put("key", () -> new KeyCommand(terminal));
        commands.put("check-config", () -> new CheckConfigCommand(terminal));
        commands.put("size", () -> new SizeCommand(terminal));
        commands.put("plan", () -> new PlanCommand(terminal));
        commands.put(StationCommand.NAME, () -> StationCommand.of(terminal));
        commands.put("lab", () -> new LabCommand(terminal));
        commands.put("top", () -> new TopCommand(terminal));
        commands.put("flows", () -> new FlowsCommand(terminal));
        commands.put("metrics", () -> new MetricsCommand(terminal));
        return commands;
    }

    /** {@return the commands, for what is written about them} */
    CommandLine commandLine() {
        return commandLine;
    }

    /** Runs what a command line asks for. */
    public int run(final String... arguments) {
        final int exitCode = execute(arguments);
        if (terminal.out().checkError() && exitCode == ExitCode.DONE.number()) {
            return terminal.isReaderGone() ? ExitCode.CANNOT_WRITE.number() :
                failed(ExitCode.CANNOT_WRITE, "standard output cannot be written: " + ResultStream.FAILURE);
        }
        return exitCode;
    }

    private int execute(final String... arguments) {
        try {
            if (arguments.length == 0) {
                final StringWriter usage = new StringWriter();
                commandLine.usage(new PrintWriter(usage));
                terminal.message(usage.toString().stripTrailing());
                return ExitCode.USAGE.number();
            }
            return commandLine.execute(withOptionForHelp(arguments));
        } catch (final OutOfMemoryError ex) {
            return failed(ExitCode.INTERNAL,
                "out of memory: lower metering.max-flows, or give more with FLOWLAG_JAVA_OPTS=-Xmx1g");
        } catch (final Error ex) {
            return internal(ex, false);
        }
    }

    /** {@code help COMMAND} is {@code COMMAND --help}; what is no command is refused as one. */
    private String[] withOptionForHelp(final String... arguments) {
        if (!HELP.equals(arguments[0])) {
            return arguments;
        }
        final Stream<String> asked = Arrays.stream(arguments).skip(1);
        return arguments.length > 1 && !commandLine.getSubcommands().containsKey(arguments[1]) ?
            asked.toArray(String[]::new) : Stream.concat(asked, Stream.of("--" + HELP)).toArray(String[]::new);
    }

    /** The process. */
    public static void main(final String[] arguments) {
        LogProvider.use();
        System.setProperty("picocli.converters.excludes", NEEDLESS_CONVERTERS);
        LastResort.install();
        if (arguments.length > 0 && RunCommand.NAME.equals(arguments[0])) {
            Signals.hold();
        }
        System.exit(LastResort.exitCode(run(Terminal.system(), arguments)));
    }

    /** Does what a command line asks for, in the JVM of the caller. */
    public static int run(final Terminal terminal, final String... arguments) {
        final boolean isOfAll = arguments.length == 0 || arguments.length > 1 && arguments[0].startsWith("-");
        try {
            return new Main(new ProcessLauncher(), terminal, isOfAll ? null : arguments[0]).run(arguments);
        } finally {
            terminal.settle();
        }
    }

    private void add(final Object command) {
        final CommandLine added = new CommandLine(command instanceof MeterCommand meter ? meter.specify() : command);
        if (command instanceof QueryOptions.Asking asking) {
            QueryOptions.addTo(added.getCommandSpec(), asking);
        }
        if (command instanceof ConfiguredCommand configured) {
            configured.options().addTo(added.getCommandSpec());
        }
        commandLine.addSubcommand(added);
    }

    private static void addHelp(final CommandLine command) {
        command.getCommandSpec().addOption(OptionSpec.builder("-h", "--" + HELP).usageHelp(true).type(boolean.class).arity("0")
            .order(HELP_ORDER).description("Prints this help.").build());
        command.getCommandSpec().usageMessage().sortOptions(false).abbreviateSynopsis(true);
    }

    private int onWrongLine(final ParameterException e) {
        final CommandSpec command = e.getCommandLine().getCommandSpec();
        terminal.message(command.qualifiedName() + ": " + explanation(e, command) + " (" + command.qualifiedName() +
            " --help says more)");
        return ExitCode.USAGE.number();
    }

    private static String explanation(final ParameterException e, final CommandSpec command) {
        final String message = e.getMessage().lines().findFirst().orElse("wrong command line");
        if (e instanceof MissingParameterException && !e.getCommandLine().getUnmatchedArguments().isEmpty()) {
            final ParameterException first =
                new UnmatchedArgumentException(e.getCommandLine(), e.getCommandLine().getUnmatchedArguments());
            return explanation(first, command) + "; " + message;
        }
        final Matcher unknownOption = UNKNOWN_OPTION.matcher(message);
        if (unknownOption.find()) {
            final String name = unknownOption.group(1);
            return "unknown option " + name + didYouMean(Names.nearest(name, command.optionsMap().keySet()));
        }
        if (e instanceof UnmatchedArgumentException unmatched) {
            final String argument = unmatched.getUnmatched().get(0);
            return command.subcommands().isEmpty() ? "'" + argument + "' is neither an option nor belongs to one" :
                "'" + argument + "' is no command" + didYouMean(Names.nearest(argument, command.subcommands().keySet()));
        }
        return message;
    }

    private static String didYouMean(final String name) {
        return name == null ? "" : "; did you mean " + name + "?";
    }

    private int onFailure(final Exception e, final ParseResult line) {
        if (e instanceof ConfigurationException refusal) {
            refusal.errors().forEach(terminal::message);
            return refusal.exitCode().number();
        }
        if (e instanceof ExitException exit) {
            return failed(exit.exitCode(), exit.getMessage());
        }
        if (e instanceof CaptureException capture) {
            return failed(ConfiguredCommand.exitCode(capture.kind()), capture.getMessage());
        }
        final ParseResult command = line.hasSubcommand() ? line.subcommand() : line;
        return internal(e, command.hasMatchedOption(ConfigOptions.VERBOSE_OPTION));
    }

    private int failed(final ExitCode exitCode, final String message) {
        terminal.message("flowlag: " + message);
        return exitCode.number();
    }

    private int internal(final Throwable fault, final boolean withStackTrace) {
        if (Logging.isToFile()) {
            LoggerFactory.getLogger(Main.class).error("internal error", fault);
        }
        final String where = fault.getStackTrace().length == 0 ? "" : " at " + fault.getStackTrace()[0];
        failed(ExitCode.INTERNAL, "internal error: " + String.valueOf(fault).lines().findFirst().orElse("") + where +
            (withStackTrace ? "" : "; -v shows more, please report it"));
        if (withStackTrace) {
            final StringWriter trace = new StringWriter();
            fault.printStackTrace(new PrintWriter(trace, true));
            terminal.message(trace.toString().stripTrailing());
        }
        return ExitCode.INTERNAL.number();
    }

    private static String[] version() throws IOException {
        final String version = Main.class.getPackage().getImplementationVersion();
        return new String[] {
            "flowlag " + (version == null ? "(development)" : version) + " (commit " + commit() + ", Java " +
            System.getProperty("java.version") + ")"
        };
    }

    /** The build writes the file where there is a checkout. */
    private static String commit() throws IOException {
        final Properties properties = new Properties();
        try (InputStream file = Main.class.getResourceAsStream("commit.properties")) {
            if (file != null) {
                properties.load(file);
            }
        }
        return properties.getProperty("git.commit.id.abbrev", "unknown");
    }
}
