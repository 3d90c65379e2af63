package io.flowlag.exporter.delay.interval.records;

/**
 * How references and sketches are solved together. Immutable.
 *
 * @param waitNs         how much longer than the maximum delay after an interval estimates of its packets are waited for.
 * @param budgetNs       what a solution may cost; one that is expected to cost more is made by the fast tier.
 * @param maxFlows       of an interval; one with more is not solved.
 * @param pendingPackets that may wait for their estimates at once; estimates of more are left out and counted.
 * @param isThreaded     whether intervals are solved on a thread of their own, as live traffic needs; else by the caller, so that
 *                       captures give the same every time.
 * @param isChecked      whether bounds are checked by the sums of all flows, which both points then keep.
 */
public record JointSettings(
    long waitNs, long budgetNs, int maxFlows, int pendingPackets, boolean isThreaded, boolean isChecked) {
    private static final int FLOWS_PER_WITNESS = 16;
    private static final int LEAST_WITNESSES = 256;

    /** {@return witness flows of an interval at most} */
    public int maxWitnesses() {
        return Math.max(Math.min(LEAST_WITNESSES, maxFlows), maxFlows / FLOWS_PER_WITNESS);
    }
}
