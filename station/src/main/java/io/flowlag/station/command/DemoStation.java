package io.flowlag.station.command;

import io.flowlag.common.command.CommandModule;
import io.flowlag.ipfix.collect.SessionKind;
import io.flowlag.ipfix.element.FlowElements;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.demo.DemoExporters;
import io.flowlag.station.demo.DemoNetwork;
import io.flowlag.station.job.EmbeddedJob;
import io.flowlag.station.job.JobSettings;
import io.flowlag.station.view.View;

import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;

/** {@code flowlag station --demo}: the station with the exporters of a simulated network, of which one hop becomes slow. */
final class DemoStation {
    private static final long SEED = 7;
    private static final int PORT = 8080;
    private static final long WINDOW_MS = 10_000;
    private static final long WINDOW_NS = TimeUnit.MILLISECONDS.toNanos(WINDOW_MS);
    private static final long LATENESS_MS = 10_000;
    private static final long LATE_LIMIT_MS = 60_000;
    private static final long SLOW_NS = 500_000;
    private static final double CONFIDENCE = 0.95;
    /** Windows from the past that are sent at once, so that floors are known. */
    private static final int PAST = 12;
    private static final int HEALTHY = 1;
    private static final double EXTRA_NS = 2_000_000;
    private static final long CHECKPOINT_MS = 10_000;

    private final CommandModule.Surroundings surroundings;
    private final DemoNetwork network = new DemoNetwork(SEED);
    private final int slow = network.busiestHop();
    private DemoExporters exporters;
    private long nextNs;
    private int sent;

    private DemoStation(final CommandModule.Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** Runs until the process must end. */
    static void run(final CommandModule.Surroundings surroundings) throws IOException {
        final Path directory = Files.createTempDirectory("flowlag-station-demo");
        try {
            new DemoStation(surroundings).run(directory);
        } finally {
            try (Stream<Path> files = Files.walk(directory)) {
                files.sorted(Comparator.reverseOrder()).map(Path::toFile).forEach((file) -> file.delete());
            }
        }
    }

    private void run(final Path directory) throws IOException {
        final InetAddress loopback = InetAddress.getLoopbackAddress();
        final JobSettings job = new JobSettings("demo", "", "", network.yaml(),
            FlowElements.DOCUMENTATION_ENTERPRISE_NUMBER, SLOW_NS, CONFIDENCE,
            new JobSettings.Windows(WINDOW_MS, LATENESS_MS, LATE_LIMIT_MS + PAST * WINDOW_MS),
            new JobSettings.Paths(1, JobSettings.Paths.USUAL.flows()), List.of());
        final StationConfig config = new StationConfig(job,
            List.of(new StationConfig.Listener(SessionKind.UDP, new InetSocketAddress(loopback, 0), null)),
            View.Settings.onLoopback(PORT, directory.resolve("history.db")),
            new EmbeddedJob.Settings(null, CHECKPOINT_MS, 1), null);
        try (Station station = Station.start(config, surroundings.message());
            DemoExporters opened = new DemoExporters(network, station.udpAddress().getPort())) {
            exporters = opened;
            nextNs = nowNs() / WINDOW_NS * WINDOW_NS - PAST * WINDOW_NS;
            final BooleanSupplier stop = surroundings.stop();
            station.run(() -> {
                send();
                return stop.getAsBoolean();
            });
        }
    }

    private static long nowNs() {
        return TimeUnit.MILLISECONDS.toNanos(System.currentTimeMillis());
    }

    private void send() {
        if (nowNs() >= nextNs + WINDOW_NS) {
            if (sent == PAST + HEALTHY) {
                network.slow(slow, EXTRA_NS);
                surroundings.message().accept("station: from now on packets from " + name(network.topology().from(slow)) +
                    " to " + name(network.topology().to(slow)) + " wait 2 ms longer, on average");
            }
            exporters.send(nextNs, nextNs + WINDOW_NS, network.interval());
            exporters.sendFlows(nextNs, nextNs + WINDOW_NS, network.flows());
            nextNs += WINDOW_NS;
            sent++;
        }
    }

    private String name(final int node) {
        return network.topology().name(node);
    }
}
