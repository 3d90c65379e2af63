package io.flowlag.station.command;

import io.flowlag.common.config.Problems;
import io.flowlag.station.config.StationConfig;
import io.flowlag.station.config.StationConfigReader;
import io.flowlag.station.job.KafkaJob;

import java.io.IOException;
import java.nio.file.Path;

/** What {@code flink run flowlag-station.jar --config FILE} calls: it gives the job to the cluster. */
public final class ClusterMain {
    private ClusterMain() {
    }

    /**
     * Submits the job.
     *
     * @param arguments {@code --config FILE}.
     * @throws IOException              if Kafka cannot be reached, or the cluster does not take the job.
     * @throws IllegalArgumentException if the configuration cannot be used; the message has every fault.
     */
    public static void main(final String... arguments) throws IOException {
        if (arguments.length != 2 || !"--config".equals(arguments[0])) {
            throw new IllegalArgumentException("write: flink run flowlag-station.jar --config FILE");
        }
        final Problems problems = new Problems();
        final StationConfig config = StationConfigReader.read(Path.of(arguments[1]), problems);
        if (config == null) {
            throw new IllegalArgumentException(String.join("\n", problems.lines()));
        }
        if (config.kafka() == null) {
            throw new IllegalArgumentException(arguments[1] + ": a cluster needs Kafka: give kafka.brokers");
        }
        KafkaJob.submit(config.job(), config.kafka(), config.flink());
    }
}
