package io.flowlag.exporter.runtime.demo;

import io.flowlag.exporter.lab.SegmentTruth;
import io.flowlag.exporter.lab.SimulatedSegment;
import io.flowlag.exporter.lab.TrafficFlows;

import java.util.HashMap;
import java.util.Map;

/** The true packets and delays of the demo's traffic, by flow key. */
final class DemoTruth {
    private final SegmentTruth truth;
    private final Map<DemoCollector.Key, Integer> indexes = new HashMap<>();

    DemoTruth(final SimulatedSegment segment) {
        truth = segment.truth();
        final TrafficFlows flows = segment.flows();
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            if (truth.receivedPackets(flow) > 0) {
                indexes.put(
                    new DemoCollector.Key(
                        flows.sourceAddress(flow), flows.destinationAddress(flow), flows.protocol(flow),
                        flows.sourcePort(flow), flows.destinationPort(flow)),
                    flow);
            }
        }
    }

    /** {@return how many flows reached the receiver point} */
    int flowCount() {
        return indexes.size();
    }

    /** Whether a collected flow is complete. Returns true if it has every packet that passed the receiver point. */
    boolean isWhole(final DemoCollector.Row row) {
        final Integer flow = indexes.get(row.key());
        return flow != null && truth.receivedPackets(flow) == row.packets();
    }

    /** {@return the mean delay of a flow that reached the receiver point, ns} */
    double meanNs(final DemoCollector.Row row) {
        return truth.meanNs(indexes.get(row.key()));
    }

    /** {@return how many packets of a flow that reached the receiver point the bottleneck dropped} */
    int lostPackets(final DemoCollector.Row row) {
        return truth.lostPackets(indexes.get(row.key()));
    }
}
