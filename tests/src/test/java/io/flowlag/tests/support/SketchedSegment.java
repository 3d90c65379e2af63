package io.flowlag.tests.support;

import io.flowlag.exporter.status.CounterId;

import java.io.IOException;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;

/**
 * A {@link RouterTopology} whose source and exit are the two points of a segment, each a {@code flowlag run} of its own. They
 * exchange messages on a separate wire that bypasses the queue and can be cut. Each process has files of its own, named by the
 * test.
 */
public final class SketchedSegment implements AutoCloseable {
    /** For whatever a loaded machine may take. */
    public static final Duration TIMEOUT = Duration.ofSeconds(180);
    /** Packets of the segment, for a tap. */
    public static final String FILTER = "udp and dst net 10.4.0.0/24";
    private static final String IDLE = "1500ms";
    private static final String WIRE_AT_SENDER = "wire0";
    private static final String WIRE_AT_RECEIVER = "wire1";
    private static final String RECEIVER_ADDRESS = "10.9.0.2";
    private static final int EXCHANGE_PORT = 8622;
    private static final int SEGMENT_PORT = 9100;
    private static final int CROSS_PORT = 9101;

    private final RouterTopology topology;
    private final Path directory;
    private final Path key;
    private final String interval;
    private final List<Point> starting = new ArrayList<>();

