package io.flowlag.tests.soak;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.flowlag.exporter.capture.FilterSupplier;
import io.flowlag.exporter.capture.PacketHandler;
import io.flowlag.exporter.capture.file.CaptureFileSource;
import io.flowlag.exporter.capture.file.CaptureFiles;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.Checkout;
import io.flowlag.tests.support.Command;
import io.flowlag.tests.support.Deadline;
import io.flowlag.tests.support.Flowlag;
import io.flowlag.tests.support.NetworkNamespace;
import io.flowlag.tests.support.PacketTap;
import io.flowlag.tests.support.ProcessMemory;
import io.flowlag.tests.support.RouterTopology;
import io.flowlag.tests.support.Stats;
import org.agrona.collections.Long2LongHashMap;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A soak of load steps: two points of a router's queue with their defaults, while packets a second, flows and their share of
 * losses rise to the hundredfold and fall again. From three intervals after each step on, their errors are compared with those of
 * a second pair of processes, on the same packets, that has the keys that {@code flowlag size} says for that load. tcpdump at
 * both points says what is true. Nothing may be dropped, memory must stay below its bound, and no loss may be shown that was
 * none.
 */
public final class SteppedSoak {
    private static final Duration TIMEOUT = Duration.ofMinutes(20);
    private static final int[] FACTORS = {1, 10, 100, 1};
    private static final String WIRE_AT_SENDER = "wire0";
    private static final String WIRE_AT_RECEIVER = "wire1";
    private static final String RECEIVER_ADDRESS = "10.9.0.2";
    private static final int PORT = 8622;
    /** Added to the port of the exchange. */
    private static final int REFERENCES = 100;
    /** Three intervals, and what belongs to the last of them. */
    private static final long SETTLE_NS = TimeUnit.MILLISECONDS.toNanos(3500);
    /** Within it the last interval of a window is compared. */
    private static final long ANSWER_NS = TimeUnit.SECONDS.toNanos(5);
    /** Two windows are looked at: before a change of settings can take effect, and behind it. */
    private static final long EARLY_NS = TimeUnit.SECONDS.toNanos(10);
    private static final long MOST_LATE_NS = TimeUnit.SECONDS.toNanos(30);
    private static final String BANDWIDTH = "exchange.bandwidth: ";
    private static final String DEFAULT_BANDWIDTH = "10m";
    /** No load fits it as sums of flows. */
    private static final String LEAST_BANDWIDTH = "8k";
    private static final int LEAST_PACKETS = 5;
    private static final double MOST_WORSE = 1.1;
    private static final double ROUNDING_NS = 1000;
    private static final double NS_PER_S = 1e9;
    private static final int KIB = 1024;
    private static final int POLL_LIMIT = 256;
    private static final Path FLOWLAG = Checkout.root().resolve("bin/flowlag");
    private static final ObjectMapper JSON = new ObjectMapper();

    private final SteppedTraffic.Load base;
    private final Duration duration;
    private final List<String> more;
    private final Path directory;
    private final List<String> rows = new ArrayList<>();
    private final List<String> faults = new ArrayList<>();
    private final Map<Integer, Truth> truth = new HashMap<>();
    private RouterTopology topology;
    private Path key;

    /**
     * The outcome.
     *
     * @param rows   of a table, one a step.
     * @param log    of the receiver, without its start.
     * @param faults empty if all is well.
     */
    public record Outcome(List<String> rows, List<String> log, List<String> faults) {
    }

    /** Of a flow between the taps. */
    private static final class Truth {
        private long received;
        private double sumNs;

        double meanNs() {
            return sumNs / received;
        }
    }

    /** A flow by a receiver's records. */
    private static final class Measured {
        private long packets;
        private double sumNs;
        private long lost;
        private boolean isBound;
    }

    /** Flows from one number to another, of one step, and what a pair sized by hand says of them. */
    private record Window(int step, long sinceNs, int firstFlow, int endFlow, String shape, Pair byHand) {
    }

