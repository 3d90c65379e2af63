package io.flowlag.tests.system;

import io.flowlag.exporter.capture.PacketSource;
import io.flowlag.exporter.lab.GeneratedTraffic;
import io.flowlag.exporter.lab.TrafficFlows;
import io.flowlag.exporter.lab.TrafficProfile;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flow;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.Flows;
import io.flowlag.tests.support.IpfixReader;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.Nfcapd;
import io.flowlag.tests.support.RawSender;
import io.flowlag.tests.support.Stats;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * {@code flowlag run} on a veth pair whose other end is in a network namespace: frames are sent raw there, with and without
 * VLAN tags, and nfcapd must hold what was sent.
 */
@Tag("topology")
class RunLiveTest {
    private static final String HERE = "fltest0";
    private static final String THERE = "fltest1";
    private static final Set<String> STAGES = Set.of("capture", "metering", "exporting");
    private static final String SECOND = "fltest2";
    private static final String SHARDED = "sharded";
    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int PACKETS = 5_000;
    private static final int FLOWS = 100;

    @TempDir
    private Path directory;
    private NetworkNamespace namespace;

    @BeforeEach
    void connect() throws IOException {
        NetworkNamespace.assumeAvailable();
        namespace = NetworkNamespace.create("run");
        Command.of("ip", "link", "add", HERE, "type", "veth", "peer", "name", THERE, "netns", namespace.name()).run().orFail();
        Files.writeString(Path.of("/proc/sys/net/ipv6/conf/" + HERE + "/disable_ipv6"), "1");
        Command.of("ip", "link", "set", HERE, "up").run().orFail();
        namespace.ip("link", "set", THERE, "up");
    }