    /**
     * Builds the namespaces.
     *
     * @param directory for files.
     * @param interval  of the sketches.
     */
    public SketchedSegment(final Path directory, final String interval) throws IOException {
        this.directory = directory;
        this.interval = interval;
        topology = RouterTopology.create();
        topology.offloadsOff();
        topology.source().connect(WIRE_AT_SENDER, topology.exit(), WIRE_AT_RECEIVER);
        topology.source().addAddress(WIRE_AT_SENDER, "10.9.0.1/24");
        topology.exit().addAddress(WIRE_AT_RECEIVER, RECEIVER_ADDRESS + "/24");
        key = Files.writeString(Files.createFile(directory.resolve("key"),
            PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rw-------"))),
            "00112233445566778899aabbccddeeff");
    }

    /** {@return the namespaces} */
    public RouterTopology topology() {
        return topology;
    }

    /** Takes the wire of the exchange away. */
    public void cut() throws IOException {
        topology.source().ip("link", "set", WIRE_AT_SENDER, "down");
    }

    /** Gives it back. */
    public void heal() throws IOException {
        topology.source().ip("link", "set", WIRE_AT_SENDER, "up");
    }

    /**
     * Traffic of the segment.
     *
     * @param plan of it.
     * @param port of several, 0 for the first.
     */
    public WindowedTraffic traffic(final WindowedTraffic.Plan plan, final int port) throws Exception {
        return new WindowedTraffic(topology.source(), topology.destination(),
            new InetSocketAddress(RouterTopology.DESTINATION, SEGMENT_PORT + 2 * port), plan);
    }

    /**
     * Traffic through the same queue, outside the segment.
     *
     * @param plan of it.
     */
    public WindowedTraffic crossTraffic(final WindowedTraffic.Plan plan) throws Exception {
        return new WindowedTraffic(topology.crossSource(), topology.crossDestination(),
            new InetSocketAddress(RouterTopology.CROSS_DESTINATION, CROSS_PORT), plan);
    }

    /** {@return a tap at the sender point} */
    public PacketTap tapSent() {
        return new PacketTap(
            topology.source(), RouterTopology.HOST_INTERFACE, "out", FILTER, directory.resolve("sent.pcap"));
    }

    /** {@return a tap at the receiver point} */
    public PacketTap tapArrived() {
        return new PacketTap(topology.exit(), RouterTopology.EXIT_INGRESS, "in", FILTER, directory.resolve("arrived.pcap"));
    }

    /**
     * Starts a receiver. It captures when a sender has been started, or when it was waited for.
     *
     * @param name of its files.
     * @param more arguments.
     * @return the process.
     */
    public Point receiver(final String name, final String... more) {
        final List<Object> arguments = new ArrayList<>(List.of("-i", RouterTopology.EXIT_INGRESS, "--direction", "in",
            "--set", "segment.role=receiver", "--set", "exchange.mode=sketch",
            "--set", "reconcile.enabled=off",
            "--set", "exchange.listen=" + RECEIVER_ADDRESS + ":" + EXCHANGE_PORT,
            "--set", "segment.source=" + RouterTopology.SOURCE_PREFIX,
            "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX,
            "--set", "segment.interval=" + interval, "--set", "segment.max-delay=" + interval));
        arguments.addAll(List.of(more));
        return new Point(topology.exit(), name, arguments);
    }

    /**
     * Starts a sender, and waits until all points capture.
     *
     * @param name of its files.
     * @param more arguments.
     * @return the process.
     */
    public Point sender(final String name, final String... more) {
        final List<Object> arguments = new ArrayList<>(List.of("-i", RouterTopology.HOST_INTERFACE, "--direction", "out",
            "--set", "segment.role=sender", "--set", "exchange.connect=" + RECEIVER_ADDRESS + ":" + EXCHANGE_PORT,
            "--set", "segment.destination=" + RouterTopology.DESTINATION_PREFIX));
        arguments.addAll(List.of(more));
        final Point sender = new Point(topology.source(), name, arguments);
        awaitStarted();
        return sender;
    }

    private void awaitStarted() {
        for (final Point each : starting) {
            Flowlag.awaitMetering(each.run);
            Deadline.await(TIMEOUT, () -> Files.exists(each.statistics), each.run::errors);
        }
        starting.clear();
    }

    @Override
    public void close() throws IOException {
        topology.close();
    }

    /** A process at one of the points. */
    public final class Point implements AutoCloseable {
        private final Path records;
        private final Path statistics;
        private final Command.Running run;

        private Point(final NetworkNamespace namespace, final String name, final List<Object> own) {
            records = directory.resolve(name + ".ipfix");
            statistics = directory.resolve(name + ".json");
            final List<Object> arguments = new ArrayList<>(List.of("run", "--set", "clock.error=1ms",
                "--export", "file:" + records + "?flush-interval=100ms", "--set", "exchange.key-file=" + key, "--stats",
                statistics, "--set", "stats.interval=100ms", "--active", "10m", "--idle", IDLE));
            arguments.addAll(own);
            run = new Flowlag().under("ip", "netns", "exec", namespace.name(), "nice", "-n", "-19")
                .command(arguments.toArray()).timeout(TIMEOUT).start();
            starting.add(this);
        }

        /** {@return its statistics of the moment} */
        public Stats statistics() {
            return Stats.read(statistics);
        }

        /** {@return its flow records, when it has ended} */
        public List<DelayFlow> records() {
            return DelayFlow.read(records);
        }

        /**
         * Sends it a signal.
         *
         * @param name such as {@code STOP}.
         */
        public void signal(final String name) {
            run.signal(name);
        }

        /**
         * Waits until a number grows.
         *
         * @param number to look at, again and again.
         * @param by     least growth.
         */
        public void awaitMore(final LongSupplier number, final long by) {
            awaitStarted();
            final long before = number.getAsLong();
            await(() -> number.getAsLong() >= before + by);
        }

        /**
         * Waits for a condition while the process runs.
         *
         * @param condition to wait for.
         */
        public void await(final BooleanSupplier condition) {
            Deadline.await(TIMEOUT, () -> condition.getAsBoolean() || !run.isAlive(), () -> run.errors() + statistics());
            if (!run.isAlive()) {
                throw new AssertionError(run.errors());
            }
        }

        /**
         * Waits until this many further intervals were compared.
         *
         * @param intervals at a receiver.
         */
        public void awaitCompared(final long intervals) {
            awaitMore(() -> statistics().delayCounter("lds_intervals"), intervals);
        }

        /** Waits until everything that was sent up to now is in an interval that was compared. */
        public void awaitComparedNow() {
            final long nowNs = System.currentTimeMillis() * 1_000_000;
            await(() -> statistics().comparedThroughNs() > nowNs);
        }

        /** Waits until traffic that has ended is in records: flows are idle, and no record waits for an answer. */
        public void awaitRecords() {
            awaitComparedNow();
            await(() -> {
                final Stats now = statistics();
                return now.counter(CounterId.FLOWS_CREATED) == now.counter(CounterId.FLOWS_ENDED_IDLE) &&
                    now.counter(CounterId.RECORDS_WAITING) == 0;
            });
        }

        /** Ends it as an operator would. */
        public void stop() {
            run.signal("TERM");
            final Command.Result ended = run.finish();
            if (ended.exitCode() != 0) {
                throw new AssertionError(ended);
            }
        }

        @Override
        public void close() {
            run.close();
        }
    }
}
