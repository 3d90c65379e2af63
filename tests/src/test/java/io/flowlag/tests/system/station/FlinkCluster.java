package io.flowlag.tests.system.station;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Ports;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * A standalone cluster of Flink from Maven's jars, on loopback: a job manager and task managers with two slots each. Its settings
 * are those of docs/station/flink.yaml, with ports and little memory.
 */
final class FlinkCluster implements AutoCloseable {
    private static final String JARS = "(flink-(?!connector-kafka)|commons-|kryo|minlog|reflectasm|objenesis|snappy|lz4|asm-|" +
        "javassist|jsr305|slf4j-api|logback-|hash4j|snakeyaml-engine).*[.]jar";
    private static final String SETTINGS = """
        jobmanager.rpc.address: 127.0.0.1
        jobmanager.rpc.port: %d
        jobmanager.bind-host: 127.0.0.1
        rest.address: 127.0.0.1
        rest.bind-address: 127.0.0.1
        rest.port: %d
        taskmanager.host: 127.0.0.1
        taskmanager.bind-host: 127.0.0.1
        taskmanager.numberOfTaskSlots: 2
        taskmanager.cpu.cores: 1.0
        taskmanager.memory.framework.heap.size: 64mb
        taskmanager.memory.framework.off-heap.size: 64mb
        taskmanager.memory.task.heap.size: 128mb
        taskmanager.memory.task.off-heap.size: 0b
        taskmanager.memory.network.min: 32mb
        taskmanager.memory.network.max: 32mb
        taskmanager.memory.managed.size: 1mb
        taskmanager.memory.jvm-metaspace.size: 128mb
        taskmanager.memory.jvm-overhead.min: 64mb
        taskmanager.memory.jvm-overhead.max: 64mb
        """;
    private static final String LOGGING = """
        <configuration>
          <appender name="out" class="ch.qos.logback.core.ConsoleAppender">
            <encoder><pattern>%d{HH:mm:ss.SSS} %-5level %logger{20} - %msg%n</pattern></encoder>
          </appender>
          <root level="INFO"><appender-ref ref="out"/></root>
        </configuration>
        """;
    private static final Duration REQUEST_TIMEOUT = Duration.ofSeconds(30);

    private final HttpClient client = HttpClient.newHttpClient();
    private final ObjectMapper mapper = new ObjectMapper();
    private final Path directory;
    private final int rest = Ports.freeTcp();
    private final List<String> options;
    private final Path job;
    private final JvmServer jobManager;
    private final List<JvmServer> taskManagers = new ArrayList<>();
    private final AtomicInteger runs = new AtomicInteger();

    /**
     * Starts nothing yet.
     *
     * @param taskManagers number of them.
     * @param options      of each JVM.
     * @param job          its jar, which lies beside Flink's own.
     */
    FlinkCluster(final Path directory, final int taskManagers, final List<String> options, final Path job) throws IOException {
        this.job = job;
        this.directory = directory;
        final String settings = Files.readString(Checkout.root().resolve("docs/station/flink.yaml"));
        Files.writeString(directory.resolve("config.yaml"), settings + String.format(SETTINGS, Ports.freeTcp(), rest));
        Files.writeString(directory.resolve("logback.xml"), LOGGING);
        this.options = new ArrayList<>(options);
        settings.lines().filter((line) -> line.startsWith("env.java.opts.all: ")).forEach((line) ->
            this.options.addAll(List.of(line.substring(line.indexOf(' ') + 1).split(" "))));
        jobManager = server("job-manager", "org.apache.flink.runtime.entrypoint.StandaloneSessionClusterEntrypoint",
            "--configDir", directory.toString());
        for (int i = 0; i < taskManagers; i++) {
            this.taskManagers.add(server("task-manager-" + i, "org.apache.flink.runtime.taskexecutor.TaskManagerRunner",
                "--configDir", directory.toString(), "-D", "taskmanager.resource-id=" + i));
        }
    }

    private JvmServer server(final String name, final String... arguments) {
        final List<String> line = new ArrayList<>(List.of("-Xmx192m", "-XX:MaxMetaspaceSize=128m",
            "-Dlogback.configurationFile=" + directory.resolve("logback.xml")));
        line.addAll(options);
        line.addAll(List.of("-cp", JvmServer.jars(JARS) + File.pathSeparator + job));
        line.addAll(List.of(arguments));
        return new JvmServer(directory, name, line).with("FLINK_CONF_DIR", directory.toString());
    }

    JvmServer jobManager() {
        return jobManager;
    }

    JvmServer taskManager(final int index) {
        return taskManagers.get(index);
    }

    /** What {@code flink run -d} does. */
    JvmServer run(final int parallelism, final String... arguments) {
        final List<String> line = new ArrayList<>(List.of("org.apache.flink.client.cli.CliFrontend", "run", "-d", "-p",
            Integer.toString(parallelism), job.toString()));
        line.addAll(List.of(arguments));
        return server("run-" + runs.incrementAndGet(), line.toArray(String[]::new)).start();
    }

    /** {@return the answer of REST; null if there is none} */
    JsonNode get(final String path) {
        return request(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rest + path)).GET());
    }

    JsonNode post(final String path, final String body) {
        return request(HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + rest + path))
            .header("Content-Type", "application/json").POST(HttpRequest.BodyPublishers.ofString(body)));
    }

    private JsonNode request(final HttpRequest.Builder request) {
        try {
            final HttpResponse<String> answer =
                client.send(request.timeout(REQUEST_TIMEOUT).build(), HttpResponse.BodyHandlers.ofString());
            return answer.statusCode() / 100 == 2 ? mapper.readTree(answer.body()) : null;
        } catch (final IOException ex) {
            return null;
        } catch (final InterruptedException ex) {
            Thread.currentThread().interrupt();
            return null;
        }
    }

    /** {@return ids of jobs in a state} */
    List<String> jobs(final String state) {
        final List<String> ids = new ArrayList<>();
        final JsonNode jobs = get("/jobs/overview");
        if (jobs != null) {
            jobs.get("jobs").forEach((job) -> {
                if (state.equals(job.get("state").asText())) {
                    ids.add(job.get("jid").asText());
                }
            });
        }
        return ids;
    }

    /** {@return task managers that have registered} */
    int registered() {
        final JsonNode overview = get("/overview");
        return overview == null ? 0 : overview.get("taskmanagers").asInt();
    }

    /** Starts those again that ended without a kill. Returns how many. */
    int startEnded() {
        int ended = 0;
        for (final JvmServer each : taskManagers) {
            if (!each.isAlive()) {
                each.start();
                ended++;
            }
        }
        return ended;
    }

    /** {@return numbers of those that run part of a job} */
    List<Integer> taskManagersInUse() {
        final List<Integer> used = new ArrayList<>();
        final JsonNode managers = get("/taskmanagers");
        if (managers != null) {
            managers.get("taskmanagers").forEach((manager) -> {
                if (manager.get("freeSlots").asInt() < manager.get("slotsNumber").asInt()) {
                    used.add(manager.get("id").asInt());
                }
            });
        }
        return used;
    }

    @Override
    public void close() {
        taskManagers.forEach(JvmServer::close);
        jobManager.close();
    }
}
