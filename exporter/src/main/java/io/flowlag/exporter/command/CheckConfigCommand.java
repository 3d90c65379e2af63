package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigReference;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.runtime.MemoryPlan;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code flowlag check-config}. */
@Command(name = "check-config",
    description = "Checks a configuration file and the keys and certificates that it names. Prints every effective value and " +
        "its origin, or every error.")
final class CheckConfigCommand implements Callable<Integer> {
    @Parameters(arity = "0..1", paramLabel = "FILE", description = "The configuration file.")
    private Path file;

    @Option(names = "--all", description = "Print every key with its default, type, range and help, and check no file.")
    private boolean isAll;

    @Spec
    private CommandSpec spec;

    private final Terminal terminal;

    CheckConfigCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    /** As other commands name it. */
    @Option(names = {"-c", "--config"}, paramLabel = "FILE", hidden = true)
    private void named(final Path config) {
        file = config;
    }

    @Override
    public Integer call() {
        if (isAll == (file != null)) {
            throw new ParameterException(spec.commandLine(),
                isAll ? "--all checks no file: leave out one of the two" : "Missing required parameter: 'FILE'");
        }
        if (isAll) {
            ConfigReference.keyLines().forEach(terminal.out()::println);
            terminal.out().flush();
            return ExitCode.DONE.number();
        }
        final ExporterConfig config = new ConfigLoader().file(file).conclude(MemoryPlan::parts);
        ContentCheck.check(config);
        ConfigReference.effectiveLines(config).forEach(terminal.out()::println);
        terminal.out().flush();
        config.warnings().forEach((warning) -> terminal.message("flowlag: warning: " + warning));
        if (!ContentCheck.isFilterChecked(config)) {
            terminal.message("flowlag: warning: capture.filter was not checked: that needs libpcap (Debian: package libpcap0.8)");
        }
        return ExitCode.DONE.number();
    }
}
