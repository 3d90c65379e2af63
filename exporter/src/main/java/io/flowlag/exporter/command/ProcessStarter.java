package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.terminal.Terminal;

import java.util.List;
import java.util.function.Supplier;

/**
 * The work behind the commands, which {@link Main} is given. Each method runs on the command's thread until the work is done or a
 * signal ends it; it may throw what {@link Main#run} turns into an exit code: configuration, capture and exit exceptions.
 */
public interface ProcessStarter {
    /** The exporter process on live interfaces, and how the same file and options are read again. Prints as {@link #meter}. */
    ExitCode run(ExporterConfig config, Supplier<ExporterConfig> reload, Listing listing, Terminal terminal);

    /** The live process's test of itself, with captures or, without any, with an interface. */
    ExitCode selfTest(ExporterConfig config, List<String> files, Terminal terminal);

    /** One observation point, from files; {@code -} is standard input. Without destinations the records are printed. */
    ExitCode meter(ExporterConfig config, List<String> files, Listing listing, Terminal terminal);

    /** Two measurement points, from files. Without destinations the records are printed. */
    ExitCode delay(ExporterConfig config, DelayOptions options, Terminal terminal);

    /** A Collecting Process. The configuration has the enterprise number, the log and TLS. */
    ExitCode collect(ExporterConfig config, CollectOptions options, Terminal terminal);

    /** The whole product in one process. The destinations are served besides the built-in collector. */
    ExitCode demo(ExporterConfig config, Terminal terminal);
}