    /**
     * A soak.
     *
     * @param duration  of all steps.
     * @param base      load of the first step.
     * @param more      keys of both receivers that differ from the defaults, as lines of a file.
     * @param directory for files.
     */
    public SteppedSoak(
        final Duration duration, final SteppedTraffic.Load base, final List<String> more, final Path directory) {
        this.duration = duration;
        this.base = base;
        this.more = more;
        this.directory = directory;
    }

    /** {@return what came of it} */
    public Outcome run() throws Exception {
        key = Files.writeString(Files.createFile(directory.resolve("key"), PosixFilePermissions.asFileAttribute(
            PosixFilePermissions.fromString("rw-------"))), "00112233445566778899aabbccddeeff");
        topology = RouterTopology.create();
        try {
            topology.offloadsOff();
            topology.source().connect(WIRE_AT_SENDER, topology.exit(), WIRE_AT_RECEIVER);
            topology.source().addAddress(WIRE_AT_SENDER, "10.9.0.1/24");
            topology.exit().addAddress(WIRE_AT_RECEIVER, RECEIVER_ADDRESS + "/24");
            return measured();
        } finally {
            topology.close();
        }
    }

    private Outcome measured() throws Exception {
        final List<Window> windows = new ArrayList<>();
        try (Pair defaults = new Pair("defaults", PORT, List.of());
            SteppedTraffic traffic = new SteppedTraffic(topology, base, 1)) {
            for (int i = 0; i < FACTORS.length; i++) {
                windows.addAll(step(i, traffic, defaults));
            }
            final int[] lostOf = traffic.stop();
            final long dropped = topology.droppedPackets();
            if (dropped > 0) {
                faults.add("the queue dropped " + dropped + " packets");
            }
            final List<String> log = defaults.stop();
            final Map<Integer, Measured> measured = defaults.measured();
            for (final Window each : windows) {
                compare(each, measured, each.byHand.measured());
            }
            losses(measured, lostOf);
            return new Outcome(rows, log, faults);
        }
    }

    private List<Window> step(final int index, final SteppedTraffic traffic, final Pair defaults) throws Exception {
        final SteppedTraffic.Load load = base.times(FACTORS[index]);
        final long stepNs = duration.toNanos() / FACTORS.length;
        final long lateNs = Math.min(MOST_LATE_NS, stepNs - SETTLE_NS - EARLY_NS - ANSWER_NS);
        final List<Window> windows = new ArrayList<>();
        final Path sent = directory.resolve("sent.pcap");
        final Path arrived = directory.resolve("arrived.pcap");
        try (Pair byHand = new Pair("by-hand-" + index, PORT + 1 + index, keysByHand(load))) {
            final long beginNs = System.nanoTime();
            traffic.step(load);
            try (PacketTap sentTap = tap(topology.source(), RouterTopology.HOST_INTERFACE, "out", sent);
                PacketTap arrivedTap = tap(topology.exit(), RouterTopology.EXIT_INGRESS, "in", arrived)) {
                pauseUntil(beginNs + SETTLE_NS);
                int firstFlow = traffic.renew();
                long sinceNs = SETTLE_NS;
                final long earlyNs = SETTLE_NS + EARLY_NS;
                for (final long untilNs : lateNs > 0 ? new long[] {earlyNs, earlyNs + lateNs} : new long[] {earlyNs}) {
                    pauseUntil(beginNs + untilNs);
                    final int endFlow = traffic.renew();
                    windows.add(new Window(index, sinceNs, firstFlow, endFlow, defaults.state(), byHand));
                    firstFlow = endFlow;
                    sinceNs = untilNs;
                }
                pauseUntil(beginNs + sinceNs + ANSWER_NS);
                byHand.stop();
                sentTap.cut();
                arrivedTap.cut();
            }
            read(sent, arrived, windows.get(0).firstFlow, windows.get(windows.size() - 1).endFlow);
            pauseUntil(beginNs + stepNs);
            return windows;
        } finally {
            Files.deleteIfExists(sent);
            Files.deleteIfExists(arrived);
        }
    }

