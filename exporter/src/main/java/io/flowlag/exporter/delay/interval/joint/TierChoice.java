package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointTier;

/**
 * Chooses the tier by the expected cost of a full solution: flows, cells of each flow and sweeps, scaled by earlier solution
 * times. One thread. Allocates at construction.
 */
final class TierChoice {
    /** Cost of a flow's cell in a sweep, from the figures on the page about joint estimation. */
    private static final double NOMINAL_NS = 150;
    private static final int FIRST_SWEEPS = 24;
    private static final int LATER_SWEEPS = 10;
    /** Cost of a cube of cells where flows are solved all at once: two thirds of it, in each of 20 sweeps. */
    private static final double CUBE_NS = 20;
    private static final double MEMORY = 0.75;
    /** Decay of the learned cost, so that a tier that was slow once is tried again. */
    private static final double FORGETTING = 0.98;

    private final long budgetNs;
    private final int cellsOfFlow;
    private final boolean isMeasured;
    private final boolean isDense;
    private final boolean isDenseAffordable;
    private double costNs = NOMINAL_NS;
    private boolean isFirst = true;

    TierChoice(final long budgetNs, final SketchGeometry geometry, final boolean isMeasured) {
        this.budgetNs = budgetNs;
        this.isMeasured = isMeasured;
        cellsOfFlow = geometry.rows() * geometry.vldaLength();
        isDense = JointEstimator.isDense(geometry);
        final double cells = (double)geometry.rows() * geometry.columns();
        isDenseAffordable = CUBE_NS * cells * cells * cells <= budgetNs;
    }

    JointTier choose(final int flows) {
        if (isDense) {
            return isDenseAffordable ? JointTier.FULL : JointTier.FAST;
        }
        final int sweeps = isFirst ? FIRST_SWEEPS : LATER_SWEEPS;
        if (costNs * flows * cellsOfFlow * sweeps <= budgetNs) {
            return JointTier.FULL;
        }
        costNs = Math.max(NOMINAL_NS, costNs * FORGETTING);
        return JointTier.FAST;
    }

    /** Learns from the duration of a full solution. */
    void onSolved(final int flows, final int sweeps, final long tookNs) {
        isFirst = sweeps == 0;
        final double visits = (double)flows * cellsOfFlow * sweeps;
        if (isMeasured && visits > 0) {
            costNs = MEMORY * costNs + (1 - MEMORY) * tookNs / visits;
        }
    }
}
