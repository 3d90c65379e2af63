package io.flowlag.exporter.simulation;

import com.sun.management.ThreadMXBean;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.FlowDelay;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.export.Destination;
import io.flowlag.exporter.flow.FlowEntry;
import io.flowlag.exporter.runtime.TakingDestination;
import io.flowlag.exporter.status.AccountingIdentity;
import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * What holds whatever happens:
 * <ul>
 * <li>every packet and every record is accounted for, and no counter goes back;</li>
 * <li>no flow has more packets lost, by records that say exact, than the path lost;</li>
 * <li>no record counts more packets than came in its time;</li>
 * <li>a mean is within its bound, but for a small share of records;</li>
 * <li>after a kill or a power cut, what the checkpoint promises to keep reaches the collector, and nothing twice that is not
 *     announced;</li>
 * <li>whatever peers send, the exchange allocates no more than that and a fixed sum;</li>
 * <li>when faults are over, intervals are compared again.</li>
 * </ul>
 */
final class Laws extends TakingDestination {
    /** More than a round of the checkpoint takes if no stage stands still. */
    private static final long PROMISED_NS = 2 * Simulation.SECOND_NS;
    /** From a packet's arrival to the end of the round that has it: a cache this small is given in one step. */
    private static final long STEPS_NS = 100 * Simulation.MS_NS;
    private static final long STATISTICS_EVERY = 32;
    /** What timestamps are good for. */
    private static final long STAMP_NS = 1;
    /** What the exchange may allocate in a duty cycle, besides the octets that it received. */
    private static final long MOST_ALLOCATED_BYTES = 4 << 20;

    private static final int NONE = -1;

    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();

    private final Simulation world;
    private final Map<Integer, List<Packet>> received = new HashMap<>();
    private final Map<Integer, Long> claimed = new HashMap<>();
    private final Map<SimulatedHost, Kept> kept = new HashMap<>();
    private long checks;
    private boolean hasStepped;
    long boundsChecked;
    long boundsBroken;
    long lossesClaimed;

    /** What one host's checkpoint promises. */
    private static final class Kept {
        /** By run: until when packets that were metered are safe. */
        private final Map<Integer, Long> safeNs = new HashMap<>();
        private long rounds;
        /** Nothing is promised of packets of runs up to this one. */
        private int voidLife = NONE;
        private int stalledExportLife = NONE;
    }

    Laws(final Simulation world) {
        this.world = world;
    }

    private void check(final boolean isHeld, final String law) {
        if (!isHeld) {
            throw new AssertionError(law);
        }
    }

    private Kept kept(final SimulatedHost host) {
        return kept.computeIfAbsent(host, (each) -> new Kept());
    }

    void onReceived(final Packet packet) {
        received.computeIfAbsent(packet.flow, (flow) -> new ArrayList<>()).add(packet);
    }

    void onStarted(final SimulatedHost host) {
        kept(host).rounds = 0;
    }

    /** A stage that stands still loses what its ring does not hold, and counts it. */
    void onStalled(final SimulatedHost host, final int agent) {
        if (agent == host.exportingAgent()) {
            kept(host).stalledExportLife = host.life;
        }
    }

    /** The checkpoint promises nothing across a step of the clock, or while its disk fails. */
    void promiseNothing(final SimulatedHost host) {
        kept(host).voidLife = host.life;
    }

    /** A clock was set: the receiver's times are in no order then. */
    void onStepped(final SimulatedHost host) {
        hasStepped |= host.role == Role.RECEIVER;
    }

    /** Of a number that changes with whatever a process has done. */
    long digest(final SimulatedHost host) {
        final Counters counters = host.counters;
        return counters.get(CounterId.METERED) * 31 + counters.get(CounterId.RECORDS_TAKEN) +
            counters.get(CounterId.CAPTURED) * 17 + host.collector.recordsLeft() * 131;
    }

    /** {@return what this thread has allocated, octets} */
    static long allocatedBytes() {
        return THREADS.getCurrentThreadAllocatedBytes();
    }