    private PacketTap tap(final NetworkNamespace namespace, final String name, final String direction, final Path file) {
        return new PacketTap(namespace, name, direction, "udp and dst host " + RouterTopology.DESTINATION, file);
    }

    private static void pauseUntil(final long timeNs) {
        Deadline.await(TIMEOUT, () -> System.nanoTime() - timeNs >= 0, () -> "time stands still");
    }

    /** {@return what an operator would set for a load} */
    private List<String> keysByHand(final SteppedTraffic.Load load) {
        final String bandwidth = more.contains("exchange.mode: sketch") ? LEAST_BANDWIDTH :
            more.stream().filter((each) -> each.startsWith(BANDWIDTH)).map((each) -> each.substring(BANDWIDTH.length()))
                .findFirst().orElse(DEFAULT_BANDWIDTH);
        final Command.Result size = new Flowlag().inThisJvm().run("size", "--flows", load.flows(), "--packets",
            load.packetsPerSecond(), "--loss", String.format(Locale.ROOT, "%.6f", load.lossShare()), "--bandwidth", bandwidth)
            .orFail();
        return size.output().lines().skip(1).takeWhile((line) -> line.startsWith(" ")).map(String::strip)
            .filter((line) -> line.matches("[a-z]+\\.[a-z-]+: .*") && !line.startsWith(BANDWIDTH)).toList();
    }

    private void read(final Path sent, final Path arrived, final int firstFlow, final int endFlow) {
        final Long2LongHashMap sentNs = new Long2LongHashMap(Long.MIN_VALUE);
        read(sent, firstFlow, endFlow, (flow, number, timeNs) -> sentNs.put(number, timeNs));
        read(arrived, firstFlow, endFlow, (flow, number, timeNs) -> {
            final long beforeNs = sentNs.remove(number);
            if (beforeNs == Long.MIN_VALUE) {
                throw new AssertionError("packet " + number + " was not sent");
            }
            final Truth each = truth.computeIfAbsent(flow, (unused) -> new Truth());
            each.received++;
            each.sumNs += timeNs - beforeNs;
        });
    }

    private interface Sighting {
        void onPacket(int flow, long number, long timeNs);
    }

    private static void read(final Path capture, final int firstFlow, final int endFlow, final Sighting sighting) {
        final PacketHandler handler = (packet) -> {
            final int flow = packet.buffer().getInt(packet.offset() + SteppedTraffic.FLOW_OFFSET, ByteOrder.BIG_ENDIAN) -
                SteppedTraffic.FIRST_FLOW;
            if (flow >= firstFlow && flow < endFlow) {
                sighting.onPacket(flow, packet.buffer().getLong(
                    packet.offset() + SteppedTraffic.NUMBER_OFFSET, ByteOrder.BIG_ENDIAN), packet.timestampNs());
            }
        };
        try (CaptureFileSource source = CaptureFiles.open(List.of(capture.toString()), FilterSupplier.ALL)) {
            int polled = 0;
            while (polled >= 0) {
                polled = source.poll(handler, POLL_LIMIT);
            }
        }
    }

    private void compare(final Window window, final Map<Integer, Measured> own, final Map<Integer, Measured> byHand) {
        final Errors ownErrors = errors(window, own);
        final Errors otherErrors = errors(window, byHand);
        final SteppedTraffic.Load load = base.times(FACTORS[window.step]);
        final String when = "x" + FACTORS[window.step] + " from " + window.sinceNs / NS_PER_S + " s";
        rows.add(String.format(Locale.ROOT, "| %s | %d | %d | %.2f %% | %d | %s | %s | %s |", when, load.packetsPerSecond(),
            load.flows(), 100 * load.lossShare(), ownErrors.flows, ownErrors, otherErrors, window.shape));
        if (ownErrors.medianNs > MOST_WORSE * otherErrors.medianNs + ROUNDING_NS ||
            ownErrors.mostNs > MOST_WORSE * otherErrors.mostNs + ROUNDING_NS) {
            faults.add(when + ": error " + ownErrors + ", sized by hand " + otherErrors);
        }
        if (ownErrors.share < otherErrors.share / MOST_WORSE) {
            faults.add(when + ": fewer flows have a mean");
        }
    }

