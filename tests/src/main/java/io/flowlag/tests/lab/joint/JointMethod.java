package io.flowlag.tests.lab.joint;

import io.flowlag.rli.counters.DelayCounters;
import io.flowlag.rli.receiver.Estimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.joint.JointEstimator;
import io.flowlag.sketch.joint.JointProblem;
import io.flowlag.sketch.joint.JointTier;
import io.flowlag.tests.lab.method.DelayMethod;
import io.flowlag.tests.lab.method.PathTrace;
import io.flowlag.tests.lab.method.RliMethod;

import java.util.Arrays;

/** Joint solution of RLI and LDS, with witnesses; cold, that is, without an earlier interval. */
public final class JointMethod implements DelayMethod {
    private static final int WITNESS_BYTES = 32;

    private final SketchGeometry geometry;

    /** The method. */
    public JointMethod(final SketchGeometry geometry) {
        this.geometry = geometry;
    }

    @Override
    public String name() {
        return "joint, " + geometry.rows() + " x " + geometry.columns();
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final long[] estimatesNs = new long[trace.packets()];
        final long receiverBytes = new RliMethod(Estimator.LINEAR).packets(trace, estimatesNs);
        final long otherwiseNs = Math.round(Arrays.stream(estimatesNs).filter(estimate -> estimate != RliMethod.NONE)
            .average().orElseThrow());
        for (int packet = 0; packet < estimatesNs.length; packet++) {
            estimatesNs[packet] = estimatesNs[packet] == RliMethod.NONE ? otherwiseNs : estimatesNs[packet];
        }
        final Interval interval = new Interval(geometry, trace.flows());
        interval.take(trace, estimatesNs);
        final JointEstimator estimator = new JointEstimator(interval.problem);
        estimator.solve(interval.problem, JointTier.FULL);
        for (int flow = 0; flow < trace.flows(); flow++) {
            final int index = interval.indexOfFlow[flow];
            meansNs[flow] = index >= 0 && estimator.hasMean(index) ? estimator.meanNs(index) : Double.NaN;
        }
        return new Cost(
            2 * SketchGeometry.memoryBytes(geometry) + receiverBytes + (long) DelayCounters.LENGTH_BYTES * trace.flows() +
                JointProblem.memoryBytes(geometry, trace.flows(), trace.flows()) +
                JointEstimator.memoryBytes(interval.problem),
            geometry.imageLength() + RliMethod.controlBytes(trace) + (long) WITNESS_BYTES * interval.problem.witnesses());
    }
}
