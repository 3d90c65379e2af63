package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Three processes that see packets of the loopback interface: two senders that see them leave, distinguished by their source
 * addresses, and the receiver that sees them arrive. One sender is killed and restarted, and two unconfigured senders connect.
 */
@Tag("topology")
@Tag("slow")
class SeveralSendersProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(240);
    private static final String DESTINATION = "127.7.7.8";
    private static final List<String> SOURCES = List.of("127.1.0.1", "127.2.0.1");
    private static final int FIRST_ID = 40;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path directory;
    private int port;
    private int metricsPort;
    private Path stats;
    private Path records;
    private SteadyTraffic traffic;

    @BeforeEach
    void begin() throws IOException {
        NetworkNamespace.assumeAvailable();
        port = Ports.freeTcp();
        metricsPort = Ports.freeTcp();
        stats = directory.resolve("receiver.json");
        records = directory.resolve("receiver.ipfix");
        traffic = new SteadyTraffic(
            SOURCES.stream().map((source) -> new InetSocketAddress(source, 0)).toList(), DESTINATION, 2);
    }

    @AfterEach
    void end() throws InterruptedException {
        if (traffic != null) {
            traffic.stop();
        }
    }

    @Test
    void shouldMeasureEachSendersFlowsWhateverTheOtherDoes() throws Exception {
        try (Command.Running receiver = receiver();
            Command.Running first = sender(FIRST_ID)) {
            try (Command.Running second = sender(FIRST_ID + 1)) {
                Flowlag.awaitMetering(receiver, first, second);
                awaitCompared(receiver, 1, 2);
                awaitCompared(receiver, 2, 2);
                refuseStrangers(receiver);
                tellMetrics();
                second.signal("KILL");
                second.finish();
            }
            final long unanswered = count("lds_intervals_unanswered_session_2");
            awaitCompared(receiver, 1, 3);
            Deadline.await(TIMEOUT, () -> count("lds_intervals_unanswered_session_2") > unanswered, receiver::errors);
            try (Command.Running again = sender(FIRST_ID + 1)) {
                Flowlag.awaitMetering(again);
                awaitCompared(receiver, 2, 2);
                awaitCompared(receiver, 1, 2);
                stop(again);
            }
            stop(first);
            stop(receiver);
        }
        final Stats end = Stats.read(stats).orFailUnlessAccounted();
        assertEquals(0, end.delayCounter("lds_intervals_refused"), end::toString);
        assertEquals(1, end.delayCounter("exchange_sessions_session_1"), end::toString);
        assertEquals(2, end.delayCounter("exchange_sessions_session_2"), end::toString);
        tellRecords();
    }

    /** One with an id that the receiver does not know, and one with the id of the first sender, which goes on. */
    private void refuseStrangers(final Command.Running receiver) throws IOException {
        try (Command.Running unknown = sender(FIRST_ID + 9); Command.Running twin = sender(FIRST_ID)) {
            Deadline.await(TIMEOUT,
                () -> count("exchange_senders_unknown") > 0 && count("exchange_senders_doubled_session_1") > 0, receiver::errors);
            Deadline.await(TIMEOUT, () -> twin.errors().contains("is connected from another process"), twin::errors);
            Deadline.await(
                TIMEOUT, () -> unknown.errors().contains("knows " + FIRST_ID + ", " + (FIRST_ID + 1)), unknown::errors);
            awaitCompared(receiver, 1, 2);
            stop(unknown);
            stop(twin);
        }
    }

    private void tellMetrics() throws Exception {
        final String metrics = HttpClient.newHttpClient().send(
            HttpRequest.newBuilder(URI.create("http://127.0.0.1:" + metricsPort + "/metrics")).build(),
            HttpResponse.BodyHandlers.ofString()).body();
        for (final String session : List.of("1", "2")) {
            assertTrue(metrics.contains("flowlag_session_lds_intervals_total{session=\"" + session + "\"}"), metrics);
            assertTrue(metrics.contains(
                "flowlag_session_exchange_intervals_complete_total{session=\"" + session + "\"}"), metrics);
        }
        assertTrue(metrics.contains("flowlag_lds_interval_usable_cells{sender=\"1\"}"), metrics);
    }

    /** Each flow belongs to its sender's segment, and no loss is reported that did not happen. */
    private void tellRecords() throws IOException {
        final int[] measured = new int[SOURCES.size()];
        final String output = new Flowlag().inThisJvm().run("collect", "--read", records, "--format", "json").orFail().output();
        for (final String line : output.lines().toList()) {
            final JsonNode record = JSON.readTree(line);
            final int index = SOURCES.indexOf(record.path("sourceIPv4Address").asText());
            if (index < 0) {
                continue;
            }
            assertEquals(0, record.path("flowlagLostPacketDeltaCount").asLong(0), line);
            if (record.has("flowlagDelayMeanNanoseconds")) {
                measured[index]++;
                assertEquals(FIRST_ID + index, record.path("flowlagSegmentId").asLong(), line);
            }
        }
        assertTrue(measured[0] > 0 && measured[1] > 0, "records with a mean: " + measured[0] + ", " + measured[1]);
    }

    private Command.Running receiver() throws IOException {
        final Path file = Files.writeString(directory.resolve("receiver.yaml"),
            "segment: {role: receiver, id: " + FIRST_ID + ", destination: [" + DESTINATION + "/32], offload: allow, " +
            "interval: 400ms, max-delay: 400ms}\n" +
            "lds: {rows: 2, columns: 1k}\nreconcile: {enabled: off}\n" +
            "exchange: {mode: sketch, deadline: 2s, listen: \"127.0.0.1:" + port + "\"}\n" +
            "capture: {interfaces: [lo], direction: in, filter: \"dst host " + DESTINATION + "\"}\n" +
            "rli: {port: " + Ports.freeUdp() + ", senders: [\"1@127.0.0.1?source=127.1.0.0/16\", " +
            "\"2@127.0.0.1?source=127.2.0.0/16\"]}\nclock: {error: 1us}\n" +
            "metrics: {listen: \"127.0.0.1:" + metricsPort + "\"}\n");
        return start("-c", file, "--export", "file:" + records, "--stats", stats, "--set", "stats.interval=200ms",
            "--active", "5s", "--idle", "2s");
    }

    private Command.Running sender(final int id) {
        return start("-i", "lo", "--direction", "out", "--filter", "dst host " + DESTINATION,
            "--set", "segment.role=sender", "--set", "segment.id=" + id, "--set", "segment.offload=allow",
            "--set", "exchange.connect=127.0.0.1:" + port, "--set", "clock.error=1ms");
    }

    private static Command.Running start(final Object... own) {
        final Object[] arguments = new Object[own.length + 1];
        arguments[0] = "run";
        System.arraycopy(own, 0, arguments, 1, own.length);
        return new Flowlag().command(arguments).timeout(TIMEOUT).start();
    }

    /** Waits until this many further intervals of a sender were compared. */
    private void awaitCompared(final Command.Running receiver, final int session, final long intervals) {
        final long before = count("lds_intervals_session_" + session);
        Deadline.await(TIMEOUT, () -> count("lds_intervals_session_" + session) >= before + intervals || !receiver.isAlive(),
            () -> receiver.errors() + text());
        assertTrue(receiver.isAlive(), receiver::errors);
    }

    private long count(final String label) {
        return Files.exists(stats) ? Stats.read(stats).delayCounter(label) : 0;
    }

    private String text() {
        try {
            return Files.exists(stats) ? Files.readString(stats) : "";
        } catch (final IOException ex) {
            return "";
        }
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        final Command.Result ended = run.finish();
        assertEquals(0, ended.exitCode(), ended::toString);
    }
}
