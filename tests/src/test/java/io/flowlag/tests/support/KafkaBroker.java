package io.flowlag.tests.support;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.slf4j.LoggerFactory;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * One broker of Kafka that is its own controller, on loopback: a child process from the jars of Maven. Killed and started again,
 * it has its data and its port.
 */
public final class KafkaBroker implements AutoCloseable {
    private static final Duration START_TIMEOUT = Duration.ofMinutes(3);
    private static final long ANSWER_MS = 2_000;
    /** A cluster's id is 16 octets in base64. */
    private static final String CLUSTER = "MTIzNDU2Nzg5MDEyMzQ1Ng";

    static {
        // Clients say each second that a broker is away.
        ((Logger)LoggerFactory.getLogger("org.apache.kafka")).setLevel(Level.ERROR);
    }

    private final Path settings;
    private final int port = Ports.freeTcp();
    private Command.Running process;

    /**
     * Formats its directory, starts it and waits until it answers.
     *
     * @param directory takes its files; must be empty.
     */
    public KafkaBroker(final Path directory) throws IOException {
        final int controllerPort = Ports.freeTcp();
        settings = Files.writeString(directory.resolve("server.properties"), String.join("\n", List.of(
            "process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:" + controllerPort,
            "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort,
            "advertised.listeners=PLAINTEXT://127.0.0.1:" + port, "controller.listener.names=CONTROLLER",
            "log.dirs=" + directory.resolve("data"),
            "offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=2", "share.coordinator.state.topic.replication.factor=1",
            "share.coordinator.state.topic.min.isr=1", "group.initial.rebalance.delay.ms=0",
            // How long a killed broker counts as alive, so that one started in its place is refused.
            "broker.session.timeout.ms=1500", "broker.heartbeat.interval.ms=500",
            "log.cleaner.dedupe.buffer.size=2097152", "auto.create.topics.enable=false")) + "\n");
        java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings).run().orFail();
        start();
    }

    private static Command java(final Object... arguments) {
        final List<String> line = new ArrayList<>(List.of(Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-Xmx256m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:+PerfDisableSharedMem",
            "-cp", System.getProperty("java.class.path")));
        for (final Object each : arguments) {
            line.add(each.toString());
        }
        return new Command(line);
    }

    /** Starts it, if it was killed, and waits until it answers. */
    public void start() {
        process = java("kafka.Kafka", settings).start();
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, brokers()))) {
            Deadline.await(START_TIMEOUT, () -> !process.isAlive() || isAnswering(admin), () -> "Kafka starts: " + output());
        }
        if (!process.isAlive()) {
            throw new AssertionError("Kafka ended: " + output());
        }
    }

    private static boolean isAnswering(final Admin admin) {
        try {
            return !admin.describeCluster().nodes().get(ANSWER_MS, TimeUnit.MILLISECONDS).isEmpty();
        } catch (final ExecutionException | TimeoutException ex) {
            return false;
        } catch (final InterruptedException ex) {
            throw new AssertionError(ex);
        }
    }

    private String output() {
        return process.output() + process.errors();
    }

    /** {@return its address, HOST:PORT} */
    public String brokers() {
        return "127.0.0.1:" + port;
    }

    /** {@return its process id} */
    public long pid() {
        return process.pid();
    }

    /** Ends it by SIGKILL. */
    public void kill() {
        process.close();
    }

    @Override
    public void close() {
        kill();
    }
}
