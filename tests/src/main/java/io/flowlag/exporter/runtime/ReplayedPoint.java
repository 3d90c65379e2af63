package io.flowlag.exporter.runtime;

import io.flowlag.common.time.Nanoseconds;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.exchange.link.ExchangeEnd;
import io.flowlag.exporter.exchange.link.ProcessEnds;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.concurrent.AgentRunner;
import org.agrona.concurrent.SystemEpochNanoClock;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * The process of one of two hosts that replays a capture at its recorded pace or slower: the stages of the program on its
 * threads, and the exchange with the other process. Time is the packets'. Each second of it, a line on standard output states the
 * octets of the exchange so far.
 */
public final class ReplayedPoint {
    private static final int ARGUMENTS = 11;
    private static final int WRONG_COMMAND_LINE = 64;

    private final Counters counters = new Counters();
    private final Terminal terminal = Terminal.system();

    private ReplayedPoint() {
    }

    /**
     * Meters a capture to its end.
     *
     * @param arguments configuration file, capture, timestamp of the captures' first packet in ns, when the replay begins in ns
     *                  since the epoch, by what it is slower; of this host's clock by how much it is ahead in ns, its drift in
     *                  ns a second, its jitter in ns, and the seed of that; seconds of the own flow before and after.
     * @throws Exception if it cannot be run.
     */
    public static void main(final String[] arguments) throws Exception {
        if (arguments.length != ARGUMENTS) {
            System.err.println("replay: needs CONFIGURATION CAPTURE FIRST_NS BEGIN_NS SLOWER AHEAD_NS DRIFT_PPB JITTER_NS SEED " +
                "LEAD_S TAIL_S");
            System.exit(WRONG_COMMAND_LINE);
        }
        final ExporterConfig config = new ConfigLoader()
            .text(arguments[0], Files.readString(Path.of(arguments[0]))).conclude();
        final long beginNs = Long.parseLong(arguments[3]);
        final ReplayedSource source = new ReplayedSource(
            CaptureFiles.open(List.of(arguments[1]), FilterSupplier.ALL), Long.parseLong(arguments[2]), beginNs,
            Integer.parseInt(arguments[4]), new ReplayedClock(beginNs, Long.parseLong(arguments[5]),
                Long.parseLong(arguments[6]), Long.parseLong(arguments[7]), Long.parseLong(arguments[8])),
            Integer.parseInt(arguments[9]), Integer.parseInt(arguments[10]));
        System.exit(new ReplayedPoint().run(config.withThreading(Threading.PIPELINED), source, beginNs));
    }

    private int run(final ExporterConfig config, final ReplayedSource source, final long beginNs) throws Exception {
        Logging.configure(config.log().level().name(), config.log().file(), terminal);
        final boolean isReceiver = config.segment().role() == Role.RECEIVER;
        final boolean isPassive = config.rli().injection().policy() == ExporterConfig.Policy.PASSIVE;
        final ExchangeEnd exchange = ExchangeEnd.open(
            config, ClockError.fixed(1_000), new ProcessEnds(new SystemEpochNanoClock()));
        final DelayWiring wiring = new DelayWiring(
            config.segment().role(),
            new DelayWiring.References(isReceiver && isPassive ? ReferenceMode.PASSIVE : ReferenceMode.NONE, List.of()),
            ClockError.fixed(1_000), isReceiver && isPassive, false, false, config.lds().enabled()).withLink(exchange.link());
        final List<PacketSource> sources = List.of(source);
        final DestinationFactory factory = new DestinationFactory(true, new boolean[1], Map.of(), counters);
        final List<Destination> destinations = new Destinations(factory).of(config);
        final StageErrors errors = new StageErrors();
        final long[] nextNs = {beginNs};
        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final AgentRunner runner = exchange.start(errors);
        final StageErrors stageErrors = new StageErrors();
        final MeteringPipeline pipeline =
            new MeteringPipeline(config, sources, false, wiring, destinations, counters, stageErrors);
        try (PipelineRun run = new PipelineRun(config, pipeline, stageErrors, signals, terminal)) {
            factory.delay(run.delayStages());
            run.watch(errors);
            run.onHousekeeping(() -> {
                if (source.nowNs() >= nextNs[0]) {
                    nextNs[0] += Nanoseconds.PER_SECOND;
                    final Map<String, Long> delay = run.statistics().delay().counters();
                    System.out.printf(Locale.ROOT, "%.3f,%d%n", (source.nowNs() - beginNs) / 1e9,
                        delay.get("exchange_octets_sent") + delay.get("exchange_octets_received"));
                }
            });
            run.run();
            run.writeStatistics();
            return run.exitCode().number();
        } finally {
            runner.close();
        }
    }
}
