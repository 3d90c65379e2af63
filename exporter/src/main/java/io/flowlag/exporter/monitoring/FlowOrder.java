package io.flowlag.exporter.monitoring;

import java.util.Comparator;
import java.util.List;

/** The order in which flows are shown. Stateless. */
final class FlowOrder {
    private static final Comparator<FlowView> SLOWEST = Comparator
        .comparing(FlowView::meanNs, Comparator.nullsFirst(Comparator.naturalOrder()))
        .thenComparing(FlowView::packets)
        .reversed();

    private FlowOrder() {
    }

    /** {@return the slowest first, then those without a delay, the largest first} */
    static List<FlowView> slowestFirst(final List<FlowView> flows) {
        return flows.stream().sorted(SLOWEST).toList();
    }
}
