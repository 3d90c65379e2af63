package io.flowlag.exporter.runtime.demo;

import io.flowlag.common.command.ExitCode;
import io.flowlag.common.command.ExitException;
import io.flowlag.common.hash.SipHash;
import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.export.DestinationFactory;
import io.flowlag.exporter.lab.SegmentProfile;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.listing.Protocols;
import io.flowlag.exporter.runtime.ContentCheck;
import io.flowlag.exporter.runtime.Destinations;
import io.flowlag.exporter.runtime.MeteringPipeline;
import io.flowlag.exporter.runtime.PipelineRun;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.StageErrors;
import io.flowlag.exporter.status.Statistics;
import io.flowlag.exporter.terminal.Signals;
import io.flowlag.exporter.terminal.Terminal;
import io.flowlag.rli.reference.ReferenceSession;
import org.agrona.concurrent.UnsafeBuffer;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code flowlag demo}: runs the whole product in one process, without root and without a network. Traffic passes a simulated
 * bottleneck with reference packets among it. Both measurement points use references, sketches, joint estimation and
 * reconciliation of lost packets. IPFIX goes over UDP on loopback to the built-in collector. A table compares the estimated
 * delays with the true ones. Runs once, on the command's thread.
 */
public final class DemoProcess {
    private static final int SHOWN_FLOWS = 12;
    private static final String ROW = "%-37s %-37s %-5s %7s %9s %9s %9s %9s %9s %8s %8s %8s%n";
    private static final int SKETCH_COLUMNS = 32;
    /** Fixed, so that every run shows the same. */
    private static final byte[] DIGEST_KEY = "a demo's own key".getBytes(StandardCharsets.US_ASCII);
    private static final double NANOS_PER_MICRO = 1e3;
    private static final long ARRIVAL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private DemoProcess() {
    }

