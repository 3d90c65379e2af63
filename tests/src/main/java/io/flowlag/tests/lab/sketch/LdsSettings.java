package io.flowlag.tests.lab.sketch;

import io.flowlag.sketch.estimate.FlowEstimator;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.tests.lab.report.Numbers;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.sketch.LdsRun.FlowErrors;
import io.flowlag.tests.lab.sketch.LdsRun.Packets;

import java.util.function.BiFunction;
import java.util.function.ToDoubleFunction;

/** Common settings of the experiments after the LDS paper: sizes, and the two estimates of a flow. */
final class LdsSettings {
    static final int ALL = Integer.MAX_VALUE;
    static final int FULL = SketchGeometry.FULL_RATE_PPM;

    private static final int PAPER_FLOWS = 146_000;

    private LdsSettings() {
    }

    /** How a flow's mean comes from its cells. */
    enum Estimate {
        /** The product's: all cells, the flow's packets known. */
        WEIGHED("weighed", Packets.KNOWN, FlowEstimator::new),
        /** The paper's: the emptiest cells. */
        RULE("the paper's rule", Packets.UNKNOWN, (geometry, seed) -> new FlowEstimator(
            geometry, seed, FlowEstimator.DEFAULT_ALPHA, 0, FlowEstimator.DEFAULT_CONFIDENCE, false));

        final String title;
        private final Packets packets;
        private final BiFunction<SketchGeometry, Long, FlowEstimator> estimators;

        Estimate(final String title, final Packets packets, final BiFunction<SketchGeometry, Long, FlowEstimator> estimators) {
            this.title = title;
            this.packets = packets;
            this.estimators = estimators;
        }

        FlowErrors errors(final LdsRun run, final int setting) {
            return run.errors(setting, packets, estimators);
        }
    }

    static int flows(final Setup setup) {
        return setup.size(7_300, 7_300, PAPER_FLOWS);
    }

    /** As many cells for each flow as the paper has. */
    static int columns(final Setup setup, final int paperColumns) {
        return (int) ((long) paperColumns * flows(setup) / PAPER_FLOWS);
    }

    /** The median over seeds. */
    static double over(final FlowErrors[] ofSeeds, final ToDoubleFunction<FlowErrors> figure) {
        final double[] figures = new double[ofSeeds.length];
        for (int seed = 0; seed < figures.length; seed++) {
            figures[seed] = figure.applyAsDouble(ofSeeds[seed]);
        }
        return Numbers.median(figures);
    }
}
