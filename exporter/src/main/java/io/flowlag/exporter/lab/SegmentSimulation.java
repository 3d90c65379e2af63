package io.flowlag.exporter.lab;

import io.flowlag.rli.reference.ErrorEstimate;
import io.flowlag.rli.sender.InjectionScheduler;
import io.flowlag.rli.sender.InjectionSettings;
import io.flowlag.rli.sender.ReferenceSource;
import io.flowlag.rli.sender.SenderCounter;

/**
 * A segment at work in simulated time: packets come, references are injected ahead of the packet that made them due, both wait in
 * the queue and are transmitted; faults come last. Each call of {@link #step} is one event, that is, at most one call of the
 * handler, but for a packet that is lost at once. When the last regular packet has been sent, each stream sends one more
 * reference, so that every packet has one on its right.
 *
 * <p>A packet's delay is its time at the receiver's point minus that at the sender's, both in whole ns: queueing and its own
 * transmission. Regular packets and references are counted by the length of their frames, without preamble, check sequence and
 * gap. One thread. Allocates at construction.
 */
public final class SegmentSimulation {
    private static final long ARRIVAL_SALT = 0x6172_7269_7661_6C03L;
    private static final long QUEUE_SALT = 0x7175_6575_6500_0004L;
    private static final long FAULT_SALT = 0x6661_756C_7400_0005L;
    private static final long CLOCK_ERROR_NS = 1;
    private static final int SPARE_PACKETS = 4;
    private static final int ARRIVED_AT_MOST = 4;
    private static final int NONE = -1;
    private static final long NEVER = Long.MAX_VALUE;

    private final SegmentProfile profile;
    private final SegmentPlan plan;
    private final long startNs;
    private final ArrivalTimes arrivals;
    private final LinkQueue[] paths;
    private final SimulatedPacket packets;
    private final LabRandom lengths;
    private final LabRandom faultRandom;
    private final FrameEncoder encoder;
    private final int[] arrived = new int[ARRIVED_AT_MOST];
    private final int[] numbers;
    private final int[] sequences;
    private final ReferenceModel references;
    private final InjectionScheduler scheduler;
    private final ReferenceSource[] sources;

    private int nextPacket;
    private int nextFlow;
    private int nextWantedBytes;
    private int nextLengthBytes;
    private long nextNs;
    private boolean isNextShown;
    private long nowNs;
    private long departedNs;
    private int closedStreams;
    private int held = NONE;
    private int arrivedCount;
    private long lostCount;
    private long burstLeft;
    private long idleDueNs = -1;

    SegmentSimulation(final SegmentPlan plan) {
        this.plan = plan;
        profile = plan.profile;
        startNs = profile.traffic().startNs();
        arrivals = new ArrivalTimes(profile.load(), profile.capacityBps(), plan.meanPacketBytes, plan.seed(ARRIVAL_SALT));
        paths = new LinkQueue[profile.queue().pathCount()];
        for (int path = 0; path < paths.length; path++) {
            paths[path] = new LinkQueue(
                profile.queue(), profile.capacityBps(), plan.meanPacketBytes, plan.seed(QUEUE_SALT + path));
        }
        packets = new SimulatedPacket(profile.queue().packetsAtMost() + SPARE_PACKETS);
        lengths = plan.lengthRandom();
        faultRandom = new LabRandom(plan.seed(FAULT_SALT));
        encoder = new FrameEncoder(plan.flows);
        numbers = new int[plan.flows.flowCount()];
        sequences = new int[numbers.length];
        for (int flow = 0; flow < sequences.length; flow++) {
            sequences[flow] = plan.flows.sequence(flow);
        }
        references = profile.references();
        if (references == null) {
            scheduler = null;
            sources = new ReferenceSource[0];
        } else {
            scheduler = new InjectionScheduler(injection());
            sources = new ReferenceSource[references.streamCount()];
            for (int stream = 0; stream < sources.length; stream++) {
                sources[stream] = new ReferenceSource(references.session(stream), ErrorEstimate.of(CLOCK_ERROR_NS, true));
            }
        }
        draw();
    }

    private InjectionSettings injection() {
        final int baseBytes = references.key() == null ? 44 : 112;
        return new InjectionSettings(
            references.policies(), profile.capacityBps(), references.utilizationWeight(), references.maximumGapNs(),
            references.ceilingBps(), ReferenceFrame.HEADERS_BYTES + baseBytes);
    }

    /** Advances to the next event; where only time passes, no handler is called. Returns false after the last arrival. */
    public boolean step(final SegmentHandler handler) {
        if (arrivedCount > 0) {
            deliver(handler);
            return true;
        }
        final long arrivalNs = nextPacket < plan.schedule.packetCount() ? nextNs : NEVER;
        final long dueNs = arrivalNs == NEVER || scheduler == null ? NEVER : dueNs();
        if (nextPath().departureNs() <= Math.min(arrivalNs, dueNs)) {
            onDeparture(nextPath(), handler);
        } else if (arrivalNs == NEVER) {
            return close(handler);
        } else if (dueNs < arrivalNs) {
            nowNs = dueNs;
            final int stream = scheduler.dueClass(startNs + dueNs);
            if (stream == InjectionScheduler.NONE) {
                idleDueNs = dueNs;
            } else {
                inject(stream, handler);
            }
        } else {
            nowNs = arrivalNs;
            onArrival(handler);
        }
        return true;
    }

    /** Lets everything happen that is left. */
    void run(final SegmentHandler handler) {
        boolean isGoingOn = true;
        while (isGoingOn) {
            isGoingOn = step(handler);
        }
    }