    /** Of the flows with several packets: how many, which share has a mean, and the errors' median and 90 % quantile. */
    private record Errors(int flows, double share, double medianNs, double mostNs, double meanNs) {
        @Override
        public String toString() {
            return String.format(Locale.ROOT, "%.3f / %.3f (%.1f)", 100 * medianNs / meanNs,
                100 * mostNs / meanNs, 100 * share);
        }
    }

    private Errors errors(final Window window, final Map<Integer, Measured> measured) {
        final List<Double> errorsNs = new ArrayList<>();
        int flows = 0;
        double sumNs = 0;
        for (int flow = window.firstFlow; flow < window.endFlow; flow++) {
            final Truth each = truth.get(flow);
            if (each == null || each.received < LEAST_PACKETS) {
                continue;
            }
            flows++;
            sumNs += each.meanNs();
            final Measured by = measured.get(flow);
            if (by != null && by.packets > 0) {
                errorsNs.add(Math.abs(by.sumNs / by.packets - each.meanNs()));
            }
        }
        final double[] sorted = errorsNs.stream().mapToDouble(Double::doubleValue).sorted().toArray();
        return sorted.length == 0 ? new Errors(flows, 0, 0, 0, 1) : new Errors(flows, sorted.length / (double)flows,
            sorted[sorted.length / 2], sorted[9 * sorted.length / 10], sumNs / flows);
    }

    private void losses(final Map<Integer, Measured> measured, final int[] lostOf) {
        final List<String> wrong = new ArrayList<>();
        measured.forEach((flow, each) -> {
            if (!each.isBound && each.lost > lostOf[flow]) {
                wrong.add(flow + " shows " + each.lost + " and lost " + lostOf[flow]);
            }
        });
        if (!wrong.isEmpty()) {
            faults.add(wrong.size() + " flows show a loss that they had not: " + wrong.subList(0, Math.min(10, wrong.size())));
        }
    }

    /** A sender and a receiver of their own, as an operator starts them. */
    private final class Pair implements AutoCloseable {
        private final String name;
        private final int port;
        private final Command.Running receiver;
        private final Command.Running sender;
        private final Path records;
        private Map<Integer, Measured> measured;

        Pair(final String name, final int port, final List<String> keys) throws IOException {
            this.name = name;
            this.port = port;
            records = directory.resolve(name + ".ipfix");
            final List<String> lines = new ArrayList<>(List.of("segment.role: receiver", "segment.source: [" +
                RouterTopology.SOURCE_PREFIX + "]", "segment.destination: [" + RouterTopology.DESTINATION_PREFIX + "]",
                "capture.interfaces: [" + RouterTopology.EXIT_INGRESS + "]", "capture.direction: in",
                "exchange.listen: \"" + RECEIVER_ADDRESS + ":" + port + "\"",
                "exporting.destinations: [\"file:" + records + "\"]"));
            lines.addAll(more);
            lines.addAll(keys);
            receiver = start(topology.exit(), "receiver", lines);
            Flowlag.awaitMetering(receiver);
            sender = start(topology.source(), "sender", List.of("segment.role: sender", "segment.destination: [" +
                RouterTopology.DESTINATION_PREFIX + "]", "capture.interfaces: [" + RouterTopology.HOST_INTERFACE + "]",
                "capture.direction: out", "exchange.connect: \"" + RECEIVER_ADDRESS + ":" + port + "\""));
            Deadline.await(TIMEOUT, () -> receiver.errors().contains("measuring since") || !receiver.isAlive(), receiver::errors);
        }

