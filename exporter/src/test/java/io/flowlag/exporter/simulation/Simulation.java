package io.flowlag.exporter.simulation;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.SketchChange;
import io.flowlag.exporter.exchange.link.ExchangeReceiver;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.runtime.run.SegmentChange;
import org.agrona.concurrent.CachedNanoClock;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

/**
 * Two points of a segment, the exchange between them, a collector each, disks, clocks and the network, in simulated time and all
 * from one seed: traffic, settings, the order of duty cycles, and faults. {@link Laws} are checked after each step. A time of
 * faults is followed by a quiet time, in which everything must come to order again, and by an orderly end.
 */
final class Simulation implements AutoCloseable {
    static final long SECOND_NS = 1_000_000_000L;
    static final long MS_NS = 1_000_000L;
    static final long MAX_DELAY_NS = 200 * MS_NS;
    private static final long START_NS = 1_700_000_000L * SECOND_NS;
    private static final long STEP_NS = 10 * MS_NS;
    private static final long QUIET_STEP_NS = 20 * MS_NS;
    private static final long FAULTS_NS = 24 * SECOND_NS;
    private static final long QUIET_NS = 32 * SECOND_NS;
    private static final long END_NS = 60 * SECOND_NS;
    private static final long FAULT_EVERY_NS = 2 * SECOND_NS;
    static final int PORT = 8621;

    final SplittableRandom random;
    final CachedNanoClock time = new CachedNanoClock();
    final MemoryNetwork network = new MemoryNetwork(time);
    final SimulatedHost sender;
    final SimulatedHost receiver;
    final List<SimulatedHost> hosts;
    final SimulatedPath path;
    final Laws laws;
    private final SeededRandomness randomness;
    private final List<Runnable> later = new ArrayList<>();
    private final List<Long> laterNs = new ArrayList<>();
    private final List<String> events = new ArrayList<>();
    private final String activeTimeout;
    private final String receiverText;
    private final Path receiverDirectory;
    private final long beginNs;
    private long traceHash;
    private Liar liar;

    /**
     * Prepares a world.
     *
     * @param directory for disks, empty.
     */
    Simulation(final long seed, final Path directory) throws IOException {
        randomness = new SeededRandomness(seed);
        random = new SplittableRandom(seed);
        time.update(START_NS + random.nextLong(10 * SECOND_NS));
        beginNs = time.nanoTime();
        path = new SimulatedPath(random.split());
        laws = new Laws(this);
        activeTimeout = random.nextBoolean() ? "2s" : "16s";
        final boolean isPassive = random.nextInt(3) == 0;
        final String reconcile =
            "reconcile: {enabled: " + (random.nextBoolean() ? "on" : "off") + ", packets: 1k, cells: 1k, wait: 2s}\n";
        receiverText = reconcile + (isPassive ? "rli: {policy: passive, passive-share: 0.3}\n" : "") +
            "lds: {enabled: on, rows: 2, columns: " + (16 << random.nextInt(6)) +
            ", witnesses: 0.5, in-flight: 1k, waiting-records: 1k, lda-cells: 64}\n" +
            "joint: {enabled: " + (random.nextBoolean() ? "on" : "off") + ", max-flows: 256, pending: 2k}\n" +
            "exchange: {deadline: 3s, idle-timeout: 8s, message-timeout: 4s, mode: " +
            List.of("auto", "sketch", "flows").get(random.nextInt(3)) + ", listen: " + PORT + "}\n";
        receiverDirectory = Files.createDirectories(directory.resolve("receiver"));
        final boolean isReceiverKept = random.nextBoolean();
        receiver = new SimulatedHost(
            config("receiver", receiverText, receiverDirectory, isReceiverKept), time, network, random.split(),
            receiverDirectory, this::onReceived, laws);
        sender = new SimulatedHost(
            config("sender", reconcile +
                "exchange: {idle-timeout: 8s, message-timeout: 4s, connect: \"127.0.0.1:" + PORT + "\"}\n",
                directory.resolve("sender"), random.nextInt(8) == 0),
            time, network, random.split(), Files.createDirectories(directory.resolve("sender")), this::onSent, Laws.ofSender());
        sender.isPassive = isPassive;
        receiver.isPassive = isPassive;
        hosts = List.of(sender, receiver);
        if (random.nextBoolean()) {
            receiver.clockOffsetNs = (random.nextBoolean() ? 1 : -1) * random.nextLong(MS_NS << random.nextInt(4));
        }
    }

    private ExporterConfig config(final String role, final String more, final Path directory, final boolean isKept) {
        final Path disk = directory.resolve("disk");
        final String text = "segment: {role: " + role + ", interval: 1s, max-delay: 200ms" +
            (role.equals("sender") ? "" : ", source: [10.0.0.0/8]") + "}\n" +
            "metering: {max-flows: 64, active-timeout: " + activeTimeout + ", idle-timeout: 1s}\n" +
            "pipeline: {packet-ring: 64k, record-ring: 64k}\nstatus: {enabled: off}\n" +
            "decode: {fragments: off}\nquantiles: {memory: 256k}\n" +
            "exporting: {destinations: [\"tcp://127.0.0.1:4739\"], spool: " + disk.resolve("spool") +
            ", spool-size: 1m, send-buffer: 64k}\n" +
            (isKept ? "checkpoint: {file: " + disk.resolve("flows.checkpoint") + ", interval: 500ms}\n" : "") + more;
        return new ConfigLoader().text("simulated", text)
            .option("--threading", ConfigTable.THREADING, List.of("invoker")).conclude();
    }

