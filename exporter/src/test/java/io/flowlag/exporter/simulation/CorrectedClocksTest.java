package io.flowlag.exporter.simulation;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ConfigTable;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.ReceiverLink;
import io.flowlag.exporter.exchange.link.MemoryNetwork;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.TakingDestination;
import io.flowlag.exporter.status.ClockEstimate;
import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import org.agrona.DirectBuffer;
import org.agrona.concurrent.CachedNanoClock;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Two hosts whose clocks are up to 10 ms apart and drift by up to 50 ppm, the sender's process restarted and its clock set
 * meanwhile: the receiver corrects delays. {@code -Dflowlag.clocks.seeds=N} runs so many worlds.
 */
@Isolated
class CorrectedClocksTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long BEGIN_NS = 1_700_000_000L * SECOND_NS;
    private static final long LEAST_STEP_NS = 150_000;
    private static final long BEYOND_ASYMMETRY_NS = 5_000;
    private static final double CONFIDENCE = 0.95;
    private static final int SEEDS = Integer.getInteger("flowlag.clocks.seeds", 2);
    /** So often as the exchange, once, the other stages work. */
    private static final int OTHERS = 20;
    private static final String MODE_FLOWS = "flows";

    @TempDir
    private Path directory;

    private final CachedNanoClock time = new CachedNanoClock();
    private final Map<Integer, List<Packet>> received = new HashMap<>();
    private final List<String> broken = new ArrayList<>();
    private SplittableRandom random;
    private SimulatedHost sender;
    private SimulatedHost receiver;
    private SimulatedPath path;
    private long offsetNs;
    private double drift;
    private long stepNs = Long.MAX_VALUE;
    private long rounds;
    private long corrected;
    private long estimated;
    private long estimatesWrong;
    private long bounded;
    private long intervals;
    private long intervalsHeld;

    @BeforeAll
    static void hush() {
        Logging.configure("OFF", null, Terminal.system());
    }

    @AfterAll
    static void speak() {
        Logging.configure("WARN", null, Terminal.system());
    }

    private ExporterConfig config(final String role, final Path home, final String more) {
        return new ConfigLoader().text("simulated", "segment: {role: " + role + ", interval: 1s, max-delay: 200ms" +
            (role.equals("sender") ? "" : ", source: [10.0.0.0/8]") + "}\nmetering: {max-flows: 64, active-timeout: 3s, " +
            "idle-timeout: 1s}\npipeline: {packet-ring: 64k, record-ring: 64k}\nstatus: {enabled: off}\n" +
            "decode: {fragments: off}\nquantiles: {memory: 256k}\nreconcile: {packets: 1k, cells: 1k, wait: 2s}\n" +
            "exporting: {destinations: [\"tcp://127.0.0.1:4739\"], spool: " + home.resolve("disk/spool") +
            ", spool-size: 1m, send-buffer: 64k}\n" + more)
            .option("--threading", ConfigTable.THREADING, List.of("invoker")).conclude();
    }

    /** The sender's clock less true time; the receiver's is right. */
    private long senderOffsetNs(final long timeNs) {
        return offsetNs + Math.round(drift * (timeNs - BEGIN_NS));
    }

    private void begin(final long seed, final String mode) throws Exception {
        random = new SplittableRandom(seed);
        time.update(BEGIN_NS);
        offsetNs = random.nextLong(-9_000_000, 9_000_001);
        drift = random.nextDouble(-50e-6, 50e-6);
        final MemoryNetwork network = new MemoryNetwork(time);
        path = new SimulatedPath(random.split());
        path.lost = seed % 2 == 0 ? 0 : 10;
        final Path home = Files.createDirectories(directory.resolve(mode + seed));
        final String port = "127.0.0.1:" + Simulation.PORT;
        receiver = new SimulatedHost(config("receiver", home.resolve("r"), "clock: {correct: on}\nlds: {enabled: on, rows: 2, " +
            "columns: 256, in-flight: 1k, waiting-records: 1k, lda-cells: 64}\njoint: {enabled: off}\n" +
            "exchange: {deadline: 3s, mode: " + mode + ", listen: \"" + port + "\"}\n"),
            time, network, random.split(), Files.createDirectories(home.resolve("r")),
            (passage) -> received.computeIfAbsent(passage.packet().flow, (flow) -> new ArrayList<>()).add(passage.packet()),
            new Judge());
        sender = new SimulatedHost(config("sender", home.resolve("s"), "exchange: {connect: \"" + port + "\"}\n"),
            time, network, random.split(), Files.createDirectories(home.resolve("s")),
            (passage) -> passage.packet().isSeenBySender = true, Laws.ofSender());
        receiver.start();
        sender.start();
    }

    private void run(final long untilNs) {
        long nextNs = time.nanoTime() / SECOND_NS * SECOND_NS + SECOND_NS;
        while (time.nanoTime() < BEGIN_NS + untilNs) {
            final long ns = LEAST_STEP_NS + random.nextLong(LEAST_STEP_NS);
            sender.clockOffsetNs = senderOffsetNs(time.nanoTime());
            path.send(time.nanoTime(), ns, sender, receiver);
            time.advance(ns);
            for (final SimulatedHost host : random.nextBoolean() ? List.of(sender, receiver) : List.of(receiver, sender)) {
                // The exchange works last.
                final int last = host.agents.size() - 1;
                for (int i = rounds % OTHERS == 0 ? 0 : last; host.isRunning() && i <= last; i++) {
                    host.work(i);
                }
            }
            rounds++;
            if (time.nanoTime() >= nextNs) {
                nextNs += SECOND_NS;
                judge(((ReceiverLink)receiver.end).clock(0));
            }
        }
    }

    private void judge(final ClockEstimate estimate) {
        if (estimate.isKnown()) {
            intervals++;
            intervalsHeld += Math.abs(estimate.offsetNs() + senderOffsetNs(estimate.timeNs())) <= estimate.boundNs() ? 1 : 0;
        }
    }

    /** Compares each record with the packets of its time. */
    private final class Judge extends TakingDestination {
        @Override
        protected void onRecord(final DirectBuffer entry, final int offset) {
            final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
            final int flow = (int)(FlowEntry.sourceLow(entry, offset) & 0xFFFF);
            if (FlowDelay.has(entry, delay, FlowDelay.FLAG_LOSS) && path.lost == 0 &&
                FlowDelay.lossKind(entry, delay) == FlowDelay.LOSS_EXACT && FlowDelay.lostPackets(entry, delay) != 0) {
                broken.add("flow " + flow + " has lost " + FlowDelay.lostPackets(entry, delay));
            }
            if (FlowDelay.has(entry, delay, FlowDelay.FLAG_CLOCK_CORRECTED)) {
                corrected++;
                if (FlowDelay.has(entry, delay, FlowDelay.FLAG_CLOCK_ERROR)) {
                    checkMean(entry, offset, delay, flow);
                }
            }
        }

        private void checkMean(final DirectBuffer entry, final int offset, final int delay, final int flow) {
            final long startNs = FlowEntry.startNs(entry, offset);
            final long endNs = FlowEntry.endNs(entry, offset);
            long count = 0;
            double sumNs = 0;
            for (final Packet each : received.getOrDefault(flow, List.of())) {
                if (each.arrivedNs >= startNs && each.arrivedNs <= endNs) {
                    count++;
                    sumNs += each.arrivedNs - each.sentNs + each.senderOffsetNs;
                }
            }
            final boolean isComparable = count == FlowEntry.packetCount(entry, offset) &&
                FlowDelay.meanPackets(entry, delay) == count;
            // An interval passes before a step is noticed.
            if (isComparable && !(endNs >= stepNs && startNs < stepNs + 2 * SECOND_NS)) {
                final double errorNs = Math.abs(FlowDelay.meanNs(entry, delay) - sumNs / count);
                final long boundNs = FlowDelay.clockErrorNs(entry, delay) +
                    (FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND) ? FlowDelay.errorBoundNs(entry, delay) : 0);
                final boolean isWrong = errorNs > boundNs + BEYOND_ASYMMETRY_NS;
                if (FlowDelay.estimator(entry, delay) != FlowDelay.ESTIMATOR_FLOW_SUMS) {
                    // Its bound, where it has one, is of 95 %.
                    final boolean isBounded = FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND);
                    estimated += isBounded ? 1 : 0;
                    estimatesWrong += isBounded && isWrong ? 1 : 0;
                    return;
                }
                bounded++;
                if (isWrong) {
                    broken.add(String.format("%.3f: flow %d is wrong by %.0f ns, bound %d ns, estimator %d",
                        (endNs - BEGIN_NS) / 1e9, flow, errorNs, boundNs, FlowDelay.estimator(entry, delay)));
                }
            }
        }
    }

    private void end() throws Exception {
        sender.close();
        receiver.close();
        received.clear();
        stepNs = Long.MAX_VALUE;
    }

    @Test
    void shouldCorrectDelaysOfHostsWithDriftingClocks() throws Exception {
        for (int seed = 0; seed < SEEDS; seed++) {
            begin(seed, seed % 2 == 0 ? MODE_FLOWS : "sketch");
            run(14 * SECOND_NS);
            sender.kill(false);
            run(15 * SECOND_NS);
            sender.start();
            run(22 * SECOND_NS);
            stepNs = time.nanoTime();
            offsetNs += random.nextBoolean() ? 4_000_000 : -4_000_000;
            run(38 * SECOND_NS);
            end();
        }
        System.out.println("corrected clocks: " + SEEDS + " worlds, bound holds in " + intervalsHeld + " of " + intervals +
            " intervals, " + corrected + " corrected records, " + bounded + " exact, " + broken.size() + " wrong; " +
            estimated + " estimated, " + estimatesWrong + " beyond their bound");
        assertTrue(intervals > 20L * SEEDS, "intervals with an estimate: " + intervals);
        assertTrue(intervalsHeld >= CONFIDENCE * intervals, intervalsHeld + " of " + intervals);
        assertTrue(bounded > 20L * SEEDS, "records checked: " + bounded);
        assertTrue(estimatesWrong <= (1 - CONFIDENCE) * estimated + 3, estimatesWrong + " of " + estimated);
        assertEquals(List.of(), broken);
    }
}
