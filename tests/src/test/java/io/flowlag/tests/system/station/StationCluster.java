package io.flowlag.tests.system.station;

import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.KafkaBroker;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Tools;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.admin.NewTopic;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * A station in several processes: broker, job manager, task managers and inlet. What is killed is started again at once, as a
 * supervisor of services does; behind a job manager {@code flink run} follows.
 */
final class StationCluster implements AutoCloseable {
    static final String PREFIX = "flowlag.";
    static final long WINDOW_MS = 2_000;
    static final int PARALLELISM = 2;
    static final int PARTITIONS = 4;
    private static final Duration START_TIMEOUT = Duration.ofMinutes(2);
    private static final String OPENS = "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED";
    private static final String JOB = "station/target/flowlag-station.jar";
    private static final List<String> JARS = List.of("exporter/target/flowlag.jar", JOB, "station/target/flowlag-engine.jar");
    private static final String NETWORK = """
        nodes: {a: {}, b: {}}
        links: ['a b weight=1']
        points: {a-out: {node: a, clock: a}, b-in: {node: b, clock: b}}
        segments:
        """;

    /** What can be killed. */
    enum Victim {
        TASK_MANAGER, JOB_MANAGER, BROKER, INLET
    }

    private final Path directory;
    private final KafkaBroker broker;
    private final FlinkCluster flink;
    private final JvmServer inlet;
    private final int port = Ports.freeTcp();
    private final int metrics = Ports.freeTcp();
    private JvmServer submission;
    private int killedTaskManager;

    /**
     * Starts broker, cluster and inlet, and no job.
     *
     * @param options of each JVM of Flink.
     */
    StationCluster(final Path directory, final int taskManagers, final List<String> options) throws IOException {
        this.directory = directory;
        for (final String jar : JARS) {
            if (!Files.isRegularFile(Checkout.root().resolve(jar))) {
                throw Tools.missing(jar + " is not built: mvn -pl tests -am verify builds it first");
            }
        }
        flink = new FlinkCluster(Files.createDirectory(directory.resolve("flink")), taskManagers, options,
            Checkout.root().resolve(JOB));
        flink.jobManager().start();
        for (int i = 0; i < taskManagers; i++) {
            flink.taskManager(i).start();
        }
        broker = new KafkaBroker(Files.createDirectory(directory.resolve("broker")));
        Runtime.getRuntime().addShutdownHook(new Thread(broker::close));
        createTopics();
        final StringBuilder network = new StringBuilder(NETWORK);
        for (int exporter = 0; exporter < ExporterLoad.EXPORTERS; exporter++) {
            for (int segment = 0; segment < ExporterLoad.SEGMENTS; segment++) {
                network.append(String.format("  s-%d-%d: {from: a-out, to: b-in, exporter: 127.0.0.1, domain: %d, id: %d}%n",
                    exporter, segment, exporter, segment));
            }
        }
        Files.writeString(directory.resolve("network.yaml"), network);
        configure();
        final String jars =
            JARS.stream().map((jar) -> Checkout.root().resolve(jar).toString()).collect(Collectors.joining(File.pathSeparator));
        inlet = new JvmServer(directory, "inlet", List.of("-Xmx192m", "-XX:TieredStopAtLevel=1", OPENS,
            "--add-opens=java.base/sun.nio.ch=ALL-UNNAMED", "-cp", jars,
            "io.flowlag.exporter.command.Main", "station", "inlet", "--config", configuration().toString()));
    }

    private void createTopics() {
        try (Admin admin = Admin.create(Map.of(AdminClientConfig.BOOTSTRAP_SERVERS_CONFIG, broker.brokers()))) {
            admin.createTopics(Stream.of("messages", "flows", "segments", "paths", "verdicts", "alerts", "status").map(
                (topic) -> new NewTopic(PREFIX + topic + "-v1", PARTITIONS, (short)1)).toList()).all().get();
        } catch (final InterruptedException | ExecutionException ex) {
            throw new IllegalStateException(ex);
        }
    }

    private Path configuration() {
        return directory.resolve("station.yaml");
    }

    /** What inlet and job read at their start. */
    private void configure() throws IOException {
        Files.writeString(configuration(), String.format("""
            network: {name: test, topology: network.yaml}
            listen: ['udp://127.0.0.1:%d', 'tcp://127.0.0.1:%d']
            kafka: {brokers: '%s', prefix: %s}
            view: {listen: %d}
            windows: {length: %dms, lateness: 5s, late-limit: 10m}
            flink: {checkpoints: %s, interval: 1s}
            """, port, port, broker.brokers(), PREFIX, metrics, WINDOW_MS, directory.resolve("checkpoints")));
    }

    FlinkCluster flink() {
        return flink;
    }

    KafkaBroker broker() {
        return broker;
    }

    JvmServer inlet() {
        return inlet;
    }

    /** Starts the inlet, and waits until it receives. */
    void receive() {
        inlet.start();
        Deadline.await(START_TIMEOUT, () -> inlet.output().contains("records at tcp"), inlet::output);
    }

    /** {@return where the inlet receives} */
    int port() {
        return port;
    }

    /** Submits the job, which goes on from its last checkpoint or savepoint. */
    void submit(final int parallelism) {
        submission = flink.run(parallelism, "--config", configuration().toString());
    }

    /** Submits the job beside itself. Returns why it is refused. */
    String submitAgain() {
        final JvmServer first = submission;
        submit(PARALLELISM);
        Deadline.await(START_TIMEOUT, () -> refusal() != null, () -> "the second one is refused: " + flink.get("/jobs/overview"));
        final String refusal = refusal();
        submission = first;
        return refusal;
    }

    /** {@return why the last {@code flink run} failed; null if it did not} */
    String refusal() {
        return submission.isRefused() ? submission.output() : null;
    }

    /** Stops the job with a savepoint among its checkpoints. */
    void stop() {
        final String id = flink.jobs("RUNNING").get(0);
        flink.post("/jobs/" + id + "/stop", "{\"drain\": false, \"targetDirectory\": \"" +
            directory.resolve("checkpoints").toUri() + "\"}");
        Deadline.await(START_TIMEOUT, () -> flink.jobs("FINISHED").contains(id), () -> "the job stops: " +
            flink.get("/jobs/overview"));
    }

    /** Kills one: of the task managers one that runs part of the job. */
    void kill(final Victim victim) {
        switch (victim) {
            case TASK_MANAGER -> {
                Deadline.await(START_TIMEOUT, () -> flink.taskManagersInUse().size() > 0, () -> "task managers run the job");
                killedTaskManager = flink.taskManagersInUse().stream().filter((index) -> index != killedTaskManager).findFirst()
                    .orElse(killedTaskManager);
                flink.taskManager(killedTaskManager).kill();
            }
            case JOB_MANAGER -> flink.jobManager().kill();
            case BROKER -> broker.kill();
            default -> inlet.kill();
        }
    }

    /** Starts what was killed again. Returns once it is started, not before it works. */
    void start(final Victim victim) {
        switch (victim) {
            case TASK_MANAGER -> flink.taskManager(killedTaskManager).start();
            case JOB_MANAGER -> {
                flink.jobManager().start();
                submit(PARALLELISM);
            }
            case BROKER -> broker.start();
            default -> inlet.start();
        }
    }

    @Override
    public void close() {
        inlet.close();
        flink.close();
        broker.close();
    }
}
