package io.flowlag.exporter.delay.interval;

import io.flowlag.common.counter.CounterSet;
import io.flowlag.exporter.delay.interval.repair.FlowKeyTable;
import io.flowlag.sketch.reconcile.PacketCache;

/**
 * The counters of {@link SketchCounter}. One thread writes; any thread may read. Allocates at construction.
 */
public final class SketchCounters {
    private final CounterSet<SketchCounter> counts = new CounterSet<>(SketchCounter.class);

    /** All at 0. */
    public SketchCounters() {
    }

    /**
     * Counts one.
     *
     * @param counter to change.
     */
    public void increment(final SketchCounter counter) {
        counts.increment(counter);
    }

    void add(final SketchCounter counter, final long amount) {
        counts.add(counter, amount);
    }

    /**
     * Sets a counter to a total that is kept elsewhere.
     *
     * @param counter to change.
     * @param total   its value from now on.
     */
    public void set(final SketchCounter counter, final long total) {
        counts.set(counter, total);
    }

    /**
     * Reads a counter; safe from any thread.
     *
     * @param counter to read.
     * @return its value.
     */
    public long get(final SketchCounter counter) {
        return counts.get(counter);
    }

    /**
     * Counts what a cache did with the packets of an interval.
     *
     * @param packets settled.
     * @param keys    of their flows; null at the receiver point, which needs none.
     */
    public void cached(final PacketCache packets, final FlowKeyTable keys) {
        add(SketchCounter.RECONCILE_KEYS_OVERFLOW, keys == null ? 0 : keys.overflowPackets());
        add(SketchCounter.RECONCILE_OFFERED, packets.offeredPackets());
        add(SketchCounter.RECONCILE_HELD, packets.heldPackets());
        add(SketchCounter.RECONCILE_NOT_SAMPLED, packets.notSampledPackets());
        add(SketchCounter.RECONCILE_WITHDRAWN, packets.withdrawnPackets());
        add(SketchCounter.RECONCILE_SATURATED, packets.saturatedPackets());
        add(SketchCounter.RECONCILE_COPIES, packets.copyPackets());
        add(SketchCounter.RECONCILE_COLLIDING, packets.collidingPackets());
    }

    /** {@return packets offered to the caches that no counter explains; 0 when the sum holds} */
    public long unexplainedCached() {
        return get(SketchCounter.RECONCILE_OFFERED) - get(SketchCounter.RECONCILE_HELD) -
            get(SketchCounter.RECONCILE_NOT_SAMPLED) - get(SketchCounter.RECONCILE_WITHDRAWN) -
            get(SketchCounter.RECONCILE_SATURATED);
    }

    /** {@return sent packets that no counter explains; 0 when the sum holds} */
    public long unexplainedSent() {
        return get(SketchCounter.SENT) - get(SketchCounter.SENT_WITHOUT_DIGEST) - get(SketchCounter.SENT_BOOKED) -
            get(SketchCounter.SENT_LATE) - get(SketchCounter.SENT_UNSKETCHED);
    }

    /** {@return received packets that no counter explains; 0 when the sum holds} */
    public long unexplainedReceived() {
        return get(SketchCounter.RECEIVED) - get(SketchCounter.RECEIVED_WITHOUT_DIGEST) -
            get(SketchCounter.RECEIVED_BOOKED) - get(SketchCounter.RECEIVED_HELD) - get(SketchCounter.RECEIVED_LATE) -
            get(SketchCounter.RECEIVED_UNSKETCHED);
    }

    /** {@return records that waited and that no counter explains; 0 when the sum holds} */
    public long unexplainedRecords() {
        return get(SketchCounter.RECORDS_WAITED) - get(SketchCounter.RECORDS_COMPLETED) -
            get(SketchCounter.RECORDS_WAITING);
    }

    /** {@return estimates that no counter explains; 0 when the sum holds} */
    public long unexplainedEstimates() {
        return get(SketchCounter.JOINT_ESTIMATES) - get(SketchCounter.JOINT_ESTIMATES_BOOKED) -
            get(SketchCounter.JOINT_ESTIMATES_HELD) - get(SketchCounter.JOINT_ESTIMATES_LATE) -
            get(SketchCounter.JOINT_ESTIMATES_OVERRUN) - get(SketchCounter.JOINT_ESTIMATES_UNSKETCHED);
    }
}
