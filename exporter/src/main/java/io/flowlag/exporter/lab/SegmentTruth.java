package io.flowlag.exporter.lab;

import io.flowlag.rli.counters.DelayCounters;
import org.agrona.BufferUtil;
import org.agrona.concurrent.UnsafeBuffer;

import static org.agrona.BitUtil.CACHE_LINE_LENGTH;

/**
 * What really happened to each flow of a simulated segment: every packet's delay by the clocks of the two points. A
 * {@link SegmentHandler}; references are left out. Allocates 72 octets a flow at construction.
 */
public final class SegmentTruth implements SegmentHandler {
    private final UnsafeBuffer counters;
    private final int[] sentPackets;
    private final int[] lostPackets;

    /** Nothing has happened. */
    public SegmentTruth(final TrafficFlows flows) {
        counters = new UnsafeBuffer(
            BufferUtil.allocateDirectAligned(flows.flowCount() * DelayCounters.LENGTH_BYTES, CACHE_LINE_LENGTH));
        sentPackets = new int[flows.flowCount()];
        lostPackets = new int[flows.flowCount()];
    }

    @Override
    public void onSent(final SimulatedPacket packet) {
        if (!packet.isReference()) {
            sentPackets[packet.flow()]++;
        }
    }

    @Override
    public void onReceived(final SimulatedPacket packet, final long arrivalNs) {
        if (!packet.isReference()) {
            DelayCounters.record(counters, offset(packet.flow()), arrivalNs - packet.sentNs());
        }
    }

    @Override
    public void onLost(final SimulatedPacket packet) {
        if (!packet.isReference()) {
            lostPackets[packet.flow()]++;
        }
    }

    private static int offset(final int flow) {
        return flow * DelayCounters.LENGTH_BYTES;
    }

    public int flowCount() {
        return sentPackets.length;
    }

    /** Packets of a flow that passed the sender's point. */
    public int sentPackets(final int flow) {
        return sentPackets[flow];
    }

    /** Packets of a flow that did not pass the receiver's point. */
    public int lostPackets(final int flow) {
        return lostPackets[flow];
    }

    /**
     * Packets of a flow that passed the receiver's point; twins count twice. Returns packets; the delays below have a meaning
     * when this is above 0.
     */
    public long receivedPackets(final int flow) {
        return DelayCounters.count(counters, offset(flow));
    }

    /** The mean delay of a flow. Returns ns, signed, not rounded. */
    public double meanNs(final int flow) {
        return (double) DelayCounters.sumNs(counters, offset(flow)) / receivedPackets(flow);
    }

    /** The sum of a flow's delays. Returns ns, signed. */
    public long sumNs(final int flow) {
        return DelayCounters.sumNs(counters, offset(flow));
    }

    /** The sample standard deviation of a flow's delays. Returns ns; NaN for a single packet. */
    public double standardDeviationNs(final int flow) {
        return DelayCounters.standardDeviationNs(counters, offset(flow));
    }

    /** The smallest delay of a flow. Returns ns, signed. */
    public long minimumNs(final int flow) {
        return DelayCounters.minimumNs(counters, offset(flow));
    }

    /** The largest delay of a flow. Returns ns, signed. */
    public long maximumNs(final int flow) {
        return DelayCounters.maximumNs(counters, offset(flow));
    }
}
