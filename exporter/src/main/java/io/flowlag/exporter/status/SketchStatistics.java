package io.flowlag.exporter.status;

import java.util.List;
import java.util.Objects;

/**
 * What the sketches of one sender and the receiver say of a measurement interval, and of all so far. Immutable. What is not
 * known is null.
 *
 * @param senderIndex     of the sender, in the order of the configuration.
 * @param geometry        of the sketch, for people.
 * @param memoryBytes     of all sketches and records, by formula.
 * @param startNs         of the last interval that was compared, by the sender's timestamps; null before the first, as is the
 *                        rest of it.
 * @param interval        by class, of that interval.
 * @param unexplainedLost packets of that interval that were lost and cannot have been of a flow that the receiver knows.
 * @param heavyFlows      of that interval, the largest first.
 * @param total           by class, of all intervals from the first that was compared.
 * @param weightWarning   if too much traffic of the last interval was weighted up.
 * @param joint           of the last interval in which references and sketches were solved together; null before.
 * @param reconcile       of the last interval in which packets were reconciled; null before.
 */
public record SketchStatistics(
    int senderIndex,
    String geometry,
    long memoryBytes,
    Long startNs,
    Long endNs,
    long usableCells,
    long occupiedCells,
    List<AggregateDelay> interval,
    Long unexplainedLost,
    List<HeavyFlow> heavyFlows,
    List<AggregateDelay> total,
    String weightWarning,
    JointStatistics joint,
    ReconcileStatistics reconcile) {
    /** Whether both are of one interval. */
    public boolean isOfInterval(final SketchStatistics other) {
        return Objects.equals(startNs, other.startNs);
    }

    /**
     * The same with another solution.
     *
     * @param newJoint of the last interval that was solved.
     */
    public SketchStatistics with(final JointStatistics newJoint) {
        return new SketchStatistics(
            senderIndex, geometry, memoryBytes, startNs, endNs, usableCells, occupiedCells, interval, unexplainedLost,
            heavyFlows, total, weightWarning, newJoint, reconcile);
    }

    /**
     * The same with other totals: an interval could not be compared.
     *
     * @param newReconciledTotal by class, of what was reconciled; not used where nothing was.
     */
    public SketchStatistics withTotals(final List<AggregateDelay> newTotal, final List<AggregateDelay> newReconciledTotal) {
        return new SketchStatistics(
            senderIndex, geometry, memoryBytes, startNs, endNs, usableCells, occupiedCells, interval, unexplainedLost,
            heavyFlows, newTotal, weightWarning, joint, reconcile == null ? null : reconcile.withTotal(newReconciledTotal));
    }
}
