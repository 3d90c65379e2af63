package io.flowlag.station.job;

import io.flowlag.station.inlet.MessageQueue;
import io.flowlag.station.schema.RawMessage;
import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.MessageType;
import org.apache.flink.api.common.JobExecutionResult;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.HeartbeatManagerOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.RecoveryClaimMode;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Comparator;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import java.util.stream.Stream;

/**
 * The job in this process, in Flink's MiniCluster: from a queue to a feed, or over Kafka. It begins with its last checkpoint or
 * savepoint, if there is one. One thread.
 */
public final class EmbeddedJob implements AutoCloseable {
    private static final int NETWORK_MEMORY_MB = 32;
    private static final int MANAGED_MEMORY_MB = 1;
    private static final long STOP_S = 30;
    private static final long RETRY_NS = 100_000_000;
    private static final String LOOPBACK = "127.0.0.1";

    /**
     * How a job runs.
     *
     * @param checkpoints directory of checkpoints; null for none.
     * @param intervalMs  between checkpoints.
     * @param parallelism of all operators but the source; 0 for one in this process, and for what a cluster has.
     */
    public record Settings(Path checkpoints, long intervalMs, int parallelism) {
    }

    private final JobClient client;
    /** Asked for once: each time makes one more that waits for the end. */
    private final CompletableFuture<JobExecutionResult> result;
    private final Path directory;

    private EmbeddedJob(final JobClient client, final Path directory) {
        this.client = client;
        result = client.getJobExecutionResult();
        this.directory = directory;
    }

    /**
     * Starts the job.
     *
     * @param queue name of the {@link MessageQueue}.
     * @param feed  name of the {@link Feed}.
     * @throws IOException if the job cannot begin, or the directory cannot be read.
     */
    public static EmbeddedJob start(final JobSettings settings, final String queue, final String feed, final Settings flink)
        throws IOException {
        return start(flink, settings.name(), (environment) -> {
            final DataStream<RawMessage> messages = environment.fromSource(new QueueSource(queue),
                WatermarkStrategy.noWatermarks(), "messages", MessageType.forMessage(RawMessage.class)).uid("messages")
                .setParallelism(1);
            StationJob.add(settings, () -> MessageQueue.of(queue).nowNs(), messages, JobSinks.toFeed(feed));
        });
    }

    /**
     * Starts the job over Kafka: it waits while that is away.
     *
     * @throws IOException if the job cannot begin, or the directory cannot be read.
     */
    public static EmbeddedJob start(final JobSettings settings, final KafkaSettings kafka, final Settings flink)
        throws IOException {
        KafkaJob.createTopics(kafka);
        return start(flink, settings.name(), (environment) -> KafkaJob.add(environment, settings, kafka, flink));
    }

    private static EmbeddedJob start(final Settings flink, final String name, final Consumer<StreamExecutionEnvironment> job)
        throws IOException {
        final Path directory = flink.checkpoints();
        final Configuration configuration = new Configuration();
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MIN, MemorySize.ofMebiBytes(NETWORK_MEMORY_MB));
        configuration.set(TaskManagerOptions.NETWORK_MEMORY_MAX, MemorySize.ofMebiBytes(NETWORK_MEMORY_MB));
        configuration.set(TaskManagerOptions.MANAGED_MEMORY_SIZE, MemorySize.ofMebiBytes(MANAGED_MEMORY_MB));
        configuration.set(JobManagerOptions.BIND_HOST, LOOPBACK);
        configuration.set(TaskManagerOptions.BIND_HOST, LOOPBACK);
        configuration.set(RestOptions.BIND_ADDRESS, LOOPBACK);
        configuration.set(RestOptions.BIND_PORT, "0");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "disable");
        // Its parts are one process: one that was suspended must not take itself for dead.
        configuration.set(HeartbeatManagerOptions.HEARTBEAT_TIMEOUT, Duration.ofDays(1));
        if (directory != null) {
            keep(directory, configuration);
        }
        final StreamExecutionEnvironment environment =
            StreamExecutionEnvironment.createLocalEnvironment(Math.max(1, flink.parallelism()), configuration);
        if (directory != null) {
            environment.enableCheckpointing(flink.intervalMs(), CheckpointingMode.EXACTLY_ONCE);
        }
        job.accept(environment);
        try {
            return new EmbeddedJob(environment.executeAsync("flowlag " + name), directory);
        } catch (final Exception ex) {
            throw new IOException("the job cannot begin: " + ex.getMessage(), ex);
        }
    }

    /**
     * Keeps checkpoints in a directory, and begins with the newest checkpoint or savepoint there that is whole: its metadata are
     * written last. A checkpoint is removed once another one has followed it; savepoints stay.
     *
     * @throws IOException if the directory cannot be made or read.
     */
    static void keep(final Path directory, final Configuration configuration) throws IOException {
        Files.createDirectories(directory);
        configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, directory.toUri().toString());
        try (Stream<Path> files = Files.walk(directory, 3)) {
            files.filter((file) -> file.getFileName().toString().equals("_metadata"))
                .max(Comparator.comparingLong((file) -> file.toFile().lastModified())).map(Path::getParent).ifPresent((last) -> {
                    configuration.set(StateRecoveryOptions.SAVEPOINT_PATH, last.toUri().toString());
                    configuration.set(StateRecoveryOptions.RESTORE_MODE, last.getFileName().toString().startsWith("chk-") ?
                        RecoveryClaimMode.CLAIM : RecoveryClaimMode.NO_CLAIM);
                });
        }
    }

    /** {@return completes when the job has ended, exceptionally if it failed} */
    public CompletableFuture<JobExecutionResult> result() {
        return result;
    }

    /** Waits for operators that still read their state. */
    private void stop() throws ExecutionException, InterruptedException, TimeoutException {
        final long endNs = System.nanoTime() + TimeUnit.SECONDS.toNanos(STOP_S);
        boolean isStopped = false;
        while (!isStopped) {
            try {
                client.stopWithSavepoint(false, directory.toUri().toString(), SavepointFormatType.NATIVE)
                    .get(STOP_S, TimeUnit.SECONDS);
                isStopped = true;
            } catch (final ExecutionException ex) {
                if (!(ex.getCause() instanceof CheckpointException cause) || System.nanoTime() > endNs ||
                    cause.getCheckpointFailureReason() != CheckpointFailureReason.NOT_ALL_REQUIRED_TASKS_RUNNING) {
                    throw ex;
                }
                LockSupport.parkNanos(RETRY_NS);
            }
        }
    }

    /** Stops with a savepoint, if there is a directory; what is open goes on when it starts again. */
    @Override
    public void close() throws IOException {
        try {
            if (directory == null) {
                client.cancel().get(STOP_S, TimeUnit.SECONDS);
            } else {
                stop();
            }
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
        } catch (final ExecutionException | TimeoutException ex) {
            throw new IOException("the job did not stop in order: " + ex.getMessage(), ex);
        }
    }
}