    private void onSent(final SimulatedSource.Passage passage) {
        passage.packet().isSeenBySender = true;
    }

    private void onReceived(final SimulatedSource.Passage passage) {
        passage.packet().receiverLife = receiver.life;
        laws.onReceived(passage.packet());
    }

    /** {@return a hash of all that happened} */
    long traceHash() {
        return traceHash;
    }

    /** {@return what was done to the world, one line each} */
    List<String> events() {
        return events;
    }

    long elapsedNs() {
        return time.nanoTime() - beginNs;
    }

    void tell(final String event) {
        events.add(String.format("%7.3f %s", elapsedNs() / 1e9, event));
        trace(event.hashCode());
    }

    private void trace(final long value) {
        traceHash = (traceHash ^ value) * 0x9E37_79B9_7F4A_7C15L + 1;
    }

    /** A peer that lies from now on; null for none. */
    void liar(final Liar value) {
        liar = value;
    }

    /** Does something when so much time has gone by. */
    void after(final long ns, final Runnable action) {
        laterNs.add(time.nanoTime() + ns);
        later.add(action);
    }

    /** Runs the world to its end, and throws an {@link AssertionError} as soon as a law is broken. */
    void run() throws Exception {
        receiver.start();
        sender.start();
        final Faults faults = new Faults(this);
        long nextFaultNs = time.nanoTime() + 3 * SECOND_NS;
        while (elapsedNs() < FAULTS_NS) {
            if (time.nanoTime() >= nextFaultNs) {
                faults.draw();
                nextFaultNs = time.nanoTime() + random.nextLong(2 * FAULT_EVERY_NS);
            }
            step(STEP_NS);
        }
        faults.end();
        tell("quiet");
        final long quietBeginNs = time.nanoTime();
        while (time.nanoTime() - quietBeginNs < QUIET_NS) {
            step(QUIET_STEP_NS);
        }
        laws.onQuietEnd();
        tell("end");
        sender.requestStop();
        end(sender);
        receiver.requestStop();
        end(receiver);
        laws.onEnd();
    }

    private void end(final SimulatedHost host) throws Exception {
        final long endBeginNs = time.nanoTime();
        while (!host.pipeline.isEnded()) {
            if (time.nanoTime() - endBeginNs > END_NS) {
                throw new AssertionError(host.role + " does not end");
            }
            step(QUIET_STEP_NS);
        }
        stop(host);
    }

    /** The process of a host has ended in order. */
    void stop(final SimulatedHost host) throws Exception {
        laws.onStopped(host);
        final SimulatedHost other = host == sender ? receiver : sender;
        final int end = other.agents.size() - 1;
        host.finish(other.isRunning() && other.isWorking(end) ? () -> other.work(end) : null);
    }

    private void step(final long stepNs) throws Exception {
        path.send(time.nanoTime(), stepNs, sender, receiver);
        time.advance(stepNs);
        for (int i = later.size() - 1; i >= 0; i--) {
            if (time.nanoTime() >= laterNs.get(i)) {
                laterNs.remove(i);
                later.remove(i).run();
            }
        }
        if (liar != null && !liar.work()) {
            liar = null;
        }
        final int rounds = 1 + random.nextInt(3);
        for (int round = 0; round < rounds; round++) {
            for (final SimulatedHost host : random.nextBoolean() ? hosts : List.of(receiver, sender)) {
                work(host);
            }
        }
    }

    private void work(final SimulatedHost host) {
        if (!host.isRunning()) {
            return;
        }
        final int first = random.nextInt(host.agents.size());
        for (int i = 0; i < host.agents.size(); i++) {
            final int agent = (first + i) % host.agents.size();
            final long allocatedBytes = Laws.allocatedBytes();
            final int workCount = host.work(agent);
            trace(workCount * 31L + agent);
            laws.onWorked(host, agent, Laws.allocatedBytes() - allocatedBytes);
        }
        trace(laws.digest(host));
    }

    /** Changes the receiver's settings as a reload does, or as it does itself to follow the load. */
    void reload() {
        if (receiver.pipeline.delayStage().isChanging()) {
            return;
        }
        final int vldaLength = 1 << random.nextInt(3);
        final String rates = random.nextBoolean() ? "" : ", rates: [1, " + 0.25 / vldaLength + "]";
        final ExporterConfig reloaded = config("receiver",
            receiverText.replaceFirst("columns: \\d+", "columns: " + (16 << random.nextInt(6)) + ", vlda: " + vldaLength + rates)
                .replaceFirst("max-flows: 256", "max-flows: " + (256 << random.nextInt(3))),
            receiverDirectory, receiver.config.checkpoint().file() != null);
        final ExporterConfig.Lds lds = reloaded.lds();
        final ExporterConfig newer = reloaded.with(new ExporterConfig.Lds(
            true, lds.shape(), lds.ratesPpm(), lds.weights(), lds.alpha(), lds.aggregatorCells(), random.nextInt(4),
            lds.inFlightPackets(), lds.waitingRecords(), lds.witnessPpm()));
        final long intervalNs = newer.segment().intervalNs();
        final long fromNs = SegmentChange.fromNs(intervalNs, intervalNs, receiver.clock.nanoTime());
        final ExchangeReceiver end = (ExchangeReceiver)receiver.end;
        receiver.pipeline.delayStage().change(new SketchChange(newer, fromNs, end.change(newer, fromNs), true,
            rates.isEmpty() ? "" : "simulated load"));
        receiver.config = newer;
    }

    @Override
    public void close() throws IOException {
        try {
            sender.close();
            receiver.close();
        } finally {
            randomness.close();
        }
    }
}
