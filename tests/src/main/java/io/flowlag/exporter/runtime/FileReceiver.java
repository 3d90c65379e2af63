package io.flowlag.exporter.runtime;

import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.CaptureFacts;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.rli.reference.ReferenceSession;

import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * The process of a receiver point that reads a capture: the stages of the program on its threads, with references from the
 * capture and the intervals of a sender from a file. It serves measurements and prints only errors.
 */
public final class FileReceiver {
    private static final int ARGUMENTS = 7;
    private static final int WRONG_COMMAND_LINE = 64;

    private final Counters counters = new Counters();
    private final Terminal terminal = Terminal.system();
    private boolean hasFailed;

    private FileReceiver() {
    }

    /**
     * Meters a capture to its end; the exit code is 1 if a packet was not metered, sketched or estimated.
     *
     * @param arguments capture, intervals, timestamp of the first packet in ns, columns of the sketch, packets of the capture
     *                  without references, records, octets of payload that digests cover.
     * @throws Exception if it cannot be run.
     */
    public static void main(final String[] arguments) throws Exception {
        if (arguments.length != ARGUMENTS) {
            System.err.println("receiver: needs CAPTURE INTERVALS FIRST_NS COLUMNS PACKETS RECORDS DIGEST_OCTETS");
            System.exit(WRONG_COMMAND_LINE);
        }
        System.exit(run(arguments[0], Path.of(arguments[1]), Long.parseLong(arguments[2]), Integer.parseInt(arguments[3]),
            Long.parseLong(arguments[4]), arguments[5], Integer.parseInt(arguments[6])));
    }

    /**
     * Meters a capture to its end.
     *
     * @param firstNs     timestamp of the first packet.
     * @param packetCount of the capture without references.
     * @return the exit code: 1 if a packet was not metered, sketched or estimated.
     * @throws Exception if it cannot be run.
     */
    public static int run(
        final String capture, final Path intervals, final long firstNs, final int columns, final long packetCount,
        final String records, final int digestPayloadBytes) throws Exception {
        final ExporterConfig config = ReceiverConfig.config(columns, records).withThreading(
            Runtime.getRuntime().availableProcessors() > 1 ? Threading.PIPELINED : Threading.INVOKER);
        return new FileReceiver().run(config, capture, intervals, firstNs, packetCount, digestPayloadBytes);
    }

    private int run(
        final ExporterConfig config, final String capture, final Path intervals, final long firstNs, final long packetCount,
        final int digestPayloadBytes) throws Exception {
        try (PlayedSender sender = new PlayedSender(config, intervals, firstNs)) {
            final DelayWiring wiring = new DelayWiring(
                Role.RECEIVER,
                new DelayWiring.References(ReferenceMode.SENT, List.of(ReferenceSession.unauthenticated(ReceiverConfig.SESSION))),
                ClockError.fixed(1_000), true, false, false, true)
                .withCaptures(CaptureFacts.NONE.withPayload(digestPayloadBytes)).withLink(sender);
            final List<PacketSource> sources = List.of(CaptureFiles.open(List.of(capture), FilterSupplier.ALL));
            final DestinationFactory factory = new DestinationFactory(true, new boolean[1], Map.of(), counters);
            final List<Destination> destinations = new Destinations(factory).of(config);
            final Signals signals = Signals.install(Signals.HangUp.STOPS);
            final StageErrors errors = new StageErrors();
            final MeteringPipeline pipeline =
                new MeteringPipeline(config, sources, false, wiring, destinations, counters, errors);
            try (PipelineRun run = new PipelineRun(config, pipeline, errors, signals, terminal)) {
                factory.delay(run.delayStages());
                run.run();
                run.writeStatistics();
                check("exit code", run.exitCode().number(), 0);
                check(run, packetCount);
            }
            if (sender.failure() != null) {
                fail(sender.failure());
            }
        }
        return hasFailed ? 1 : 0;
    }

    private void check(final PipelineRun run, final long packetCount) {
        final Map<String, Long> delay = run.statistics().delay().counters();
        check("metered", counters.get(CounterId.METERED), packetCount);
        check("sketched", delay.get("lds_received_booked") + delay.get("lds_received_held"), packetCount);
        check("estimated", delay.get("rli_estimated"), packetCount);
        check("intervals without answer", delay.get("lds_intervals_unanswered") + delay.get("lds_intervals_refused") +
            delay.get("lds_intervals_damaged"), 0);
        final long records = run.statistics().destinations().get(0).recordsExported();
        check("records", records, counters.get(CounterId.RECORDS_MADE));
    }

    private void check(final String what, final long seen, final long expected) {
        if (seen != expected) {
            fail(what + ": " + seen + ", not " + expected);
        }
    }

    private void fail(final String text) {
        hasFailed = true;
        terminal.message("receiver: " + text);
    }
}
