package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.exporter.capture.CaptureException;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.OutputFiles;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParseResult;
import picocli.CommandLine.Spec;

import java.util.concurrent.Callable;

/** A command that has a configuration: loads it, sets up the log, then does its work. */
abstract class ConfiguredCommand implements Callable<Integer> {
    @Spec
    private CommandSpec spec;

    private final ProcessStarter starter;
    private final ConfigOptions options;
    private final Terminal terminal;

    ConfiguredCommand(final ProcessStarter starter, final Terminal terminal, final ConfigOptions options) {
        this.starter = starter;
        this.terminal = terminal;
        this.options = options;
    }

    /** Says what describes the command, where no annotations do. */
    final void spec(final CommandSpec commandSpec) {
        spec = commandSpec;
    }

    /** The work itself. */
    abstract ExitCode work(ExporterConfig config);

    @Override
    public final Integer call() {
        final ExporterConfig config = load();
        Logging.configure(config.log().level().name(), config.log().file(), terminal);
        OutputFiles.check("statistics", config.stats().file());
        try {
            return work(config).number();
        } catch (final CaptureException ex) {
            final boolean isFilter = ex.kind() == CaptureException.Kind.BAD_FILTER;
            throw new ExitException(isFilter ? ConfigOptions.blame(config, ConfigTable.FILTER) : exitCode(ex.kind()),
                ex.getMessage());
        } finally {
            terminal.eraseStatus();
            terminal.out().flush();
        }
    }

    /** The configuration as file and options say now. */
    final ExporterConfig load() {
        final ExporterConfig config = conclude(options.load(line(), this::layOver));
        if ((!config.pairs().segments().isEmpty() || config.segments().size() > 1) && !hasSeveralSegments()) {
            throw new ExitException(ExitCode.CONFIGURATION, "segments: run alone measures several segments: name another file, " +
                "or leave one segment");
        }
        ContentCheck.check(config);
        return config;
    }

    /** Lays what the command's own options say of keys over the file, and tells of files that they name. */
    void layOver(final ConfigLoader loader) {
        // most have none
    }

    /** {@return what the file and the options say together} */
    ExporterConfig conclude(final ConfigLoader loader) {
        return loader.conclude();
    }

    /** {@return whether the command may be given several segments} */
    boolean hasSeveralSegments() {
        return false;
    }

    final ParseResult line() {
        return spec.commandLine().getParseResult();
    }

    final ProcessStarter starter() {
        return starter;
    }

    final Terminal terminal() {
        return terminal;
    }

    final ConfigOptions options() {
        return options;
    }

    /** The code for a source that cannot be opened. A bad filter counts as a configuration error: its origin is unknown here. */
    static ExitCode exitCode(final CaptureException.Kind kind) {
        return switch (kind) {
            case DAMAGED -> ExitCode.DAMAGED_INPUT;
            case NO_PERMISSION -> ExitCode.NO_PERMISSION;
            case BAD_FILTER -> ExitCode.CONFIGURATION;
            case NO_INPUT, UNAVAILABLE -> ExitCode.NO_INPUT;
        };
    }
}
