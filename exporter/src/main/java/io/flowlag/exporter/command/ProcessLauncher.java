package io.flowlag.exporter.command;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.runtime.CollectProcess;
import io.flowlag.exporter.runtime.MeterProcess;
import io.flowlag.exporter.runtime.collect.CollectOptions;
import io.flowlag.exporter.runtime.delay.DelayOptions;
import io.flowlag.exporter.runtime.delay.DelayProcess;
import io.flowlag.exporter.runtime.demo.DemoProcess;
import io.flowlag.exporter.runtime.run.RunProcess;
import io.flowlag.exporter.runtime.selftest.SelfTestProcess;
import io.flowlag.exporter.terminal.Terminal;

import java.util.List;
import java.util.function.Supplier;

/** The real work behind the commands. */
final class ProcessLauncher implements ProcessStarter {
    @Override
    public ExitCode run(
        final ExporterConfig config, final Supplier<ExporterConfig> reload, final Listing listing, final Terminal terminal) {
        return RunProcess.run(config, reload, listing, terminal);
    }

    @Override
    public ExitCode selfTest(final ExporterConfig config, final List<String> files, final Terminal terminal) {
        return SelfTestProcess.run(config, files, terminal);
    }

    @Override
    public ExitCode meter(
        final ExporterConfig config, final List<String> files, final Listing listing, final Terminal terminal) {
        return MeterProcess.run(config, files, listing, terminal);
    }

    @Override
    public ExitCode delay(final ExporterConfig config, final DelayOptions options, final Terminal terminal) {
        return DelayProcess.run(config, options, terminal);
    }

    @Override
    public ExitCode collect(final ExporterConfig config, final CollectOptions options, final Terminal terminal) {
        return CollectProcess.run(config, options, terminal);
    }

    @Override
    public ExitCode demo(final ExporterConfig config, final Terminal terminal) {
        return DemoProcess.run(config, terminal);
    }
}
