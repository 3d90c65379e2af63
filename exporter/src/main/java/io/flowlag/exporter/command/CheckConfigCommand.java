package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigReference;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.terminal.ExitCode;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;

import java.nio.file.Path;
import java.util.concurrent.Callable;

/** {@code flowlag check-config}. */
@Command(name = "check-config",
    description = "Checks a configuration file, and the keys and certificates that it names; prints every effective value and " +
        "where it came from, or every error.")
final class CheckConfigCommand implements Callable<Integer> {
    @Parameters(arity = "1", paramLabel = "FILE", description = "The configuration file.")
    private Path file;

    private final Terminal terminal;

    CheckConfigCommand(final Terminal terminal) {
        this.terminal = terminal;
    }

    @Override
    public Integer call() {
        final ExporterConfig config = new ConfigLoader().file(file).conclude();
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
