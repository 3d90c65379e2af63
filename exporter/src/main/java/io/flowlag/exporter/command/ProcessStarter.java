package io.flowlag.exporter.command;

import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.terminal.ExitCode;
import io.flowlag.exporter.terminal.Terminal;

import java.util.List;
import java.util.function.Supplier;

/**
 * The work behind the commands, which {@link Main} is given. Each method runs on the command's thread until the work is done or a
 * signal ends it; it may throw what {@link Main#run} turns into an exit code: configuration, capture and exit exceptions.
 */
public interface ProcessStarter {
    /**
     * The exporter process on live interfaces.
     *
     * @param config with at least one interface and one destination.
     * @param reload reads the same file and options again; throws a configuration exception if they are not in order.
     */
    ExitCode run(ExporterConfig config, Supplier<ExporterConfig> reload, Terminal terminal);

    /**
     * The live process's test of itself.
     *
     * @param config with an interface where there are no files.
     * @param files  captures to test with; may be empty.
     */
    ExitCode selfTest(ExporterConfig config, List<String> files, Terminal terminal);

    /**
     * One observation point, from files.
     *
     * @param config without destinations if a table shall be printed.
     * @param files  at least one; {@code -} is standard input.
     */
    ExitCode meter(ExporterConfig config, List<String> files, Terminal terminal);

    /**
     * Two measurement points, from files.
     *
     * @param config without destinations if a table shall be printed.
     */
    ExitCode delay(ExporterConfig config, DelayOptions options, Terminal terminal);

    /**
     * A Collecting Process.
     *
     * @param config  for the enterprise number, log and TLS.
     * @param options where messages come from, and how records are printed.
     */
    ExitCode collect(ExporterConfig config, CollectOptions options, Terminal terminal);

    /**
     * The whole product in one process.
     *
     * @param config whose destinations are served besides the built-in collector.
     */
    ExitCode demo(ExporterConfig config, Terminal terminal);
}