    /**
     * Runs the demo.
     *
     * @param config whose destinations are served besides the built-in collector.
     * @return {@link ExitCode#DONE} if everything that was generated arrived, or a signal ended it before.
     */
    public static ExitCode run(final ExporterConfig config, final Terminal terminal) {
        ContentCheck.requireOneFlowCache(config);
        final SegmentProfile profile = SegmentProfile.demo();
        final SimulatedSegment segment = new SimulatedSegment(profile);
        final ExporterConfig threaded =
            (config.isDefault(ConfigTable.THREADING) ? config.withThreading(Threading.PIPELINED) : config)
                .with(config.rli().withSerialisationAt(profile.capacityBps())).with(sketch(config))
                .with(config.joint().on()).with(config.reconcile().on());
        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final Counters counters = new Counters();
        final DestinationFactory factory = new DestinationFactory(true, new boolean[2], Map.of(), counters);
        final DelayWiring wiring = new DelayWiring(
            Role.BOTH,
            new DelayWiring.References(
                ReferenceMode.CAPTURED, List.of(ReferenceSession.unauthenticated(profile.references().firstSsid()))),
            ClockError.NONE, true, true, false, true).withDigestHash(SipHash.ofKey(new UnsafeBuffer(DIGEST_KEY), 0));
        try (DemoCollector collector = DemoCollector.start((int)config.exporting().enterpriseNumber())) {
            final InetSocketAddress address = collector.address();
            final List<Destination> destinations = new ArrayList<>(new Destinations(factory).of(threaded));
            final Destination loopback = factory.make(threaded, loopback(address));
            destinations.add(loopback);
            final List<PacketSource> sources = List.of(segment.sender(), segment.receiver());
            final StageErrors errors = new StageErrors();
            final MeteringPipeline pipeline =
                new MeteringPipeline(threaded, sources, false, wiring, destinations, counters, errors);
            try (PipelineRun run = new PipelineRun(threaded, pipeline, errors, signals, terminal)) {
                factory.delay(run.delayStages());
                run.run();
                final boolean isComplete =
                    collector.awaitRecords(loopback.statistics().recordsExported(), ARRIVAL_TIMEOUT_NS);
                run.writeStatistics();
                final ExitCode exitCode = run.exitCode();
                final boolean isEqual = show(terminal.out(), segment, collector, run.statistics(), address);
                return verdict(exitCode, isComplete && isEqual, signals.isStopRequested());
            }
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.INTERNAL, "demo: loopback cannot be used: " + ex.getMessage());
        }
    }

    /** A demo ended by a signal is incomplete, which is not an error. */
    static ExitCode verdict(final ExitCode ended, final boolean isWhole, final boolean isStopped) {
        return ended == ExitCode.DONE && !isWhole && !isStopped ? ExitCode.INTERNAL : ended;
    }

    /** Small, so that flows share cells, as in a large network. */
    private static ExporterConfig.Lds sketch(final ExporterConfig config) {
        return config.isDefault(ConfigTable.LDS_COLUMNS) && config.isDefault(ConfigTable.LDS_VLDA) ?
            config.lds().withShape(SKETCH_COLUMNS, 1) : config.lds();
    }

    private static ExporterConfig.Destination loopback(final InetSocketAddress address) {
        final long secondNs = TimeUnit.SECONDS.toNanos(1);
        final int maxMessageBytes = 1400;
        final int sendBufferBytes = 1 << 20;
        final long rateLimitBitsPerSecond = 100_000_000L;
        final String host = address.getAddress().getHostAddress();
        return new ExporterConfig.Destination(
            new ExporterConfig.Address(
                "udp://" + host + ":" + address.getPort(), ExporterConfig.Transport.UDP, host, address.getPort(), null),
            ExporterConfig.Profile.FULL, true, secondNs, maxMessageBytes, new ExporterConfig.Refresh(60 * secondNs, 0), secondNs,
            new ExporterConfig.Connection(rateLimitBitsPerSecond, secondNs, secondNs, sendBufferBytes),
            new ExporterConfig.Spool(null, 0, 0));
    }

    private static boolean show(
        final PrintStream out,
        final SimulatedSegment segment,
        final DemoCollector collector,
        final Statistics statistics,
        final InetSocketAddress address) {
        final List<DemoCollector.Row> rows = collector.rows();
        out.printf(Locale.ROOT, ROW, "source", "destination", "proto", "packets", "true_us", "rli_us", "lds_us", "joint_us",
            "bound_us", "rli_err", "lds_err", "jnt_err");
        final DemoTruth truth = new DemoTruth(segment);
        rows.stream().limit(SHOWN_FLOWS).forEach((row) -> out.printf(Locale.ROOT, ROW, row.key().source(),
            row.key().destination(), Protocols.name(row.key().protocol()).toLowerCase(Locale.ROOT), row.packets(),
            micros(truth.meanNs(row)),
            micros(meanNs(row, Kind.RLI)), micros(meanNs(row, Kind.LDS)), micros(meanNs(row, Kind.JOINT)),
            micros(row.errorBoundNs() == null ? Double.NaN : row.errorBoundNs()),
            percent(relativeError(row, Kind.RLI, truth)), percent(relativeError(row, Kind.LDS, truth)),
            percent(relativeError(row, Kind.JOINT, truth))));
        final long whole = rows.stream().filter(truth::isWhole).count();
        out.printf(Locale.ROOT, "... %d flows in all; %d of %d have every packet that came through the bottleneck%n",
            rows.size(), whole, truth.flowCount());
        tellAccuracy(out, rows, truth);
        tellLoss(out, rows, truth);
        tellCounters(out, collector, statistics, address);
        return whole == truth.flowCount() && rows.size() == whole && statistics.isAccountedFor();
    }

    /** The estimators of a flow's mean delay. */
    private enum Kind {
        RLI("references (RLI)"), LDS("sketches (LDS), intervals with an answer"), JOINT("both together");

        private final String text;

        Kind(final String text) {
            this.text = text;
        }
    }

    private static double meanNs(final DemoCollector.Row row, final Kind kind) {
        return switch (kind) {
            case RLI -> row.references().meanNs();
            case LDS -> row.sketches().meanNs();
            case JOINT -> row.joint().meanNs();
        };
    }

    private static void tellAccuracy(final PrintStream out, final List<DemoCollector.Row> rows, final DemoTruth truth) {
        for (final Kind kind : Kind.values()) {
            final double[] errors = rows.stream().filter(truth::isWhole)
                .mapToDouble((row) -> Math.abs(relativeError(row, kind, truth)))
                .filter((error) -> !Double.isNaN(error)).sorted().toArray();
            if (errors.length > 0) {
                out.printf(Locale.ROOT,
                    "%s: median relative error of a flow's mean delay %.2f %%, 90th percentile %.1f %%, %d flows%n",
                    kind.text, 100 * errors[errors.length / 2], 100 * errors[errors.length * 9 / 10], errors.length);
            }
        }
        final List<DemoCollector.Row> bounded = rows.stream()
            .filter((row) -> row.errorBoundNs() != null && row.joint().packets() == row.packets() && truth.isWhole(row)).toList();
        final long held = bounded.stream()
            .filter((row) -> Math.abs(row.joint().meanNs() - truth.meanNs(row)) <= row.errorBoundNs()).count();
        if (!bounded.isEmpty()) {
            out.printf(Locale.ROOT, "both together: mean within its 95 %% bound of the true mean for %.1f %% of %d flows%n",
                100.0 * held / bounded.size(), bounded.size());
        }
    }

    private static void tellLoss(final PrintStream out, final List<DemoCollector.Row> rows, final DemoTruth truth) {
        final List<DemoCollector.Row> known =
            rows.stream().filter((row) -> row.exactLostPackets() != null && truth.isWhole(row)).toList();
        out.printf(Locale.ROOT, "reconciliation: %d packets lost on the way; loss told exactly for %d flows, right for %d%n",
            rows.stream().filter(truth::isWhole).mapToInt(truth::lostPackets).sum(),
            known.size(), known.stream().filter((row) -> row.exactLostPackets() == truth.lostPackets(row)).count());
    }

    private static String micros(final double ns) {
        return Double.isNaN(ns) ? "-" : String.format(Locale.ROOT, "%.1f", ns / NANOS_PER_MICRO);
    }

    private static String percent(final double share) {
        return Double.isNaN(share) ? "-" : String.format(Locale.ROOT, "%.2f %%", 100 * share).replace("-0.00", "0.00");
    }

    private static double relativeError(final DemoCollector.Row row, final Kind kind, final DemoTruth truth) {
        return (meanNs(row, kind) - truth.meanNs(row)) / truth.meanNs(row);
    }

    private static void tellCounters(
        final PrintStream out, final DemoCollector collector, final Statistics statistics, final InetSocketAddress address) {
        final Counters counters = statistics.counters();
        final DestinationStatistics loopback = statistics.destinations().get(statistics.destinations().size() - 1);
        out.printf(Locale.ROOT, "%d packets captured = %d decoded + %d refused + %d filtered + %d lost%n",
            counters.get(CounterId.CAPTURED), counters.get(CounterId.DECODED), counters.refused(),
            counters.get(CounterId.FILTERED), counters.get(CounterId.LOST_IN_KERNEL));
        out.printf(Locale.ROOT, "%d packets decoded = %d of the sender point + %d metered + %d references at both points%n",
            counters.get(CounterId.DECODED), counters.get(CounterId.SENDER_POINT), counters.get(CounterId.METERED),
            counters.get(CounterId.REFERENCE_PACKETS));
        out.printf(Locale.ROOT, "%d records made = %d exported + %d failed + %d waiting, in %d IPFIX messages over udp://%s:%d%n",
            loopback.recordsMade(), loopback.recordsExported(), loopback.recordsFailed(), loopback.recordsWaiting(),
            loopback.messages(), address.getAddress().getHostAddress(), address.getPort());
        out.printf(Locale.ROOT, "%d records collected, %d options records, %d missing by sequence number%n",
            collector.recordCount(), collector.optionsRecordCount(), collector.missingCount());
    }
}
