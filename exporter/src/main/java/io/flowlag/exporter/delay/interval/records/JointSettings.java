package io.flowlag.exporter.delay.interval.records;

/**
 * Settings of joint estimation from references and sketches. Immutable.
 *
 * @param waitNs         how much longer than the maximum delay after an interval its estimates are awaited.
 * @param budgetNs       cost limit of a full solution; the fast tier replaces one that is expected to cost more.
 * @param maxFlows       most flows of an interval; one with more is not solved.
 * @param pendingPackets most packets that await estimates at once; further estimates are dropped and counted.
 * @param isThreaded     whether intervals are solved on their own thread, as live traffic needs. Otherwise the caller solves
 *                       them, so that results from captures are reproducible.
 * @param isChecked      whether bounds are checked against the sums of all flows, which both points then keep.
 */
public record JointSettings(
    long waitNs, long budgetNs, int maxFlows, int pendingPackets, boolean isThreaded, boolean isChecked) {
    /** Settings of an empty stage, where there is no joint estimation. */
    public static final JointSettings OFF = new JointSettings(0, 0, 1, 1, false, false);

    private static final int FLOWS_PER_WITNESS = 16;
    private static final int LEAST_WITNESSES = 256;

    /** {@return most witness flows of an interval} */
    public int maxWitnesses() {
        return Math.max(Math.min(LEAST_WITNESSES, maxFlows), maxFlows / FLOWS_PER_WITNESS);
    }
}
