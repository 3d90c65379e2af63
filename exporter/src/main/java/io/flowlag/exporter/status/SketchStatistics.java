package io.flowlag.exporter.status;

import java.util.List;
import java.util.Objects;

/**
 * Results of the sketches of one sender and the receiver, for a measurement interval and in total. Immutable. Unknown values are
 * null.
 *
 * @param senderIndex     of the sender, in the order of the configuration.
 * @param geometry        of the sketch, for people.
 * @param memoryBytes     of all sketches and records, by formula.
 * @param startNs         of the last compared interval, by the sender's timestamps; null, like its other values, before the
 *                        first.
 * @param interval        by class, of that interval.
 * @param unexplainedLost packets of that interval lost from flows unknown to the receiver.
 * @param heavyFlows      of that interval, the largest first.
 * @param total           by class, of all intervals from the first that was compared.
 * @param weightWarning   set if too much traffic of the last interval had a higher weight.
 * @param joint           of the last interval with joint estimation; null before.
 * @param reconcile       of the last interval with reconciliation; null before.
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
     * @param newReconciledTotal by class, of reconciled packets; unused without any.
     */
    public SketchStatistics withTotals(final List<AggregateDelay> newTotal, final List<AggregateDelay> newReconciledTotal) {
        return new SketchStatistics(
            senderIndex, geometry, memoryBytes, startNs, endNs, usableCells, occupiedCells, interval, unexplainedLost,
            heavyFlows, newTotal, weightWarning, joint, reconcile == null ? null : reconcile.withTotal(newReconciledTotal));
    }
}
