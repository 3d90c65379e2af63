package io.flowlag.exporter.delay.interval.joint;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointTier;

/**
 * Chooses the tier by what a full solution is expected to cost: flows, cells of a flow and sweeps, times what that took before.
 * One thread. Allocates at construction.
 */
final class TierChoice {
    /** What a flow's cell costs in a sweep, by the figures of the joint estimation's page. */
    private static final double NOMINAL_NS = 150;
    private static final int FIRST_SWEEPS = 24;
    private static final int LATER_SWEEPS = 10;
    /** What a cube of cells costs where flows are solved all at once: two thirds of it, in each of 20 sweeps. */
    private static final double CUBE_NS = 20;
    private static final double MEMORY = 0.75;
    /** What was slow once is tried again some time. */
    private static final double FORGETTING = 0.98;

    private final long budgetNs;
    private final int cellsOfFlow;
    private final boolean isMeasured;
    private double costNs = NOMINAL_NS;
    private final boolean isDense;
    private final boolean isDenseAffordable;
    private boolean isFirst = true;

    TierChoice(final long budgetNs, final SketchGeometry geometry, final boolean isMeasured) {
        this(budgetNs, geometry.rows() * geometry.vldaLength(), isMeasured, JointEstimator.isDense(geometry),
            (double)geometry.rows() * geometry.columns());
    }

    TierChoice(final long budgetNs, final int cellsOfFlow, final boolean isMeasured) {
        this(budgetNs, cellsOfFlow, isMeasured, false, 0);
    }

    private TierChoice(
        final long budgetNs, final int cellsOfFlow, final boolean isMeasured, final boolean isDense, final double cells) {
        this.budgetNs = budgetNs;
        this.cellsOfFlow = cellsOfFlow;
        this.isMeasured = isMeasured;
        this.isDense = isDense;
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

    /** A full solution took so long. */
    void onSolved(final int flows, final int sweeps, final long tookNs) {
        isFirst = sweeps == 0;
        final double visits = (double)flows * cellsOfFlow * sweeps;
        if (isMeasured && visits > 0) {
            costNs = MEMORY * costNs + (1 - MEMORY) * tookNs / visits;
        }
    }
}
