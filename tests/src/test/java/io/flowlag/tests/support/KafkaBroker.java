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
 * it has its data and its ports. At a second port it wants TLS and SCRAM, if openssl is there.
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

    /** Of the user who may come over TLS. */
    public static final String PASSWORD = "to-be-kept";
    private static final String LOGIN = "org.apache.kafka.common.security.scram.ScramLoginModule required";

    private static final int KILLED_MS = 1500;

    private final Path directory;
    private final Path settings;
    private final int port = Ports.freeTcp();
    private final int securedPort = Ports.freeTcp();
    private Command.Running process;

    /**
     * Formats its directory, starts it and waits until it answers; may be killed.
     *
     * @param directory takes its files; must be empty.
     */
    public KafkaBroker(final Path directory) throws IOException {
        this(directory, KILLED_MS);
    }

    /** The same, for how long it counts as alive if it is silent: killed, so that one in its place is refused, or not served. */
    public KafkaBroker(final Path directory, final int silentMs) throws IOException {
        this.directory = directory;
        final int controllerPort = Ports.freeTcp();
        final boolean isSecured = isCertified();
        final String listener = isSecured ? ",SASL_SSL://127.0.0.1:" + securedPort : "";
        settings = Files.writeString(directory.resolve("server.properties"), String.join("\n", List.of(
            "process.roles=broker,controller", "node.id=1", "controller.quorum.voters=1@127.0.0.1:" + controllerPort,
            "listener.security.protocol.map=PLAINTEXT:PLAINTEXT,CONTROLLER:PLAINTEXT,SASL_SSL:SASL_SSL",
            "listeners=PLAINTEXT://127.0.0.1:" + port + ",CONTROLLER://127.0.0.1:" + controllerPort + listener,
            "advertised.listeners=PLAINTEXT://127.0.0.1:" + port + listener, "controller.listener.names=CONTROLLER",
            "log.dirs=" + directory.resolve("data"),
            "offsets.topic.replication.factor=1", "offsets.topic.num.partitions=1",
            "transaction.state.log.replication.factor=1", "transaction.state.log.min.isr=1",
            "transaction.state.log.num.partitions=2", "share.coordinator.state.topic.replication.factor=1",
            "share.coordinator.state.topic.min.isr=1", "group.initial.rebalance.delay.ms=0",
            "broker.session.timeout.ms=" + silentMs, "broker.heartbeat.interval.ms=500",
            "log.cleaner.dedupe.buffer.size=2097152", "auto.create.topics.enable=false",
            isSecured ? String.join("\n", "sasl.enabled.mechanisms=SCRAM-SHA-512", "ssl.keystore.type=PEM",
                "ssl.keystore.location=" + directory.resolve("broker.pem"),
                "listener.name.sasl_ssl.scram-sha-512.sasl.jaas.config=" + LOGIN + ";") : "")) + "\n");
        java("kafka.tools.StorageTool", "format", "-t", CLUSTER, "-c", settings, "--add-scram",
            "SCRAM-SHA-512=[name=station,password=" + PASSWORD + "]").run().orFail();
        start();
    }

    /** Makes a key with a certificate, in one file. Returns whether it could. */
    private boolean isCertified() {
        return Tools.find("openssl").map((openssl) -> Command.of(openssl, "req", "-x509", "-newkey", "ec", "-pkeyopt",
            "ec_paramgen_curve:prime256v1", "-nodes", "-keyout", "broker.pem", "-out", "certificate.pem", "-days", "2", "-subj",
            "/CN=broker", "-addext", "subjectAltName=IP:127.0.0.1").directory(directory).run().orFail()).map((made) ->
            Command.of("/bin/sh", "-c", "cat certificate.pem >>broker.pem").directory(directory).run().orFail()).isPresent();
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

    /** {@return its address for TLS and SCRAM} */
    public String securedBrokers() {
        return "127.0.0.1:" + securedPort;
    }

    /** {@return what clients need there: a file of properties} */
    public String clientProperties(final String password) {
        return String.join("\n", "security.protocol=SASL_SSL", "sasl.mechanism=SCRAM-SHA-512", "ssl.truststore.type=PEM",
            "ssl.truststore.location=" + directory.resolve("certificate.pem"),
            "sasl.jaas.config=" + LOGIN + " username=\"station\" password=\"" + password + "\";", "");
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
