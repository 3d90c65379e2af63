package io.flowlag.exporter.process;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.capture.filter.BpfFilterSupplier;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.ClockSource;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.console.Signals;
import io.flowlag.exporter.console.Terminal;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.match.TruthWriter;
import io.flowlag.exporter.record.Destination;
import io.flowlag.exporter.record.DestinationFactory;
import io.flowlag.exporter.status.Counters;
import org.agrona.CloseHelper;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * {@code flowlag delay}: the delay between two measurement points, from two captures of the same traffic, in the order of their
 * timestamps and through the same stages as the live process. Without a destination the flows are printed as a table, with a
 * summary of each traffic class.
 */
public final class DelayProcess {
    private DelayProcess() {
    }

    /**
     * Measures captures to their end.
     *
     * @param config   of the process; one thread works everything unless its threading was chosen.
     * @param options  captures, references and estimators.
     * @param terminal for the table and messages.
     * @return how it ended.
     * @throws io.flowlag.exporter.capture.CaptureException if a capture cannot be read.
     */
    public static ExitCode run(final ExporterConfig config, final DelayOptions options, final Terminal terminal) {
        final List<String> files = new ArrayList<>(options.senderFiles());
        files.addAll(options.receiverFiles());
        final ExporterConfig threaded =
            config.isDefault(ConfigTable.THREADING) ? config.withThreading(defaultThreading(files)) : config;
        final DelayWiring wiring = wiring(threaded, options, SnapLength.digestPayloadBytes(files));
        final Counters counters = new Counters();
        final DestinationFactory factory = new DestinationFactory(true, new boolean[2], Map.of(), counters);
        final List<PacketSource> sources = sources(config, options);
        final List<Destination> destinations;
        try {
            destinations = new ArrayList<>(new Destinations(factory).of(threaded));
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
        final boolean isPrinted = destinations.isEmpty();
        if (isPrinted) {
            destinations.add(TableOutput.destination(factory, threaded, terminal));
        }

        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        try (PipelineRun run =
            new PipelineRun(threaded, sources, false, wiring, destinations, counters, signals, terminal)) {
            factory.delay(run.delayMeter());
            run.run();
            if (isPrinted) {
                DelayTable.print(run.statistics().delay(), terminal.out());
            }
            run.writeStatistics();
            writeTruth(run, options);
            run.tellUnsupportedLinkTypes();
            return exitCode(run, sources, terminal);
        }
    }

    private static ExitCode exitCode(
        final PipelineRun run, final List<PacketSource> sources, final Terminal terminal) {
        ExitCode exitCode = run.exitCode();
        for (final PacketSource source : sources) {
            if (source.damage() != null) {
                terminal.message("flowlag: " + source.damage() + "; everything before it was measured");
                exitCode = exitCode == ExitCode.DONE ? ExitCode.DAMAGED_INPUT : exitCode;
            }
        }
        return exitCode;
    }

    private static DelayWiring wiring(
        final ExporterConfig config, final DelayOptions options, final int digestPayloadBytes) {
        final boolean isCaptured = options.referenceMode() == ReferenceMode.CAPTURED;
        final boolean isFixed = config.clock().source() == ClockSource.FIXED;
        return new DelayWiring(
            Role.BOTH, options.referenceMode(), isCaptured ? ReferenceSessions.of(config.rli()) : List.of(), null,
            ClockError.fixed(isFixed ? config.clock().errorNs() : -1), options.isInterpolated(), true, options.isExact(),
            options.isSketched(), digestPayloadBytes, null, null);
    }

    private static List<PacketSource> sources(final ExporterConfig config, final DelayOptions options) {
        final String filter = config.capture().filter();
        final FilterSupplier filters = filter == null ? FilterSupplier.ALL : new BpfFilterSupplier(filter);
        final List<PacketSource> sources = new ArrayList<>();
        try {
            sources.add(CaptureFiles.open(options.senderFiles(), filters));
            sources.add(CaptureFiles.open(options.receiverFiles(), filters));
            return sources;
        } catch (final RuntimeException ex) {
            CloseHelper.closeAll(sources);
            throw ex;
        }
    }

    private static void writeTruth(final PipelineRun run, final DelayOptions options) {
        if (options.truthFile() == null) {
            return;
        }
        try {
            TruthWriter.write(run.delayMeter().matchedFlows(), options.truthFile());
        } catch (final IOException ex) {
            throw new ExitException(
                ExitCode.CANNOT_WRITE, "cannot write the truth to " + options.truthFile() + ": " + ex.getMessage());
        }
    }

    /** A source that may wait for its input needs a thread of its own, or a signal would find nobody to take it. */
    private static Threading defaultThreading(final List<String> files) {
        return files.contains(CaptureFiles.STANDARD_INPUT) ? Threading.PIPELINED : Threading.INVOKER;
    }
}