    void onWorked(final SimulatedHost host, final int agent, final long allocatedBytes) {
        final Counters counters = host.counters;
        final String who = host.role + " " + host.agents.get(agent).roleName() + ": ";
        check(AccountingIdentity.unexplainedCaptured(counters) == 0, who + "captured packets are not explained");
        check(AccountingIdentity.unexplainedDecoded(counters) >= 0, who + "more packets explained than decoded");
        check(AccountingIdentity.unexplainedRecords(counters) >= 0, who + "more records explained than made");
        if (host.role == Role.RECEIVER && agent == host.agents.size() - 1) {
            check(allocatedBytes <= MOST_ALLOCATED_BYTES, who + allocatedBytes + " octets allocated at once");
        }
        if (checks++ % STATISTICS_EVERY == 0) {
            final DestinationStatistics statistics = host.exporting().statistics();
            check(statistics.unexplainedRecords() == 0, who + "records of the destination: " + statistics.line());
            final DelayStatistics delay = host.pipeline.delayStage().statistics();
            check(delay.isAccountedFor(), who + "delay: " + delay.unexplained());
        }
        if (counters.get(CounterId.DROPPED_AT_PACKET_RING) + counters.get(CounterId.CHECKPOINT_FLOWS_FORGOTTEN) > 0 ||
            kept(host).stalledExportLife == host.life && counters.get(CounterId.DROPPED_AT_RECORD_RING) > 0) {
            promiseNothing(host);
        }
        onRounds(host);
    }

    private void onRounds(final SimulatedHost host) {
        final long rounds = host.counters.get(CounterId.CHECKPOINT_ROUNDS);
        final Kept promise = kept(host);
        if (rounds > promise.rounds) {
            promise.rounds = rounds;
            boolean isStalled = false;
            for (int i = 0; i < host.stalledUntilNs.length; i++) {
                isStalled |= host.stalledUntilNs[i] > world.time.nanoTime() - PROMISED_NS && i != host.exportingAgent();
            }
            if (!isStalled) {
                promise.safeNs.merge(host.life, host.clock.nanoTime() - STEPS_NS, Math::max);
            }
        }
    }

    /** All of a process that ended in order has been counted out. */
    void onStopped(final SimulatedHost host) {
        final Counters counters = host.counters;
        final String who = host.role + " at its end: ";
        check(AccountingIdentity.unexplainedDecoded(counters) == 0, who + "decoded packets are not explained");
        check(AccountingIdentity.unexplainedRecords(counters) == 0, who + "records made are not explained");
        check(counters.get(CounterId.RECORDS_WAITING) == 0, who + "records wait");
        final DestinationStatistics statistics = host.exporting().statistics();
        check(statistics.unexplainedRecords() == 0, who + statistics.line());
        if (host.role == Role.RECEIVER) {
            kept(host).safeNs.put(host.life, Long.MAX_VALUE);
        }
    }

    /** The exchange has come to order. */
    void onQuietEnd() {
        final long before = world.receiver.pipeline.delayStage().sketchCount(SketchCounter.INTERVALS);
        check(before > 0, "no interval is compared after faults: " +
            world.receiver.pipeline.delayStage().statistics().counters() +
            " sender " + world.sender.pipeline.delayStage().statistics().counters());
    }

    void onEnd() {
        final SimulatedHost host = world.receiver;
        final SimulatedCollector collector = host.collector;
        check(collector.recordsArrived() + collector.recordsLostOnTheWay() <= collector.recordsLeft(), "records out of nothing");
        final Kept promise = kept(host);
        if (!hasStepped) {
            collector.records.forEach(this::onLeft);
        }
        if (host.config.checkpoint().file() != null) {
            onPromise(promise, collector);
        }
    }

