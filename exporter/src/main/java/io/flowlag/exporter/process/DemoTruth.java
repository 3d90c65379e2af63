package io.flowlag.exporter.process;

import io.flowlag.exporter.lab.TrafficFlows;

import java.util.HashMap;
import java.util.Map;

/** What the demo's traffic really was, by flow key. Made when the traffic has ended. */
final class DemoTruth {
    private final TrafficFlows flows;
    private final Map<DemoCollector.Key, Integer> indexes = new HashMap<>();

    DemoTruth(final TrafficFlows flows) {
        this.flows = flows;
        for (int flow = 0; flow < flows.flowCount(); flow++) {
            indexes.put(
                new DemoCollector.Key(
                    flows.sourceAddress(flow), flows.destinationAddress(flow), flows.protocol(flow),
                    flows.sourcePort(flow), flows.destinationPort(flow)),
                flow);
        }
    }

    /** {@return how many flows were generated} */
    int flowCount() {
        return indexes.size();
    }

    /**
     * Whether a collected flow is as it was generated.
     *
     * @param row the flow.
     * @return true if packets, octets, first and last time are equal to the nanosecond.
     */
    boolean isEqual(final DemoCollector.Row row) {
        final Integer flow = indexes.get(row.key());
        return flow != null && flows.packets(flow) == row.packets() && flows.octets(flow) == row.octets() &&
            flows.firstNs(flow) == row.startNs() && flows.lastNs(flow) == row.endNs();
    }
}
