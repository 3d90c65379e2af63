package io.flowlag.tests.system;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Prometheus;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.TimedFlows;
import io.flowlag.tests.support.Tools;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * One of 200 flows through a router is slow for ten seconds, in a queue of the kernel's. {@code top}, {@code flows}, the data of
 * the status page, the records, a report of them and an alert of a real Prometheus each show which flow, and since when. The
 * truth is the receiving socket's.
 */
@Tag("topology")
class IncidentTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final int METRICS_PORT = 9471;
    private static final int FLOWS = 200;
    private static final int SLOW = 77;
    private static final int SLOW_PORT = TimedFlows.FIRST_PORT + SLOW;
    private static final int BEFORE_PACKETS = 40;
    private static final long INCIDENT_SECONDS = 10;
    private static final long ACTIVE_SECONDS = 2;
    /** Of the rule {@code FlowSlow}. */
    private static final long SLOW_MS = 50;
    private static final double SLOW_NS = SLOW_MS * 1e6;
    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern STEP = Pattern.compile("(?m)^(\\d\\d:\\d\\d:\\d\\d) +\\S+ +([\\d.]+) ?(ns|us|ms|s) ");

    @TempDir
    private Path directory;

    @Test
    void shouldNameTheSlowFlowAndSinceWhen() throws Exception {
        NetworkNamespace.assumeAvailable();
        Tools.require("script", "bsdutils");
        final Path status = directory.resolve("flowlag.status");
        final Path records = directory.resolve("flows.ipfix");
        try (RouterTopology topology = RouterTopology.create()) {
            topology.offloadsOff();
            queueOfItsOwn(topology.router());
            try (Prometheus prometheus = new Prometheus(
                topology.router(), METRICS_PORT, Checkout.root().resolve("docs/observe/alerts.yml"), directory);
                Command.Running run = run(topology.router(), status, records);
                TimedFlows flows = new TimedFlows(topology, FLOWS, SLOW_MS)) {
                Flowlag.awaitMetering(run);
                prometheus.awaitScrapes();
                try (Command.Running top = top(status)) {
                    Deadline.await(TIMEOUT, () -> top.output().contains("living " + FLOWS) &&
                        flows.received(SLOW) > BEFORE_PACKETS, top::output);
                    assertEquals(0, slow(prometheus).size());
                    rate(topology.router(), "change", "12kbit");
                    Deadline.await(TIMEOUT, () -> flows.slowSince(SLOW) != null && slow(prometheus).size() > 0,
                        () -> prometheus.query("flowlag_slowest_flow_mean_delay_seconds") + run.errors());
                    top.feed("\r".getBytes(StandardCharsets.US_ASCII));
                    final Instant since = flows.slowSince(SLOW);
                    Deadline.await(TIMEOUT, () -> Instant.now().isAfter(since.plusSeconds(INCIDENT_SECONDS)), since::toString);
                    assertAlert(slow(prometheus), since);
                    final JsonNode page = JSON.readTree(StatusTest.get(topology.router(), "/history.json"));
                    final Instant end = Instant.now();
                    assertPage(page.get("flows"), since, end);
                    rate(topology.router(), "change", "1gbit");

                    assertRows("flows", rows("flows", "--file", status), since);
                    assertWorst(JSON.readTree(new Flowlag().inThisJvm().run("flows", "--hour", "--top", "1", "--file", status,
                        "--format", "json").orFail().output()), since, end);
                    assertTop(top.output(), since, end);
                    top.feed(new byte[]{'q'});
                    top.endInput();
                    top.finish().orFail();
                    run.stop();
                    assertRows("records", rows("collect", "-r", records), since);
                    final Path report = directory.resolve("report.html");
                    new Flowlag().inThisJvm().run("report", records, "-o", report).orFail();
                    assertReport(ReportTest.data(report).get("flows"), since);
                }
            }
        }
    }

    /** The slow flow has a queue behind a rate of its own, which nothing fills at first. */
    private static void queueOfItsOwn(final NetworkNamespace router) throws IOException {
        tc(router, "qdisc replace dev out0 root handle 1: htb default 1");
        tc(router, "class add dev out0 parent 1: classid 1:1 htb rate 1gbit quantum 3000");
        rate(router, "add", "1gbit");
        tc(router, "qdisc add dev out0 parent 1:2 handle 20: pfifo limit 4");
        tc(router, "filter add dev out0 parent 1: protocol ip prio 1 u32 match ip sport " + SLOW_PORT + " 0xffff flowid 1:2");
    }

    private static void rate(final NetworkNamespace router, final String verb, final String rate) throws IOException {
        tc(router, "class " + verb + " dev out0 parent 1: classid 1:2 htb rate " + rate + " burst 300 cburst 300 quantum 3000");
    }

    private static void tc(final NetworkNamespace router, final String arguments) throws IOException {
        router.exec(("tc " + arguments).split(" "));
    }

    private static Command.Running run(final NetworkNamespace router, final Path status, final Path records) {
        return new Flowlag().under("ip", "netns", "exec", router.name(), "nice", "-n", "-19").command("run",
            "--ingress", RouterTopology.INGRESS, "--egress", RouterTopology.EGRESS, "--export", "file:" + records,
            "--active", ACTIVE_SECONDS + "s", "--metrics", METRICS_PORT, "--set", "status.file=" + status,
            "--set", "status.interval=200ms").timeout(TIMEOUT).start();
    }

    /** In a terminal, before anything is slow: its history begins then. */
    private static Command.Running top(final Path status) {
        return Command.of("script", "-qec", "stty rows 60 cols 100; " + Path.of(System.getProperty("java.home"), "bin", "java") +
            " -XX:TieredStopAtLevel=1 -jar " + Checkout.jar() + " top --interval 500ms --file " + status, "/dev/null")
            .environment("TERM", "xterm").inputFromTest().timeout(TIMEOUT).start();
    }

    private static List<JsonNode> slow(final Prometheus prometheus) {
        final List<JsonNode> slow = new ArrayList<>();
        prometheus.alerts().forEach((each) -> {
            if ("FlowSlow".equals(each.at("/labels/alertname").textValue())) {
                slow.add(each);
            }
        });
        return slow;
    }

    private static void assertAlert(final List<JsonNode> alerts, final Instant since) {
        assertEquals(1, alerts.size(), alerts::toString);
        final JsonNode alert = alerts.get(0);
        final JsonNode labels = alert.get("labels");
        assertEquals("firing", alert.get("state").textValue());
        assertEquals(List.of(RouterTopology.SOURCE, RouterTopology.DESTINATION, "UDP", Integer.toString(SLOW_PORT)),
            List.of(labels.get("src").textValue(), labels.get("dst").textValue(), labels.get("proto").textValue(),
                labels.get("sport").textValue()));
        assertTrue(alert.at("/annotations/summary").textValue().contains(RouterTopology.SOURCE + ":" + SLOW_PORT),
            alert::toString);
        assertSince("alert", Instant.parse(alert.get("activeAt").textValue()), since, since, Instant.now());
    }

    private List<JsonNode> rows(final Object... command) {
        final List<Object> arguments = new ArrayList<>(List.of(command));
        arguments.addAll(List.of("--min-delay", SLOW_MS + "ms", "--min-packets", "10", "--sort", "start:a", "--format", "json"));
        return new Flowlag().inThisJvm().run(arguments.toArray()).orFail().output().lines().map((line) -> {
            try {
                return JSON.readTree(line);
            } catch (final IOException ex) {
                throw new UncheckedIOException(ex);
            }
        }).toList();
    }

    /** The first slow record began when the flow was still fast, or just after. */
    private static void assertRows(final String what, final List<JsonNode> rows, final Instant since) {
        assertTrue(rows.size() >= INCIDENT_SECONDS / ACTIVE_SECONDS / 2, () -> what + ": " + rows);
        rows.forEach((row) -> assertEquals(SLOW_PORT, row.get("sourceTransportPort").intValue(), () -> what + ": " + row));
        assertSince(what, Instant.parse(rows.get(0).get("_start").textValue()), since, since.minusSeconds(ACTIVE_SECONDS),
            since.plusSeconds(ACTIVE_SECONDS));
    }

    /** The slow time of the hour, from snapshot to snapshot. */
    private static void assertWorst(final JsonNode row, final Instant since, final Instant end) {
        assertEquals(SLOW_PORT, row.get("sourceTransportPort").intValue(), row::toString);
        assertTrue(row.get("flowlagDelayMeanNanoseconds").longValue() > SLOW_NS, row::toString);
        assertTrue(row.get("_usualDelayMeanNanoseconds").longValue() < SLOW_NS, row::toString);
        assertSince("hour", Instant.parse(row.get("_start").textValue()), since, since.minusSeconds(ACTIVE_SECONDS),
            since.plusSeconds(ACTIVE_SECONDS));
        assertSince("hour until", Instant.parse(row.get("_end").textValue()), since,
            since.plusSeconds(INCIDENT_SECONDS - ACTIVE_SECONDS), end.plusSeconds(ACTIVE_SECONDS));
    }

    /** What the page draws of the slowest flow, by snapshot. */
    private static void assertPage(final JsonNode flows, final Instant since, final Instant end) {
        final JsonNode flow = flows.get(0);
        final int first = firstSlow(flow, "name", flow.get("delay_mean_ns"));
        assertSince("page", Instant.parse(flow.at("/times/" + first).textValue()), since,
            since.truncatedTo(ChronoUnit.SECONDS).minusMillis(1), end);
    }

    /** The slowest flow is first, with its records. */
    private static void assertReport(final JsonNode flows, final Instant since) {
        final JsonNode flow = flows.get(0);
        final int first = firstSlow(flow, "label", flow.at("/history/mean_ns"));
        assertSince("report", Instant.ofEpochMilli(flow.at("/history/start_ms/" + first).longValue()), since,
            since.minusSeconds(ACTIVE_SECONDS), since.plusSeconds(ACTIVE_SECONDS));
    }

    private static int firstSlow(final JsonNode flow, final String name, final JsonNode meansNs) {
        assertTrue(flow.get(name).textValue().startsWith(RouterTopology.SOURCE + ":" + SLOW_PORT + " "), flow::toString);
        int first = 0;
        while (meansNs.path(first).asDouble() <= SLOW_NS) {
            assertTrue(++first < meansNs.size(), flow::toString);
        }
        return first;
    }

    /** The page of the flow has the delay of each half second. */
    private static void assertTop(final String output, final Instant since, final Instant end) {
        final String[] screens = output.split("\u001b\\[H");
        final String page = screens[screens.length - 2].replaceAll("\u001b\\[[0-9?]*[A-Za-z]", "").replace("\r", "");
        assertTrue(page.contains(RouterTopology.SOURCE + ":" + SLOW_PORT + " > "), page);
        final List<String> slow = new ArrayList<>();
        for (final MatchResult step : STEP.matcher(page).results().toList()) {
            final double value = Double.parseDouble(step.group(2));
            if ("s".equals(step.group(3)) || "ms".equals(step.group(3)) && value > SLOW_MS) {
                slow.add(step.group(1));
            }
        }
        assertFalse(slow.isEmpty(), page);
        final LocalTime first = LocalTime.parse(slow.get(slow.size() - 1));
        assertSince("top", first.atDate(since.atOffset(ZoneOffset.UTC).toLocalDate()).toInstant(ZoneOffset.UTC), since,
            since.truncatedTo(ChronoUnit.SECONDS).minusMillis(1), end);
    }

    /** An alert and a line of history come when a record has ended and was looked at: within the incident. */
    private static void assertSince(
        final String what, final Instant shown, final Instant truth, final Instant earliest, final Instant latest) {
        System.out.printf("%s: since %s, truth %s%n", what, shown, truth);
        assertTrue(shown.isAfter(earliest) && shown.isBefore(latest), () -> what + ": " + shown + ", truth " + truth);
    }
}
