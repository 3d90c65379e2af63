package io.flowlag.exporter.process;

import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Threading;
import io.flowlag.exporter.console.ExitCode;
import io.flowlag.exporter.console.ExitException;
import io.flowlag.exporter.console.Signals;
import io.flowlag.exporter.console.Terminal;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.record.Destination;
import io.flowlag.exporter.record.DestinationFactory;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.Statistics;

import java.io.IOException;
import java.io.PrintStream;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * {@code flowlag demo}: the whole product in one process, without root and without a network: generated traffic, metering,
 * IPFIX over UDP on loopback, the built-in collector, and a table of what arrived beside what was generated.
 */
public final class DemoProcess {
    private static final int SHOWN_FLOWS = 12;
    private static final long ARRIVAL_TIMEOUT_NS = TimeUnit.SECONDS.toNanos(10);

    private DemoProcess() {
    }

    /**
     * Runs the demo.
     *
     * @param config   whose destinations are served besides the built-in collector.
     * @param terminal for the table.
     * @return {@link ExitCode#DONE} if everything that was generated arrived.
     */
    public static ExitCode run(final ExporterConfig config, final Terminal terminal) {
        final ExporterConfig threaded =
            config.isDefault(ConfigTable.THREADING) ? config.withThreading(Threading.PIPELINED) : config;
        final Signals signals = Signals.install(Signals.HangUp.STOPS);
        final Counters counters = new Counters();
        final DestinationFactory factory = new DestinationFactory(true, new boolean[1], Map.of(), counters);
        final GeneratedTraffic traffic = new GeneratedTraffic(TrafficProfile.demo());
        try (DemoCollector collector = DemoCollector.start((int)config.exporting().enterpriseNumber())) {
            final InetSocketAddress address = collector.address();
            final List<Destination> destinations = new ArrayList<>(new Destinations(factory).of(threaded));
            final Destination loopback = factory.make(threaded, loopback(address));
            destinations.add(loopback);
            try (PipelineRun run =
                new PipelineRun(threaded, List.of(traffic), false, destinations, counters, signals, terminal)) {
                run.run();
                final boolean isComplete =
                    collector.awaitRecords(loopback.statistics().recordsExported(), ARRIVAL_TIMEOUT_NS);
                run.writeStatistics();
                final ExitCode exitCode = run.exitCode();
                final boolean isEqual = show(terminal.out(), traffic, collector, run.statistics(), address);
                return exitCode == ExitCode.DONE && !(isComplete && isEqual) ? ExitCode.INTERNAL : exitCode;
            }
        } catch (final IOException ex) {
            throw new ExitException(ExitCode.INTERNAL, "demo: loopback cannot be used: " + ex.getMessage());
        }
    }

    private static ExporterConfig.Destination loopback(final InetSocketAddress address) {
        final long secondNs = TimeUnit.SECONDS.toNanos(1);
        final int maxMessageBytes = 1400;
        final int sendBufferBytes = 1 << 20;
        final long rateLimitBitsPerSecond = 100_000_000L;
        return new ExporterConfig.Destination(
            "udp://" + address.getAddress().getHostAddress() + ":" + address.getPort(), ExporterConfig.Transport.UDP,
            address.getAddress().getHostAddress(), address.getPort(), null, ExporterConfig.Profile.FULL, true, secondNs,
            maxMessageBytes, 60 * secondNs, 0, secondNs, rateLimitBitsPerSecond, secondNs, secondNs, sendBufferBytes);
    }

    private static boolean show(
        final PrintStream out,
        final GeneratedTraffic traffic,
        final DemoCollector collector,
        final Statistics statistics,
        final InetSocketAddress address) {
        final List<DemoCollector.Row> rows = collector.rows();
        out.printf(Locale.ROOT, "%-40s %-40s %-6s %8s %10s %9s  %s%n",
            "source", "destination", "proto", "packets", "octets", "seconds", "as generated");
        final DemoTruth truth = new DemoTruth(traffic.flows());
        rows.stream().limit(SHOWN_FLOWS).forEach((row) -> out.printf(
            Locale.ROOT, "%-40s %-40s %-6s %8d %10d %9.3f  %s%n",
            row.key().source(), row.key().destination(), row.key().protocolName(), row.packets(), row.octets(),
            (row.endNs() - row.startNs()) / 1e9, truth.isEqual(row) ? "yes" : "NO"));
        final long equal = rows.stream().filter(truth::isEqual).count();
        final Counters counters = statistics.counters();
        final DestinationStatistics loopback = statistics.destinations().get(statistics.destinations().size() - 1);
        out.printf(Locale.ROOT, "... %d flows in all; %d of %d equal the generated traffic in packets, octets and times%n",
            rows.size(), equal, truth.flowCount());
        out.printf(Locale.ROOT, "%d packets captured = %d decoded + %d refused + %d filtered + %d lost%n",
            counters.get(CounterId.CAPTURED), counters.get(CounterId.DECODED), counters.refused(),
            counters.get(CounterId.FILTERED), counters.get(CounterId.LOST_IN_KERNEL));
        out.printf(Locale.ROOT, "%d records made = %d exported + %d failed + %d waiting, in %d IPFIX messages over udp://%s:%d%n",
            loopback.recordsMade(), loopback.recordsExported(), loopback.recordsFailed(), loopback.recordsWaiting(),
            loopback.messages(), address.getAddress().getHostAddress(), address.getPort());
        out.printf(Locale.ROOT, "%d records collected, %d options records, %d missing by sequence number%n",
            collector.recordCount(), collector.optionsRecordCount(), collector.missingCount());
        return equal == truth.flowCount() && rows.size() == equal && statistics.isAccountedFor();
    }
}
