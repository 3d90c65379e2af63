package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.terminal.Terminal;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

import java.nio.file.Path;
import java.util.List;

/** {@code flowlag delay}. */
@Command(name = "delay",
    description = "Measures the delay of each flow between two points, from two captures of the same traffic.")
final class DelayCommand extends TwoPointCommand {
    @Option(names = {"-s", "--sender"}, arity = "1..*", required = true, order = FIRST, paramLabel = "FILE",
        description = "Captures of the sender point, where packets pass first; - is standard input.")
    private List<String> senderFiles;

    @Option(names = {"-r", "--receiver"}, arity = "1..*", required = true, order = FIRST, paramLabel = "FILE",
        description = "Captures of the receiver point.")
    private List<String> receiverFiles;

    @Option(names = "--truth", paramLabel = "FILE.csv",
        description = "Writes the exact delay of each flow, by matching every packet; - is standard output.")
    private Path truthFile;

    DelayCommand(final ProcessStarter starter, final Terminal terminal) {
        super(starter, terminal, ConfigOptions.ofCaptures().ofDelay());
    }

    @Override
    void layOver(final ConfigLoader loader) {
        super.layOver(loader);
        loader.reads("-s", senderFiles).reads("-r", receiverFiles).writes("--truth", truthFile);
    }

    @Override
    ExitCode work(final ExporterConfig config) {
        if (!config.exporting().destinations().isEmpty()) {
            QueryOptions.requireNone(line(), "delay");
        }
        return measure(
            config, senderFiles, receiverFiles, truthFile, QueryOptions.read(line(), terminal()), terminal());
    }
}