    /**
     * Each packet that was metered early enough is counted in a record that left. Other packets take nothing out of records, so
     * one of them can hide one that is missing.
     */
    private void onPromise(final Kept promise, final SimulatedCollector collector) {
        final Map<Integer, List<long[]>> records = new HashMap<>();
        collector.records.forEach((each) -> records.computeIfAbsent((int)each[0], (flow) -> new ArrayList<>()).add(each));
        received.forEach((flow, packets) -> {
            final List<long[]> ofFlow = records.getOrDefault(flow, List.of());
            packets.sort(Comparator.comparingLong((each) -> each.arrivedNs));
            for (final Packet packet : packets) {
                final long safeNs = promise.safeNs.getOrDefault(packet.receiverLife, Long.MIN_VALUE);
                if (packet.receiverLife > promise.voidLife && packet.arrivedNs <= safeNs && !packet.isHeldUp &&
                    !packet.isCopied) {
                    check(isCounted(packet, ofFlow), "packet " + packet.number + " of flow " + flow +
                        " is in no record that left; arrived at " + packet.arrivedNs + ", safe until " + safeNs);
                }
            }
        });
    }

    /** No record counts more packets than came in its time. */
    private void onLeft(final long[] record) {
        final long came = received.getOrDefault((int)record[0], List.of()).stream()
            .filter((each) -> each.isCopied || record[1] <= each.arrivedNs + 1 && each.arrivedNs - 1 <= record[2]).count();
        check(record[3] <= came, "a record of flow " + record[0] + " counts " + record[3] + " packets, " + came + " came");
    }

    /** Takes a packet out of the record that ends first of those that can have it. */
    private static boolean isCounted(final Packet packet, final List<long[]> records) {
        final Optional<long[]> record = records.stream()
            .filter((each) -> each[1] <= packet.arrivedNs + 1 && packet.arrivedNs - 1 <= each[2] && each[3] > 0)
            .min(Comparator.comparingLong((each) -> each[2]));
        record.ifPresent((each) -> each[3]--);
        return record.isPresent();
    }

    @Override
    protected void onRecord(final DirectBuffer entry, final int offset) {
        final int delay = offset + FlowEntry.BASE_LENGTH_BYTES;
        final int flow = (int)(FlowEntry.sourceLow(entry, offset) & 0xFFFF);
        if (FlowDelay.has(entry, delay, FlowDelay.FLAG_LOSS) && FlowDelay.lossKind(entry, delay) == FlowDelay.LOSS_EXACT) {
            final long lost = FlowDelay.lostPackets(entry, delay);
            final long sum = claimed.merge(flow, lost, Long::sum);
            lossesClaimed += lost;
            final long truly = world.path.packets.stream()
                .filter((each) -> each.flow == flow && each.isSeenBySender && isLost(each)).count();
            check(sum <= truly, "flow " + flow + ": " + sum + " packets said to be lost, " + truly + " are");
        }
        if (FlowDelay.has(entry, delay, FlowDelay.FLAG_ERROR_BOUND) && FlowDelay.shownEstimator(entry, delay) != 0) {
            checkMean(entry, offset, delay, flow);
        }
    }

    /** By the clocks, a packet that takes longer than segment.max-delay is lost. */
    private static boolean isLost(final Packet packet) {
        return packet.isLost || packet.arrivedNs - packet.sentNs > Simulation.MAX_DELAY_NS;
    }

    private void checkMean(final DirectBuffer entry, final int offset, final int delay, final int flow) {
        final long packets = FlowEntry.packetCount(entry, offset);
        if (FlowDelay.meanPackets(entry, delay) != packets) {
            return;
        }
        final long startNs = FlowEntry.startNs(entry, offset);
        final long endNs = FlowEntry.endNs(entry, offset);
        long count = 0;
        double sumNs = 0;
        for (final Packet each : received.getOrDefault(flow, List.of())) {
            if (each.arrivedNs >= startNs && each.arrivedNs <= endNs) {
                count++;
                sumNs += each.arrivedNs - each.sentNs;
            }
        }
        if (count != packets) {
            return;
        }
        final double errorNs = Math.abs(FlowDelay.meanNs(entry, delay) - sumNs / count);
        final long boundNs = FlowDelay.errorBoundNs(entry, delay);
        boundsChecked++;
        boundsBroken += errorNs > boundNs + STAMP_NS ? 1 : 0;
    }

    /** {@return a destination of the sender's records, of which no law speaks} */
    static Destination ofSender() {
        return new TakingDestination() {
            @Override
            protected void onRecord(final DirectBuffer entry, final int offset) {
                // no delay is in it
            }
        };
    }
}
