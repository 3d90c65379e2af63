package io.flowlag.station.job;

import io.flowlag.station.wire.KafkaSettings;
import io.flowlag.station.wire.Topic;
import org.apache.flink.client.deployment.ClusterClientFactory;
import org.apache.flink.client.deployment.ClusterDescriptor;
import org.apache.flink.client.deployment.DefaultClusterClientServiceLoader;
import org.apache.flink.client.program.ClusterClient;
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
     * manager that has ended the same command goes on. While the cluster runs a job of this name it is refused: two of one
     * configuration abort each other's transactions. Jobs of other clusters are not seen. State backend and all else that is not
     * of the job are the cluster's configuration, as are parallelism and directory of checkpoints unless they are given.
     *
     * @throws IOException if the directory or the topics cannot be had, or the cluster does not take the job.
     */
    public static void submit(final JobSettings settings, final KafkaSettings kafka, final EmbeddedJob.Settings flink)
        throws IOException {
        final StreamExecutionEnvironment environment = StreamExecutionEnvironment.getExecutionEnvironment();
        final String name = "flowlag " + settings.name();
        refuseSecond(Configuration.fromMap(environment.getConfiguration().toMap()), name);
        createTopics(kafka);
        if (flink.checkpoints() != null &&
            environment.getConfiguration().getOptional(StateRecoveryOptions.SAVEPOINT_PATH).isEmpty()) {
            final Configuration last = new Configuration();
            EmbeddedJob.keep(flink.checkpoints(), last);
            environment.configure(last);
        }
        add(environment, settings, kafka, flink);
        try {
            environment.executeAsync(name);
        } catch (final Exception ex) {
            throw new IOException("the job cannot begin: " + ex.getMessage(), ex);
        }
    }

    private static <T> void refuseSecond(final Configuration configuration, final String name) throws IOException {
        final ClusterClientFactory<T> factory = new DefaultClusterClientServiceLoader().getClusterClientFactory(configuration);
        final T id = factory.getClusterId(configuration);
        if (id == null) {
            return; // the cluster is made for this job
        }
        final boolean isRunning;
        try (ClusterDescriptor<T> cluster = factory.createClusterDescriptor(configuration);
            ClusterClient<T> client = cluster.retrieve(id).getClusterClient()) {
            isRunning = client.listJobs().get().stream().anyMatch(
                (job) -> job.getJobName().equals(name) && !job.getJobState().isGloballyTerminalState());
        } catch (final Exception ex) {
            throw new IOException("the cluster does not say what it runs: " + ex.getMessage(), ex);
        }
        if (isRunning) {
            throw new IOException("the cluster runs the job " + name + " already: stop it first, or change network.name");
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