        private Command.Running start(final NetworkNamespace namespace, final String role, final List<String> lines)
            throws IOException {
            final Path config = directory.resolve(name + "-" + role + ".yaml");
            Files.writeString(config, String.join("\n", lines) + "\nexchange.key-file: " + key + "\nrli.port: " +
                (port + REFERENCES) + "\nstats.file: " + stats(role) + "\nstats.interval: 1s\n");
            return Command.of("ip", "netns", "exec", namespace.name(), "nice", "-n", "-19", FLOWLAG, "run", "-c", config)
                .environment("FLOWLAG_BUILD", "never").timeout(TIMEOUT).start();
        }

        private Path stats(final String role) {
            return directory.resolve(name + "-" + role + ".json");
        }

        /** {@return what was sent, changes of sketches, and memory} */
        String state() {
            final Stats now = Stats.read(stats("receiver"));
            return String.format(Locale.ROOT, "%d of %d intervals by sums, %d changes, %d MiB",
                now.delayCounter("lds_intervals_of_flows"), now.delayCounter("lds_intervals"),
                now.delayCounter("lds_shape_steps"), new ProcessMemory(receiver.pid()).residentBytes() / KIB / KIB);
        }

        /** Ends both, and looks at their counters. Returns the receiver's log. */
        List<String> stop() throws Exception {
            for (final Command.Running each : List.of(sender, receiver)) {
                final String role = each == sender ? "sender" : "receiver";
                final long residentBytes = new ProcessMemory(each.pid()).residentBytes();
                each.signal("TERM");
                final Command.Result ended = each.finish().orFail();
                final Stats last = Stats.read(stats(role)).orFailUnlessAccounted();
                final long dropped = last.counter(CounterId.LOST_IN_KERNEL) + last.counter(CounterId.DROPPED_AT_PACKET_RING);
                if (dropped > 0) {
                    faults.add(name + " " + role + " dropped " + dropped + " packets");
                }
                final JsonNode process = Stats.tree(stats(role)).path("memory").path(0);
                if (residentBytes > process.path("bound_bytes").asLong(0)) {
                    faults.add(name + " " + role + " takes " + residentBytes + " octets: " + process);
                }
                Files.writeString(directory.resolve(name + "-" + role + ".log"), ended.errors());
            }
            return receiver.errors().lines().toList();
        }

        /** {@return the flows of the records} */
        Map<Integer, Measured> measured() throws Exception {
            if (measured == null) {
                measured = new HashMap<>();
                final Path json = directory.resolve("records.json");
                Command.of("sh", "-c", "\"$0\" collect --read \"$1\" --format json >\"$2\"", FLOWLAG, records, json)
                    .environment("FLOWLAG_BUILD", "never").timeout(TIMEOUT).run().orFail();
                try (BufferedReader lines = Files.newBufferedReader(json)) {
                    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                        add(JSON.readTree(line));
                    }
                }
                Files.delete(json);
            }
            return measured;
        }

        private void add(final JsonNode record) {
            if (!record.has("sourceTransportPort")) {
                return;
            }
            final int flow = (record.get("sourceTransportPort").asInt() << 16 |
                record.get("destinationTransportPort").asInt()) - SteppedTraffic.FIRST_FLOW;
            final Measured each = measured.computeIfAbsent(flow, (unused) -> new Measured());
            final long packets = record.path("flowlagDelayPacketDeltaCount").asLong();
            if (record.has("flowlagDelayMeanNanoseconds") && packets > 0) {
                each.packets += packets;
                each.sumNs += packets * record.get("flowlagDelayMeanNanoseconds").asDouble();
            }
            each.lost += record.path("flowlagLostPacketDeltaCount").asLong();
            each.isBound |= record.path("flowlagLossKind").asInt() != 1;
        }

        @Override
        public void close() {
            sender.close();
            receiver.close();
        }
    }
}
