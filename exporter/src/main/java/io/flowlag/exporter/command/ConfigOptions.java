package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.config.Names;
import io.flowlag.exporter.config.ConfigKey;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParseResult;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;

/**
 * The options of one command that lie over the configuration: its {@link ConfigOption}s, {@code -c}, {@code --set}, {@code -q}
 * and
 * {@code -v}. Used by the command's thread.
 */
final class ConfigOptions {
    private static final String FILE_OPTION = "-c";
    private static final String SET_OPTION = "--set";
    private static final String QUIET_OPTION = "-q";
    static final String VERBOSE_OPTION = "-v";

    private final Set<ConfigOption> options;
    /** Defaults that are the command's, in words. */
    private final Map<ConfigOption, String> usual = new EnumMap<>(ConfigOption.class);

    ConfigOptions(final ConfigOption first, final ConfigOption... others) {
        this.options = EnumSet.of(first, others);
    }

    /** The options of commands that export the records of captures. */
    static ConfigOptions ofCaptures() {
        return ofMetering(ConfigOption.EXPORT, ConfigOption.PROFILE, ConfigOption.OPTIONS, ConfigOption.STATS,
            ConfigOption.OBSERVATION_DOMAIN, ConfigOption.TLS_CERTIFICATE, ConfigOption.TLS_KEY, ConfigOption.TLS_TRUST,
            ConfigOption.TLS_PEER);
    }

    /** The options of commands that meter captures, and some more. */
    static ConfigOptions ofMetering(final ConfigOption... more) {
        final ConfigOptions options = new ConfigOptions(ConfigOption.FILTER, ConfigOption.ACTIVE, ConfigOption.IDLE,
            ConfigOption.MAX_FLOWS, ConfigOption.FLOW_KEY, ConfigOption.TUNNELS, ConfigOption.FRAGMENTS,
            ConfigOption.ENTERPRISE_NUMBER, ConfigOption.THREADING, ConfigOption.LOG_FILE);
        options.options.addAll(List.of(more));
        return options;
    }

    /** Adds the options of delays, whose defaults the command derives from its captures. */
    ConfigOptions ofDelay() {
        options.addAll(List.of(ConfigOption.MAXIMUM_DELAY, ConfigOption.INTERVAL, ConfigOption.POLICY, ConfigOption.CAPACITY,
            ConfigOption.ROWS, ConfigOption.SKETCH_COLUMNS, ConfigOption.VLDA, ConfigOption.RATES));
        return usually("derived from the captures", ConfigOption.MAX_FLOWS, ConfigOption.MAXIMUM_DELAY, ConfigOption.INTERVAL,
            ConfigOption.SKETCH_COLUMNS, ConfigOption.VLDA);
    }

    /** Says in words what the command takes where these options are not given. */
    ConfigOptions usually(final String words, final ConfigOption... of) {
        List.of(of).forEach((each) -> usual.put(each, words));
        return this;
    }

    /** Adds the options to a command, after its own. */
    void addTo(final CommandSpec command) {
        command.addOption(OptionSpec.builder(FILE_OPTION, "--config").paramLabel("FILE").type(Path.class)
            .order(ConfigOption.FILE_ORDER)
            .description("Configuration file; the options of the command line lie over it.").build());
        options.forEach((option) -> command.addOption(option.spec(usual.getOrDefault(option, option.key().defaultText()))));
        command.addOption(OptionSpec.builder(SET_OPTION).paramLabel("KEY=VALUE").type(List.class)
            .auxiliaryTypes(String.class).arity("1").order(ConfigOption.SET_ORDER)
            .completionCandidates(() -> ConfigTable.keys().stream().map(ConfigKey::path).iterator())
            .description("Any key of the configuration, such as pipeline.idle=spin. Repeatable.").build());
        command.addOption(OptionSpec.builder(QUIET_OPTION, "--quiet").type(boolean.class).arity("0")
            .order(ConfigOption.SET_ORDER).description("Log errors alone.").build());
        command.addOption(OptionSpec.builder(VERBOSE_OPTION, "--verbose").type(boolean.class).arity("0")
            .order(ConfigOption.SET_ORDER).description("Log details, and stack traces of errors.").build());
    }

    /** What a command line asks for; what else the command has lies under the options. */
    ConfigLoader load(final ParseResult line, final Consumer<ConfigLoader> layOver) {
        final ConfigLoader loader = new ConfigLoader();
        final Path file = line.matchedOptionValue(FILE_OPTION, null);
        if (file != null) {
            loader.file(file);
        }
        layOver.accept(loader);
        for (final ConfigOption option : options) {
            if (line.hasMatchedOption(option.longName())) {
                loader.option(option.longName(), option.key(), texts(line.matchedOptionValue(option.longName(), null)));
            }
        }
        set(loader, line.matchedOptionValue(SET_OPTION, List.of()));
        verbosity(loader, line);
        return loader;
    }

    /** The code for an error in what the command line or the file says, as seen from a key. */
    static ExitCode blame(final ExporterConfig config, final ConfigKey<?> key) {
        return isGiven(config, key) ? ExitCode.USAGE : ExitCode.CONFIGURATION;
    }

    /** Whether the command line gives a key. */
    static boolean isGiven(final ExporterConfig config, final ConfigKey<?> key) {
        return config.effectiveValue(key).origin().isCommandLine();
    }

    private static List<String> texts(final Object value) {
        final List<String> texts = new ArrayList<>();
        if (value instanceof List<?> list) {
            list.forEach((item) -> texts.add((String)item));
        } else {
            texts.add((String)value);
        }
        return texts;
    }

    private static void verbosity(final ConfigLoader loader, final ParseResult line) {
        final boolean isQuiet = line.hasMatchedOption(QUIET_OPTION);
        final boolean isVerbose = line.hasMatchedOption(VERBOSE_OPTION);
        if (isQuiet && isVerbose) {
            throw new ExitException(ExitCode.USAGE, "-q and -v contradict each other: leave one out");
        }
        if (isQuiet || isVerbose) {
            loader.option(isQuiet ? QUIET_OPTION : VERBOSE_OPTION, ConfigTable.LOG_LEVEL, List.of(isQuiet ? "error" : "debug"));
        }
    }

    private static void set(final ConfigLoader loader, final List<String> assignments) {
        final Map<ConfigKey<?>, List<String>> texts = new LinkedHashMap<>();
        for (final String assignment : assignments) {
            final int equalsIndex = assignment.indexOf('=');
            if (equalsIndex <= 0) {
                throw new ExitException(ExitCode.USAGE, "--set " + assignment + ": write --set KEY=VALUE");
            }
            final ConfigKey<?> key = key(assignment.substring(0, equalsIndex));
            texts.computeIfAbsent(key, (any) -> new ArrayList<>()).add(assignment.substring(equalsIndex + 1));
        }
        texts.forEach((key, values) -> loader.option(SET_OPTION + " " + key.path(), key, values));
    }

    private static ConfigKey<?> key(final String path) {
        final ConfigKey<?> key = ConfigTable.key(path);
        if (ConfigTable.replacement(path) != null) {
            throw new ExitException(
                ExitCode.USAGE, "--set " + path + ": is no key any longer: " + ConfigTable.replacement(path));
        }
        if (key == null) {
            final String nearest = Names.nearest(path, ConfigTable.keys().stream().map(ConfigKey::path).toList());
            throw new ExitException(ExitCode.USAGE, "--set " + path + ": unknown key" +
                (nearest == null ? "; flowlag check-config --all lists them" : "; did you mean " + nearest + "?"));
        }
        return key;
    }
}
