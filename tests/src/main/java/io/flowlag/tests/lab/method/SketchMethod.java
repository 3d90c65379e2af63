package io.flowlag.tests.lab.method;

import io.flowlag.sketch.estimate.FlowEstimate;
import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.tests.lab.comparator.SimpleDelaySketch;

/** LDS by the product's estimate or by the paper's rule, and SDS, whose packets carry their timestamp. */
public final class SketchMethod extends Simple.Named {
    private static final long SEED = 0x51;
    private static final int TIMESTAMP_BYTES = 8;

    /** The sketch and its estimate. */
    public enum Kind {
        /** LDS, all cells weighed, the flows' packets known. */
        LDS,
        /** LDS, the emptiest cells, as in the paper. */
        LDS_RULE,
        /** SDS. */
        SDS
    }

    private final Kind kind;
    private final SketchGeometry geometry;

    /**
     * The method.
     *
     * @param geometry of the sketch, of the kind's family.
     */
    public SketchMethod(final Kind kind, final SketchGeometry geometry) {
        super(switch (kind) {
            case LDS -> "LDS, ";
            case LDS_RULE -> "LDS by the paper's rule, ";
            case SDS -> "SDS, ";
        } + geometry.rows() + " x " + geometry.columns());
        this.kind = kind;
        this.geometry = geometry;
    }

    @Override
    public Cost estimate(final PathTrace trace, final double[] meansNs) {
        final FlowEstimator estimator = kind == Kind.LDS_RULE ?
            new FlowEstimator(geometry, SEED, FlowEstimator.DEFAULT_ALPHA, 0, FlowEstimator.DEFAULT_CONFIDENCE, false) :
            new FlowEstimator(geometry, SEED);
        if (kind == Kind.SDS) {
            estimator.single(delays(trace).image());
        } else {
            pair(trace, estimator);
        }
        final FlowEstimate estimate = new FlowEstimate();
        for (int flow = 0; flow < trace.flows(); flow++) {
            meansNs[flow] = Double.NaN;
            if (trace.received(flow) > 0) {
                estimator.estimate(trace.flowHash(flow), 1,
                    kind == Kind.LDS_RULE ? FlowEstimator.UNKNOWN_PACKETS : trace.received(flow), estimate);
                meansNs[flow] = estimate.hasMean() ? estimate.meanNs() : Double.NaN;
            }
        }
        final long memoryBytes = SketchGeometry.memoryBytes(geometry);
        return kind == Kind.SDS ? new Cost(memoryBytes, TIMESTAMP_BYTES * (long) trace.packets()) :
            new Cost(2 * memoryBytes, geometry.imageLength());
    }

    private SimpleDelaySketch delays(final PathTrace trace) {
        final SimpleDelaySketch sketch = new SimpleDelaySketch(geometry, SEED);
        for (int packet = 0; packet < trace.packets(); packet++) {
            if (!trace.isLost(packet)) {
                sketch.update(trace.flowHash(trace.flowOf(packet)), trace.delayNsOf(packet), trace.bytesOf(packet), 1);
            }
        }
        return sketch;
    }

    private void pair(final PathTrace trace, final FlowEstimator estimator) {
        final LossyDifferenceSketch sender = new LossyDifferenceSketch(geometry, SEED);
        final LossyDifferenceSketch receiver = new LossyDifferenceSketch(geometry, SEED);
        for (int packet = 0; packet < trace.packets(); packet++) {
            final long hash = trace.flowHash(trace.flowOf(packet));
            sender.update(hash, trace.digestOf(packet), trace.sentNsOf(packet), trace.bytesOf(packet), 1);
            if (!trace.isLost(packet)) {
                receiver.update(hash, trace.digestOf(packet), trace.arrivalNsOf(packet), trace.bytesOf(packet), 1);
            }
        }
        estimator.pair(sender.image(), receiver.image());
    }
}
