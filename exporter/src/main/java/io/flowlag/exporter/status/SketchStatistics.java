package io.flowlag.exporter.status;

import com.fasterxml.jackson.annotation.JsonInclude;
import com.fasterxml.jackson.annotation.JsonProperty;
import com.fasterxml.jackson.annotation.JsonPropertyOrder;

import java.util.List;
import java.util.Objects;
import java.util.Set;

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
@JsonPropertyOrder({
    "sender", "geometry", "memory_bytes", "start_ns", "end_ns", "usable_cells", "occupied_cells", "unexplained_lost"})
public record SketchStatistics(
    @JsonProperty("sender") int senderIndex,
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
    @JsonInclude(JsonInclude.Include.NON_NULL) String weightWarning,
    JointStatistics joint,
    ReconcileStatistics reconcile) implements PartlyKnown {
    private static final Set<String> OF_AN_INTERVAL =
        Set.of("usable_cells", "occupied_cells", "interval", "heavy_flows");

    @Override
    public boolean knows(final String label) {
        return startNs != null || !OF_AN_INTERVAL.contains(label);
    }

    /** Whether both are of one interval. */
    public boolean isOfInterval(final SketchStatistics other) {
        return Objects.equals(startNs, other.startNs);
    }

    /** The same with the solution of the last interval that was solved. */
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