    private long dueNs() {
        final long dueNs = Math.max(nowNs, scheduler.nextDueNs(startNs + nowNs) - startNs);
        return dueNs <= idleDueNs ? NEVER : dueNs;
    }

    private void draw() {
        if (nextPacket < plan.schedule.packetCount()) {
            nextFlow = plan.schedule.flowOf(nextPacket);
            nextWantedBytes = profile.traffic().drawFrameBytes(lengths);
            nextLengthBytes = encoder.lengthBytes(nextFlow, numbers[nextFlow], nextWantedBytes);
            nextNs = arrivals.nextNs();
            isNextShown = false;
        }
    }

    /** References that are due by this packet go first; each is an event of its own. */
    private void onArrival(final SegmentHandler handler) {
        final int classIndex = plan.classOf(nextFlow);
        if (scheduler != null && !isNextShown) {
            isNextShown = true;
            final int stream = references.streamOf(classIndex);
            if (scheduler.onPacket(stream, startNs + nowNs, nextLengthBytes)) {
                inject(stream, handler);
                return;
            }
        }
        final int number = numbers[nextFlow]++;
        final int packet = packets.take(nextFlow, number, classIndex, startNs + nowNs);
        packets.lengths(nextWantedBytes, nextLengthBytes, sequences[nextFlow]);
        sequences[nextFlow] += encoder.sequenceAdvance(nextFlow, number, nextWantedBytes);
        enter(packet, handler);
        nextPacket++;
        draw();
    }

    private void inject(final int stream, final SegmentHandler handler) {
        final ReferenceSource source = sources[stream];
        final int packet = packets.take(
            SimulatedPacket.NO_FLOW, source.nextSequenceNumber(), references.streamClass(stream), startNs + nowNs);
        final int payloadBytes = source.encode(packets.payloads(), packets.payloadOffset(), startNs + nowNs);
        source.onSent();
        packets.lengths(payloadBytes, ReferenceFrame.HEADERS_BYTES + payloadBytes, stream);
        scheduler.onLinkTime(startNs + nowNs);
        scheduler.onInjected(stream, startNs + nowNs, packets.lengthBytes());
        enter(packet, handler);
    }

    private void enter(final int packet, final SegmentHandler handler) {
        handler.onSent(packets);
        final LinkQueue path = paths[paths.length == 1 ? 0 : packets.classIndex()];
        if (!path.offer(packet, packets.classIndex(), packets.lengthBytes(), nowNs)) {
            lose(packet, handler);
        }
    }

    private boolean close(final SegmentHandler handler) {
        if (closedStreams < sources.length) {
            inject(closedStreams++, handler);
            return true;
        }
        if (held != NONE) {
            arrive(held);
            held = NONE;
            return true;
        }
        return false;
    }

    /** The path that the next packet leaves. */
    private LinkQueue nextPath() {
        return paths.length == 1 || paths[0].departureNs() <= paths[1].departureNs() ? paths[0] : paths[1];
    }

    private void onDeparture(final LinkQueue queue, final SegmentHandler handler) {
        nowNs = Math.max(nowNs, (long) queue.departureNs());
        departedNs = Math.round(queue.departureNs());
        final int packet = queue.poll();
        packets.wrap(packet);
        final PathFaults faults = profile.faults();
        final double lossShare = packets.isReference() ? faults.referenceLossShare() : faults.lossShare();
        if (happens(lossShare) || isInBurst(faults)) {
            lose(packet, handler);
        } else if (held == NONE && happens(faults.reorderedShare())) {
            held = packet;
        } else {
            arrive(packet);
            if (held != NONE) {
                arrive(held);
                held = NONE;
            }
            deliver(handler);
        }
    }

    private void arrive(final int packet) {
        arrived[arrivedCount++] = packet;
        if (happens(profile.faults().duplicatedShare())) {
            arrived[arrivedCount++] = packet;
        }
    }

    private void deliver(final SegmentHandler handler) {
        final int packet = arrived[0];
        arrivedCount--;
        System.arraycopy(arrived, 1, arrived, 0, arrivedCount);
        final PathFaults faults = profile.faults();
        final boolean isStepped = faults.clockStepAtNs() > 0 && departedNs >= faults.clockStepAtNs();
        handler.onReceived(packets.wrap(packet),
            startNs + departedNs + faults.clockErrorNs(departedNs) + (isStepped ? faults.clockStepNs() : 0));
        if (arrivedCount == 0 || arrived[0] != packet) {
            packets.give(packet);
        }
    }

    /** Episodes of loss: how many packets the next one takes is exponential, whatever they are. */
    private boolean isInBurst(final PathFaults faults) {
        if (burstLeft == 0 && happens(faults.burstLossShare() / faults.burstPackets() / (1 - faults.burstLossShare()))) {
            burstLeft = Math.max(1, Math.round(faultRandom.nextExponential() * faults.burstPackets()));
        }
        if (burstLeft == 0) {
            return false;
        }
        burstLeft--;
        return true;
    }

    private void lose(final int packet, final SegmentHandler handler) {
        lostCount++;
        handler.onLost(packets.wrap(packet));
        packets.give(packet);
    }

    private boolean happens(final double share) {
        return share > 0 && faultRandom.nextDouble() < share;
    }

    /** Reads one of the sender's counters, over all streams. Returns its value; 0 without references. */
    public long counter(final SenderCounter counter) {
        return scheduler == null ? 0 : scheduler.counter(counter);
    }

    /** {@return packets and references that were lost so far, in the queue or behind it} */
    public long lostCount() {
        return lostCount;
    }

    /** {@return simulated time since the start, ns} */
    public long elapsedNs() {
        return nowNs;
    }
}
