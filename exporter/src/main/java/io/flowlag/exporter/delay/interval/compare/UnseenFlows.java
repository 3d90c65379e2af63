package io.flowlag.exporter.delay.interval.compare;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.records.FlowSums;
import io.flowlag.exporter.delay.interval.records.SketchCounter;
import io.flowlag.exporter.delay.interval.records.UnseenFlowHandler;

/**
 * Flows that only the sender point saw. Without room they are reported at once, because a selector ensures that packets pass both
 * points. Otherwise they may take another path or end at this host. They are held until the receiver point sees the flow too;
 * only then are their lost packets losses of the segment. The metering thread owns it. Allocates at construction, off the heap.
 */
final class UnseenFlows implements UnseenFlowHandler {
    /** Flows held in each of two halves, for live traffic. */
    static final int CAPACITY = 16 * 1024;
    /**
     * Time for which a half accepts flows of live traffic; it holds them as long again. Flows of captures are held to the end.
     */
    static final long HELD_NS = 32_000_000_000L;

    private final UnseenFlowHandler handler;
    private final CounterSet<SketchCounter> counters;
    private final long heldNs;
    private final boolean isHolding;
    private Half young;
    private Half old;
    private long halfEndNs = Long.MIN_VALUE;

    private static final class Half {
        private final FlowSums flows;
        private final long[] startNs;
        private final long[] endNs;
        private int heldFlows;

        private Half(final int capacity) {
            flows = FlowSums.ofAll(capacity);
            startNs = new long[capacity];
            endNs = new long[capacity];
        }

        private void clear() {
            flows.clear();
            heldFlows = 0;
        }
    }

    /**
     * Creates an empty instance.
     *
     * @param handler  receives flows that turn out to belong to the segment.
     * @param capacity flows held in each of two halves; 0 to report all at once.
     * @param heldNs   time for which a half accepts flows.
     */
    UnseenFlows(final UnseenFlowHandler handler, final CounterSet<SketchCounter> counters, final int capacity,
        final long heldNs) {
        this.handler = handler;
        this.counters = counters;
        this.heldNs = heldNs;
        isHolding = capacity > 0;
        young = new Half(capacity);
        old = new Half(capacity);
    }

    /** {@return octets, by formula} */
    static long memoryBytes(final int capacity) {
        return capacity == 0 ? 0 : 2 * (FlowSums.memoryBytes(capacity) + 2L * Long.BYTES * capacity);
    }

    /** {@return whether flows are held until it is known that they belong to the segment} */
    boolean isHolding() {
        return isHolding;
    }

    /** {@return whether any flow is held} */
    boolean isAnyHeld() {
        return young.heldFlows + old.heldFlows > 0;
    }

    @Override
    public void onUnseenFlow(final FlowSums sent, final int row, final long startNs, final long endNs) {
        if (!isHolding) {
            handler.onUnseenFlow(sent, row, startNs, endNs);
            return;
        }
        if (endNs > halfEndNs) {
            final Half emptied = old;
            emptied.clear();
            old = young;
            young = emptied;
            halfEndNs = endNs + heldNs;
        }
        counters.add(SketchCounter.NOT_OF_SEGMENT, sent.packets(row));
        final int known = young.flows.find(sent.flowHash(row));
        if (known != FlowSums.NONE) {
            young.heldFlows += young.flows.packets(known) == 0 ? 1 : 0;
            young.startNs[known] = young.flows.packets(known) == 0 ? startNs : young.startNs[known];
            young.flows.addPackets(known, sent.packets(row));
            young.endNs[known] = endNs;
            return;
        }
        final int held = young.flows.put(sent.flowHash(row), sent.packets(row), 0, 0, 0);
        if (held != FlowSums.NONE) {
            young.flows.key(held, sent, row);
            young.flows.classIndex(held, sent.classIndex(row));
            young.startNs[held] = startNs;
            young.endNs[held] = endNs;
            young.heldFlows++;
        }
    }

    /** Reports a flow that the receiver point has seen: the packets held for it were lost on the path. */
    void onSeen(final long flowHash, final IntervalAnswer summary) {
        release(old, flowHash, summary);
        release(young, flowHash, summary);
    }

    private void release(final Half half, final long flowHash, final IntervalAnswer summary) {
        final int row = half.heldFlows == 0 ? FlowSums.NONE : half.flows.find(flowHash);
        final long packets = row == FlowSums.NONE ? 0 : half.flows.packets(row);
        if (packets > 0) {
            half.heldFlows--;
            counters.add(SketchCounter.NOT_OF_SEGMENT, -packets);
            summary.addLost(half.flows.classIndex(row), packets);
            summary.flowLostPackets += packets;
            handler.onUnseenFlow(half.flows, row, half.startNs[row], half.endNs[row]);
            half.flows.addPackets(row, -packets);
        }
    }
}
