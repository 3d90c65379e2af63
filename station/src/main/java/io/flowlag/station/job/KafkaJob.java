package io.flowlag.station.job;

import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.Topic;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateRecoveryOptions;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

import java.io.IOException;
import java.time.Duration;

/** The job over Kafka: in this process, or for a Flink cluster. */
public final class KafkaJob {
    private static final Duration RESTART_WAIT = Duration.ofSeconds(1);

    private KafkaJob() {
    }

    /**
     * Gives the job to the cluster whose client this process is, as {@code flink run} makes it. With a directory of checkpoints,
     * which all hosts of the cluster share, it begins with the newest state there, unless {@code -s} names one: behind a job
     * manager that has ended the same command goes on. State backend and all else that is not of the job are the cluster's
     * configuration, as are parallelism and directory of checkpoints unless they are given.
     *
     * @throws IOException if the directory or the topics cannot be had, or the cluster does not take the job.
     */
    public static void submit(final JobSettings settings, final KafkaSettings kafka, final EmbeddedJob.Settings flink)
        throws IOException {
        createTopics(kafka);
        final StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        if (flink.checkpoints() != null &&
            environment.getConfiguration().getOptional(StateRecoveryOptions.SAVEPOINT_PATH).isEmpty()) {
            final Configuration last = new Configuration();
            EmbeddedJob.keep(flink.checkpoints(), last);
            environment.configure(last);
        }
        add(environment, settings, kafka, flink);
        try {
            environment.executeAsync("flowlag " + settings.name());
        } catch (final Exception ex) {
            throw new IOException("the job cannot begin: " + ex.getMessage(), ex);
        }
    }

    static void createTopics(final KafkaSettings kafka) throws IOException {
        Topic.createMissing(kafka, Topic.values());
    }

    /** However often Kafka or a machine is away, the job comes back. */
    static void add(
        final StreamExecutionEnvironment environment, final JobSettings settings, final KafkaSettings kafka,
        final EmbeddedJob.Settings flink) {
        final Configuration configuration = new Configuration();
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS, Integer.MAX_VALUE);
        configuration.set(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_DELAY, RESTART_WAIT);
        if (flink.checkpoints() != null) {
            configuration.set(CheckpointingOptions.CHECKPOINTS_DIRECTORY, flink.checkpoints().toUri().toString());
        }
        if (flink.parallelism() > 0) {
            configuration.set(CoreOptions.DEFAULT_PARALLELISM, flink.parallelism());
        }
        environment.configure(configuration);
        environment.enableCheckpointing(flink.intervalMs(), CheckpointingMode.EXACTLY_ONCE);
        StationJob.add(settings, KafkaStreams.messages(environment, kafka), KafkaStreams.sinks(kafka, settings.name()));
    }
}
