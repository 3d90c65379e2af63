package io.flowlag.exporter.runtime;

import io.flowlag.common.command.ExitCode;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.listing.Listing;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;

import java.util.List;
import java.util.Map;

/**
 * {@code flowlag meter}: one observation point, from captures, at full speed. Without a destination the flows are printed as a
 * table. Runs once, on the command's thread; stages on those of the threading mode.
 */
public final class MeterProcess {
    /** While the JVM still compiles, threads of a pipeline wait for each other, and compete with the compilers. */
    private static final long SHORT_BYTES = 512L << 20;

    private MeterProcess() {
    }

    /**
     * Meters captures to their end.
     *
     * @param config   of the process. Unless its threading is set, capture, metering and export have a thread each; with a single
     *                 processor, and where the captures are short, they share one.
     * @param files    at least one; {@code -} is standard input.
     * @param listing  what is printed without a destination.
     * @param terminal for the records and messages.
     * @throws io.flowlag.exporter.capture.CaptureException if no capture can be read.
     */
    public static ExitCode run(
        final ExporterConfig config, final List<String> files, final Listing listing, final Terminal terminal) {
        final FilterSupplier filters = PipelineRun.filters(config, terminal);
        final ExporterConfig threaded = PipelineRun.threadsOfFiles(config, files, SHORT_BYTES);
        final Counters counters = new Counters();
        final DestinationFactory factory = new DestinationFactory(true, new boolean[1], Map.of(), counters);
        final PacketSource source = CaptureFiles.open(files, filters);
        final List<Destination> destinations = new Destinations(
            factory, () -> RecordOutput.destination(
                factory, threaded, listing.within(RecordOutput.parts(threaded, false)), terminal, false)).of(threaded);

        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final StageErrors errors = new StageErrors();
        final MeteringPipeline pipeline =
            new MeteringPipeline(threaded, List.of(source), false, DelayWiring.NONE, destinations, counters, errors);
        try (PipelineRun run = new PipelineRun(threaded, pipeline, errors, signals, terminal)) {
            run.run();
            run.writeStatistics();
            run.tellUnsupportedLinkTypes();
            if (config.exporting().destinations().isEmpty()) {
                run.tellNothing();
            }
            final ExitCode exitCode = run.exitCode();
            if (source.damage() != null) {
                terminal.message("flowlag: " + source.damage() + "; everything before it was exported");
                return exitCode == ExitCode.DONE ? ExitCode.DAMAGED_INPUT : exitCode;
            }
            return exitCode;
        }
    }
}