    @AfterEach
    void disconnect() throws IOException {
        if (namespace != null) {
            Command.of("ip", "link", "delete", HERE).run();
            namespace.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"afpacket", "xdp", "pcap", SHARDED})
    void shouldExportWhatWasSentToNfcapd(final String source) throws Exception {
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")));
            Command.Running run = start(nfcapd, source)) {
            final TrafficFlows truth = send();
            awaitCaptured(run, PACKETS);
            stop(run);

            Flows.assertSameCounts(Flows.of(truth), nfcapd.finish().orFail().flows(), "nfcapd, " + source);
            final Stats stats = Stats.read(statsFile()).orFailUnlessAccounted();
            assertEquals(PACKETS, stats.counter(CounterId.METERED));
            assertEquals(0, stats.counter(CounterId.LOST_IN_KERNEL));
            final String sources = Files.readString(statsFile()).split("\"sources\"")[1].split("]")[0];
            assertEquals(1, sources.split("\"captured\" : " + PACKETS + ",", -1).length - 1, sources);
            assertEquals(1, sources.split("\"captured\"", -1).length - 1, sources);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"afpacket", "pcap"})
    void shouldExportOnlyTheVlanOfTheFilter(final String source) throws Exception {
        final int vlanId = anyVlanId();
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")));
            Command.Running run = start(nfcapd, source, "--filter", "vlan " + vlanId)) {
            final TrafficFlows truth = send();
            final List<Flow> wanted = new ArrayList<>();
            for (int i = 0; i < truth.flowCount(); i++) {
                if (truth.vlanId(i) == vlanId) {
                    wanted.add(Flows.of(truth).get(i));
                }
            }
            assertFalse(wanted.isEmpty());
            awaitCaptured(run, wanted.stream().mapToLong(Flow::packets).sum());
            stop(run);

            Flows.assertSameCounts(wanted, nfcapd.finish().orFail().flows(), "nfcapd, " + source);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"afpacket", "xdp", SHARDED})
    void shouldFlushAndSayWhyWhenTheInterfaceVanishes(final String source) throws Exception {
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")));
            Command.Running run = start(nfcapd, source)) {
            final TrafficFlows truth = send();
            awaitCaptured(run, PACKETS);
            Command.of("ip", "link", "delete", HERE).run().orFail();

            final Command.Result ended = run.finish();
            assertEquals(66, ended.exitCode(), ended::toString);
            assertEquals(1, ended.errorLines().stream().filter(line -> line.startsWith("flowlag: " + HERE)).count(),
                ended::toString);
            Flows.assertSameCounts(Flows.of(truth), nfcapd.finish().orFail().flows(), "nfcapd");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"afpacket", "pcap"})
    void shouldSayAtOnceThatOneOfSeveralInterfacesVanished(final String source) throws Exception {
        Command.of("ip", "link", "add", SECOND, "type", "veth", "peer", "name", "fltest3", "netns", namespace.name())
            .run().orFail();
        Command.of("ip", "link", "set", SECOND, "up").run().orFail();
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")));
            Command.Running run = start(nfcapd, source, "-i", SECOND)) {
            if (source.equals("afpacket")) {
                assertSleeping(run);
            }
            Command.of("ip", "link", "delete", SECOND).run().orFail();
            Deadline.await(TIMEOUT, () -> run.errors().contains("interface " + SECOND + " vanished"), run::errors);
            final TrafficFlows truth = send();
            awaitCaptured(run, PACKETS);
            run.signal("TERM");
            assertEquals(66, run.finish().exitCode());
            Flows.assertSameCounts(Flows.of(truth), nfcapd.finish().orFail().flows(), "nfcapd");
        } finally {
            Command.of("ip", "link", "delete", SECOND).run();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"pipelined", SHARDED})
    void shouldReloadWithoutLosingAFlowAndRefuseWhatItCannotChange(final String threading) throws Exception {
        final Path config = directory.resolve("flowlag.yaml");
        try (Nfcapd nfcapd = new Nfcapd(Files.createDirectory(directory.resolve("nfcapd")))) {
            final String common = "threading: " + threading + "\n" + "capture: {interfaces: [" + HERE + "], direction: in}\n" +
                "exporting: {destinations: ['udp://127.0.0.1:" + nfcapd.port() + "']}\n" +
                "stats: {file: " + statsFile() + ", interval: 100ms}\n";
            final Path leaving = directory.resolve("leaving.ipfix");
            Files.writeString(config, common.replace("']}", "', 'file:" + leaving + "']}") +
                "metering: {idle-timeout: 10m, active-timeout: 20m, tcp-end-timeout: 10m}\n");
            try (Command.Running run = new Flowlag().command("run", "-c", config).timeout(TIMEOUT).start()) {
                Deadline.await(TIMEOUT, () -> run.errors().contains("metering " + HERE), () -> "start: " + run.errors());
                final TrafficFlows truth = send();
                awaitCaptured(run, PACKETS);

                Files.writeString(config, common +
                    "metering: {idle-timeout: 10m, active-timeout: 20m, tcp-end-timeout: 10m, max-flows: 64k}\n");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> run.errors().contains("metering.max-flows (memory is taken at the start)"),
                    () -> "refusal: " + run.errors());
                final Path file = directory.resolve("added.ipfix");
                final String added = common.replace("']}", "', 'file:" + file + "']}") + "log: {level: debug}\n";
                Files.writeString(config, added + "metering: {idle-timeout: 10m, active-timeout: 20m, tcp-end-timeout: 10m}\n");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> statsNames(file) && !statsNames(leaving), () -> "destinations: " + run.errors());
                Deadline.await(TIMEOUT,
                    () -> run.errors().contains("destination removed: file:" + leaving + ": records_made="),
                    () -> "counters of the destination that left: " + run.errors());
                IpfixReader.read(leaving).orFail(); // closed, with whole messages alone

                Files.writeString(config, added.replace("file:" + file, "file:" + file + "?options=off"));
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> run.errors().contains("the file is in use with other settings"),
                    () -> "refusal of the file: " + run.errors());
                final long reloads = reloadsTold(run);
                Files.writeString(config, added.replace("debug", "warn") + "metering: {idle-timeout: 100ms}\n");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> endedIdle() > 0, () -> "new timeout: " + run.errors());
                Files.writeString(config, added.replace("debug", "info") + "metering: {idle-timeout: 100ms}\n");
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> reloadsTold(run) > reloads, () -> "log level: " + run.errors());
                assertEquals(reloads + 1, reloadsTold(run), run::errors); // the reload to warn said nothing
                stop(run);

                Flows.assertSameCounts(Flows.of(truth), nfcapd.finish().orFail().flows(), "nfcapd");
                Flows.assertSameCounts(Flows.of(truth), IpfixReader.read(file).orFail().flows(), "destination added");
            }
        }
    }

    @Test
    void shouldOpenTheLogAnewWhereAReloadIsRefused() throws Exception {
        final Path config = directory.resolve("flowlag.yaml");
        final Path log = directory.resolve("flowlag.log");
        final String common = "capture: {interfaces: [" + HERE + "], direction: in}\nlog: {file: " + log + "}\n" +
            "exporting: {destinations: ['file:" + directory.resolve("records.ipfix") + "']}\n";
        Files.writeString(config, common);
        try (Command.Running run = new Flowlag().command("run", "-c", config).timeout(TIMEOUT).start()) {
            Deadline.await(TIMEOUT, () -> has(log, "metering " + HERE), run::errors);
            for (final String wrong : List.of("bogus: 1\n", "threading: invoker\n")) {
                Files.move(log, directory.resolve("flowlag.log.1"), StandardCopyOption.REPLACE_EXISTING);
                Files.writeString(config, common + wrong);
                run.signal("HUP");
                Deadline.await(TIMEOUT, () -> has(log, "reload refused"), run::errors);
            }
            run.signal("TERM");
            assertEquals(0, run.finish().exitCode());
            assertTrue(has(log, "ended:"));
        }
    }

    @Test
    void shouldGoOnWhereLogAndStatisticsCannotBeWritten() throws Exception {
        final Path config = directory.resolve("flowlag.yaml");
        final Path records = directory.resolve("records.ipfix");
        final Path log = Files.createDirectory(directory.resolve("log")).resolve("flowlag.log");
        final Path stats = Files.createDirectory(directory.resolve("stats")).resolve("stats.json");
        final String common = "capture: {interfaces: [" + HERE + "], direction: in}\nlog: {file: " + log + "}\n" +
            "exporting: {destinations: ['file:" + records + "']}\n";
        Files.writeString(config, common + "stats: {file: " + stats + "}\n");
        try (Command.Running run = new Flowlag().command("run", "-c", config).timeout(TIMEOUT).start()) {
            Deadline.await(TIMEOUT, () -> has(log, "metering " + HERE), run::errors);
            Files.writeString(config, common + "stats: {file: " + stats + ", interval: 100ms}\n");
            run.signal("HUP");
            Deadline.await(TIMEOUT, () -> Files.exists(stats), () -> "no statistics: " + run.errors());

            Files.move(stats.getParent(), directory.resolve("stats-away"));
            Deadline.await(TIMEOUT, () -> has(log, "cannot write statistics"), run::errors);
            Files.move(log.getParent(), directory.resolve("log-away"));
            run.signal("HUP");
            Deadline.await(TIMEOUT, () -> run.errors().contains("reload refused"), run::errors);
            final TrafficFlows truth = send();
            Files.createDirectory(stats.getParent());
            Deadline.await(TIMEOUT, () -> Files.exists(stats) && Stats.read(stats).counter(CounterId.CAPTURED) >= PACKETS,
                run::errors);
            run.signal("TERM");
            final Command.Result ended = run.finish();
            assertEquals(0, ended.exitCode(), ended::toString);
            Flows.assertSameCounts(Flows.of(truth), IpfixReader.read(records).orFail().flows(), "records");
        }
    }

    private static boolean has(final Path file, final String text) {
        try {
            return Files.exists(file) && Files.readString(file).contains(text);
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private static long reloadsTold(final Command.Running run) {
        return run.errors().lines().filter((line) -> line.contains(" reloaded: ")).count();
    }

    private boolean statsNames(final Path destination) {
        try {
            return Files.readString(statsFile()).contains(destination.getFileName().toString());
        } catch (final IOException ex) {
            throw new UncheckedIOException(ex);
        }
    }

    private Command.Running start(final Nfcapd nfcapd, final String source, final String... more) {
        final boolean isSharded = SHARDED.equals(source);
        final List<Object> line = new ArrayList<>(List.of("run", "-i", HERE, "--source", isSharded ? "afpacket" : source,
            "--direction", "in", "--threading", isSharded ? SHARDED : "pipelined",
            "--export", "udp://127.0.0.1:" + nfcapd.port(), "--stats", statsFile(), "--set", "stats.interval=100ms"));
        line.addAll(List.of(more));
        final Command.Running run = new Flowlag().command(line.toArray()).timeout(TIMEOUT).start();
        Deadline.await(TIMEOUT, () -> run.errors().contains("metering " + HERE), () -> "start: " + run.errors());
        return run;
    }

    /** Each thread sleeps for 50 ms at least; the next one, and what the JVM does with all of them, wake it besides. */
    private void assertSleeping(final Command.Running run) throws IOException {
        final long beginNs = System.nanoTime();
        final Map<String, Long> begin = sleeps(run.pid());
        for (int i = 0; i < 8; i++) {
            final long writtenMs = statsFile().toFile().lastModified();
            Deadline.await(TIMEOUT, () -> statsFile().toFile().lastModified() != writtenMs, run::errors);
        }
        final Map<String, Long> end = sleeps(run.pid());
        final long mostSleeps = 50 + (System.nanoTime() - beginNs) / 10_000_000;
        assertEquals(STAGES, end.keySet());
        begin.forEach((name, count) -> assertTrue(end.get(name) - count <= mostSleeps, name + " slept " +
            (end.get(name) - count) + " times, and may " + mostSleeps));
    }

    /** How often each thread of a stage slept. */
    private static Map<String, Long> sleeps(final long pid) throws IOException {
        final Map<String, Long> sleeps = new HashMap<>();
        try (Stream<Path> tasks = Files.list(Path.of("/proc/" + pid + "/task"))) {
            for (final Path task : tasks.toList()) {
                final String name = Files.readString(task.resolve("comm")).trim();
                if (STAGES.contains(name)) {
                    sleeps.put(name, Long.parseLong(Files.readString(task.resolve("status"))
                        .replaceAll("(?s).*\\nvoluntary_ctxt_switches:\\s*(\\d+).*", "$1")));
                }
            }
        }
        return sleeps;
    }

    private TrafficFlows send() throws Exception {
        return namespace.call(() -> {
            try (RawSender sender = new RawSender(THERE); GeneratedTraffic traffic = new GeneratedTraffic(profile())) {
                int polled = 0;
                while (polled != PacketSource.END_OF_SOURCE) {
                    polled = traffic.poll(packet -> {
                        final byte[] frame = new byte[packet.capturedLengthBytes()];
                        packet.buffer().getBytes(packet.offset(), frame);
                        try {
                            sender.send(frame);
                        } catch (final IOException ex) {
                            throw new IllegalStateException(ex);
                        }
                    }, 64);
                }
                return traffic.flows();
            }
        });
    }

    private static TrafficProfile profile() {
        return TrafficProfile.demo().toBuilder().packetCount(PACKETS).flowCount(FLOWS).vlanShare(0.3).build();
    }

    private static int anyVlanId() {
        final TrafficFlows flows = new GeneratedTraffic(profile()).flows();
        for (int i = 0; i < flows.flowCount(); i++) {
            if (flows.vlanId(i) != 0) {
                return flows.vlanId(i);
            }
        }
        throw new IllegalStateException("no flow has a VLAN");
    }

    private void awaitCaptured(final Command.Running run, final long count) {
        Deadline.await(TIMEOUT, () -> counter(CounterId.CAPTURED) >= count, () -> "captured " + counter(CounterId.CAPTURED) +
            " of " + count + ": " + run.errors());
    }

    private long endedIdle() {
        return counter(CounterId.FLOWS_ENDED_IDLE);
    }

    private long counter(final CounterId id) {
        return Files.exists(statsFile()) ? Stats.read(statsFile()).counter(id) : 0;
    }

    private Path statsFile() {
        return directory.resolve("stats.json");
    }

    private static void stop(final Command.Running run) {
        run.signal("TERM");
        final Command.Result ended = run.finish();
        assertEquals(0, ended.exitCode(), ended::toString);
        assertTrue(ended.errors().contains("ended:"), ended::toString);
    }
}
