package io.flowlag.tests.system;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Ports;
import io.flowlag.tests.support.Stats;
import io.flowlag.tests.support.SteadyTraffic;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Sender, receiver and collector, each suspended (SIGSTOP) for longer than the others wait for it: they go on, the session comes
 * back, counters add up, and no record shows a loss, since there was none.
 */
@Tag("topology")
@Tag("slow")
class SuspendedProcessTest {
    private static final Duration TIMEOUT = Duration.ofSeconds(120);
    private static final String DESTINATION = "127.7.7.11";
    private static final String[] IMPATIENT = {"--set", "exchange.idle-timeout=900ms", "--set", "exchange.message-timeout=600ms",
        "--set", "exchange.handshake-timeout=600ms", "--set", "stats.interval=100ms", "--set", "clock.error=1ms",
        "--set", "segment.offload=allow", "--set", "capture.ring=16m", "--filter", "dst host " + DESTINATION};
    private static final int INTERVALS = 2;
    private static final Pattern LOST = Pattern.compile("\"flowlagLostPacketDeltaCount\":([0-9]+)");
    private static final int RECORDS = 4;

    @TempDir
    private Path directory;

    @Test
    void shouldGoOnWhenAProcessIsSuspendedForLongerThanOthersWait() throws Exception {
        NetworkNamespace.assumeAvailable();
        final int port = Ports.freeTcp();
        final int collectorPort = Ports.freeTcp();
        final SteadyTraffic traffic = new SteadyTraffic(
            List.of(new InetSocketAddress("127.1.0.1", 0), new InetSocketAddress("127.1.0.2", 0)), DESTINATION, 2);
        try (Command.Running collector = new Flowlag().command(
                "collect", "--listen", "tcp://127.0.0.1:" + collectorPort, "--format", "json").timeout(TIMEOUT).start();
            Command.Running receiver = start("receiver", "--direction", "in", "--export",
                "tcp://127.0.0.1:" + collectorPort + "?options=off&flush-interval=100ms&reconnect-interval=100ms",
                "--set", "segment.role=receiver", "--set", "exchange.listen=127.0.0.1:" + port,
                "--set", "segment.destination=" + DESTINATION + "/32", "--set", "segment.interval=400ms",
                "--set", "segment.max-delay=400ms", "--set", "exchange.deadline=2s", "--set", "reconcile.enabled=off",
                "--set", "lds.rows=2", "--set", "lds.columns=1k", "--active", "1s", "--idle", "1s",
                "--set", "rli.port=" + Ports.freeUdp());
            Command.Running sender = start("sender", "--direction", "out", "--set", "segment.role=sender",
                "--set", "exchange.connect=127.0.0.1:" + port)) {
            Flowlag.awaitMetering(receiver, sender);
            awaitCompared(receiver);

            suspend(sender, () -> exchange("receiver", "sessions_ended"), receiver);
            suspend(receiver, () -> exchange("sender", "sessions_ended"), receiver);
            final long made = records();
            collector.signal("STOP");
            Deadline.await(TIMEOUT, () -> records() >= made + RECORDS, receiver::errors);
            awaitCompared(receiver);
            collector.signal("CONT");
            awaitCompared(receiver);

            for (final Command.Running each : List.of(sender, receiver, collector)) {
                each.signal("TERM");
                each.finish().orFail();
            }
            tellRecords(collector.output());
        } finally {
            traffic.stop();
        }
        final Stats sent = stats("sender").orFailUnlessAccounted();
        final Stats received = stats("receiver").orFailUnlessAccounted();
        assertEquals(received.counter(CounterId.RECORDS_MADE), received.destination(0, "records_exported"), received::toString);
        assertEquals(0, received.delayCounter("lds_intervals_refused"), received::toString);
        assertEquals(0, sent.counter(CounterId.ERRORS) + received.counter(CounterId.ERRORS), received::toString);
        assertEquals(received.delayCounter("exchange_sessions"), received.delayCounter("exchange_sessions_ended"));
        assertTrue(received.delayCounter("exchange_ended_silent") > 0, received::toString);
    }

    /** Stops a process until the other one has given it up, and lets it go on. */
    private void suspend(final Command.Running process, final LongSupplier sessionsEnded, final Command.Running receiver) {
        final long before = sessionsEnded.getAsLong();
        process.signal("STOP");
        Deadline.await(TIMEOUT, () -> sessionsEnded.getAsLong() > before, receiver::errors);
        process.signal("CONT");
        awaitCompared(receiver);
    }

    private void tellRecords(final String output) {
        int records = 0;
        for (final String line : output.lines().toList()) {
            final Matcher lost = LOST.matcher(line);
            assertTrue(!lost.find() || Long.parseLong(lost.group(1)) == 0, line);
            records++;
        }
        assertEquals(stats("receiver").destination(0, "records_exported"), records);
        assertTrue(output.contains("flowlagDelayMeanNanoseconds"), output);
    }

    private Command.Running start(final String name, final Object... own) {
        final Object[] arguments = new Object[own.length + IMPATIENT.length + 5];
        System.arraycopy(new Object[] {"run", "-i", "lo", "--stats", file(name)}, 0, arguments, 0, 5);
        System.arraycopy(IMPATIENT, 0, arguments, 5, IMPATIENT.length);
        System.arraycopy(own, 0, arguments, 5 + IMPATIENT.length, own.length);
        return new Flowlag().command(arguments).timeout(TIMEOUT).start();
    }

    private Path file(final String name) {
        return directory.resolve(name + ".json");
    }

    private Stats stats(final String name) {
        return Stats.read(file(name));
    }

    private long exchange(final String name, final String label) {
        return stats(name).delayCounter("exchange_" + label);
    }

    private long records() {
        return stats("receiver").counter(CounterId.RECORDS_MADE);
    }

    private void awaitCompared(final Command.Running receiver) {
        final BooleanSupplier isThere = () -> Files.exists(file("receiver")) && Files.exists(file("sender"));
        Deadline.await(TIMEOUT, isThere, receiver::errors);
        final long before = stats("receiver").delayCounter("lds_intervals");
        Deadline.await(TIMEOUT, () -> stats("receiver").delayCounter("lds_intervals") >= before + INTERVALS ||
            !receiver.isAlive(), () -> receiver.errors() + stats("receiver") + stats("sender"));
        assertTrue(receiver.isAlive(), receiver::errors);
    }
}
