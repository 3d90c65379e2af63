package io.flowlag.tests.system.station;

import io.flowlag.tests.support.Deadline;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

/** A station in several processes under load, of which one is killed after the other. */
final class ClusterRun implements AutoCloseable {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);
    private static final long RECORDS_PER_SECOND = 4_000;
    private static final long MARGIN_MS = 6_000;

    private final StationCluster station;
    private final ExporterLoad load;
    private final CommittedResults results;
    private int ended;

    /** How a kill went: when the first result was committed of what was sent behind it, and what was found then. */
    record Kill(StationCluster.Victim victim, long backMs, CommittedResults.Findings findings) {
        @Override
        public String toString() {
            return String.format("%s back in %d ms: %s; load %.1f", victim, backMs, findings,
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
        }
    }

    /** Begins, and waits until results are committed. */
    ClusterRun(final Path directory) throws IOException {
        station = new StationCluster(directory, 2, List.of("-XX:TieredStopAtLevel=1"));
        station.receive();
        station.submit(StationCluster.PARALLELISM);
        load = new ExporterLoad(station.port(), StationCluster.WINDOW_MS, RECORDS_PER_SECOND);
        results = new CommittedResults(station.broker().brokers(), StationCluster.PREFIX, load, StationCluster.WINDOW_MS);
        awaitNewer(new long[ExporterLoad.EXPORTERS]);
    }

    private void awaitNewer(final long[] sent) {
        Deadline.await(TIMEOUT, () -> station.refusal() != null || results.hasNewerThan(sent), () -> "results are committed: " +
            station.flink().get("/jobs/overview") + results.findings(sent));
        if (station.refusal() != null) {
            throw new AssertionError(station.refusal());
        }
    }

    Kill kill(final StationCluster.Victim victim) {
        Deadline.await(TIMEOUT, () -> {
            ended += station.flink().startEnded();
            return station.flink().registered() == 2;
        }, () -> "both task managers are there");
        final long beginNs = System.nanoTime();
        station.kill(victim);
        final long[] before = load.sent();
        station.start(victim);
        awaitNewer(before);
        return new Kill(victim, Duration.ofNanos(System.nanoTime() - beginNs).toMillis(), settle());
    }

    /** Submits the same job beside the one that runs. Returns why it is refused. */
    String submitAgain() {
        return station.submitAgain();
    }

    /** Stops the job with a savepoint, and lets it go on from there with another parallelism. */
    CommittedResults.Findings rescale(final int parallelism) {
        station.stop();
        final long[] before = load.sent();
        station.submit(parallelism);
        awaitNewer(before);
        return settle();
    }

    /** Waits until everything is there that was sent so far, but what was lost before it was taken. */
    CommittedResults.Findings settle() {
        final long[] sent = load.sent();
        Deadline.await(TIMEOUT, () -> results.findings(sent).isExact(), () -> results.findings(sent).toString());
        return results.findings(sent);
    }

    /** {@return how many task managers have ended without a kill} */
    int ended() {
        return ended;
    }

    /** Waits until the windows so far are final and right. */
    String windows() {
        final long endMs = System.currentTimeMillis();
        Deadline.await(TIMEOUT, () -> System.currentTimeMillis() > endMs + MARGIN_MS &&
            !results.windowsUntil(endMs).contains(";"), () -> results.windowsUntil(endMs));
        return results.windowsUntil(endMs);
    }

    @Override
    public void close() {
        load.close();
        results.close();
        station.close();
    }
}
