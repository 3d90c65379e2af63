package io.flowlag.tests.system.station;

import io.flowlag.tests.support.Deadline;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.ListOffsetsOptions;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.common.IsolationLevel;
import org.apache.kafka.common.TopicPartition;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;

/**
 * How many flow records a second a station on a cluster takes, with one and with two task managers of one subtask each: exporters
 * fill the topic of messages by TCP, then the job begins. Prints rates of the inlet and of the job, the job's from a tenth of the
 * records on, and whether all of them were committed once.
 */
final class ClusterThroughput {
    private static final Duration TIMEOUT = Duration.ofMinutes(10);

    private ClusterThroughput() {
    }

    static void measure(final long records, final int taskManagers) throws IOException {
        final Path directory = Files.createTempDirectory("flowlag-cluster");
        try (StationCluster station = new StationCluster(directory, taskManagers, List.of());
            Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, station.broker().brokers()))) {
            station.receive();
            final long beginNs = System.nanoTime();
            final ExporterLoad load = new ExporterLoad(station.port(), StationCluster.WINDOW_MS, ExporterLoad.ALL_IT_TAKES);
            Deadline.await(TIMEOUT, () -> Arrays.stream(load.sent()).sum() >= records, () -> "records are sent");
            load.close();
            final long sent = Arrays.stream(load.sent()).sum();
            Deadline.await(TIMEOUT, () -> committed(admin, "messages-v1") * ExporterLoad.RECORDS >= sent,
                () -> "they are received");
            System.out.printf("inlet: %d records, %.0f a second, %d ns of a processor each%n", sent,
                sent / seconds(beginNs, System.nanoTime()), station.inlet().cpu().toNanos() / sent);
            station.submit(taskManagers);
            Deadline.await(TIMEOUT, () -> committed(admin, "flows-v1") > sent / 10, () -> "a tenth is committed");
            final long firstNs = System.nanoTime();
            final long first = committed(admin, "flows-v1");
            final long firstCpuNs = cpuNs(station, taskManagers);
            Deadline.await(TIMEOUT, () -> committed(admin, "flows-v1") >= sent, () -> "all are committed");
            final double seconds = seconds(firstNs, System.nanoTime());
            System.out.printf("%d task managers: %.0f records a second in %.1f s, %d ns of a processor each; load %.1f%n",
                taskManagers, (sent - first) / seconds, seconds, (cpuNs(station, taskManagers) - firstCpuNs) / (sent - first),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage());
            try (CommittedResults results = new CommittedResults(
                station.broker().brokers(), StationCluster.PREFIX, load, StationCluster.WINDOW_MS)) {
                Deadline.await(TIMEOUT, () -> results.findings(load.sent()).isExact(), () -> "" + results.findings(load.sent()));
                System.out.println(results.findings(load.sent()));
            }
        }
    }

    private static double seconds(final long beginNs, final long endNs) {
        return (endNs - beginNs) / 1e9;
    }

    private static long cpuNs(final StationCluster station, final int taskManagers) {
        long sum = 0;
        for (int i = 0; i < taskManagers; i++) {
            sum += station.flink().taskManager(i).cpu().toNanos();
        }
        return sum;
    }

    /** What there is of a topic for those who read what is committed; with a few marks of transactions. */
    private static long committed(final Admin admin, final String topic) {
        try {
            final Map<TopicPartition, OffsetSpec> ends = new HashMap<>();
            for (int i = 0; i < StationCluster.PARTITIONS; i++) {
                ends.put(new TopicPartition(StationCluster.PREFIX + topic, i), OffsetSpec.latest());
            }
            return admin.listOffsets(ends, new ListOffsetsOptions(IsolationLevel.READ_COMMITTED)).all().get().values().stream()
                .mapToLong((end) -> end.offset()).sum();
        } catch (final InterruptedException | ExecutionException ex) {
            throw new IllegalStateException(ex);
        }
    }
}
