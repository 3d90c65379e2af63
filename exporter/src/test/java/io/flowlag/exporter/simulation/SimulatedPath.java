package io.flowlag.exporter.simulation;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import java.util.SplittableRandom;

/** The traffic of the segment and the way that it takes: delay, loss, copies, and packets that overtake others. */
final class SimulatedPath {
    private static final int FLOWS = 24;
    private static final long GAP_NS = 5 * Simulation.MS_NS;

    final List<Packet> packets = new ArrayList<>();
    private final SplittableRandom random;
    private final PriorityQueue<Arrival> underWay =
        new PriorityQueue<>(Comparator.comparingLong(Arrival::timeNs).thenComparingLong(each -> each.packet.number));
    private final long baseDelayNs;
    private long number;
    private long nextNs;
    /** Of a thousand packets. */
    int lost;
    int copied;
    long jitterNs;
    long extraDelayNs;

    /** In the simulation's time. */
    private record Arrival(Packet packet, long timeNs) {
    }

    SimulatedPath(final SplittableRandom random) {
        this.random = random;
        baseDelayNs = 50_000L << random.nextInt(8);
        lost = random.nextInt(3) == 0 ? random.nextInt(30) : 0;
        jitterNs = 1 + baseDelayNs / 4;
    }

    /** Sends the packets of a step of time, and lets those arrive that are due in it. */
    void send(final long nowNs, final long stepNs, final SimulatedHost sender, final SimulatedHost receiver) {
        if (nextNs < nowNs) {
            nextNs = nowNs;
        }
        while (nextNs < nowNs + stepNs) {
            final int flow = random.nextInt(1 + random.nextInt(FLOWS));
            final Packet packet = new Packet(flow, number++);
            packets.add(packet);
            packet.senderOffsetNs = sender.clockOffsetNs;
            packet.sentNs = nextNs + packet.senderOffsetNs;
            if (sender.isRunning()) {
                sender.source.arrive(new SimulatedSource.Passage(packet, packet.sentNs));
            }
            packet.isLost = random.nextInt(1000) < lost;
            if (!packet.isLost) {
                arrive(packet);
                if (random.nextInt(1000) < copied) {
                    packet.isCopied = true;
                    arrive(packet);
                }
            }
            nextNs += 1 + random.nextLong(2 * GAP_NS);
        }
        while (!underWay.isEmpty() && underWay.peek().timeNs < nowNs + stepNs) {
            final Arrival arrival = underWay.remove();
            arrival.packet.arrivedNs = arrival.timeNs + receiver.clockOffsetNs;
            if (receiver.isRunning()) {
                arrival.packet.isHeldUp |= !receiver.isWorking(0) || !receiver.isWorking(1);
                receiver.source.arrive(new SimulatedSource.Passage(arrival.packet, arrival.packet.arrivedNs));
            }
        }
    }

    private void arrive(final Packet packet) {
        underWay.add(new Arrival(packet, nextNs + baseDelayNs + extraDelayNs + random.nextLong(jitterNs)));
    }
}
