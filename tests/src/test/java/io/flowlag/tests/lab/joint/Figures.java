package io.flowlag.tests.lab.joint;

import io.flowlag.sketch.joint.JointTier;

import java.io.PrintStream;
import java.util.ArrayList;
import java.util.List;

/** The table of {@code docs/joint.md}. */
final class Figures {
    static final double[] BOTH_SIZES = {0.5, 0.05};
    static final double[] LARGE_SIZE = {0.5};

    private Figures() {
    }

    static List<Series> measure(
        final Scenario scenario, final double[] sizes, final int flows, final JointTier tier,
        final long firstSeed, final int warmUps, final int scored, final PrintStream out) {
        final List<Series> all = new ArrayList<>();
        for (final Series series : Series.run(scenario, flows, sizes, tier, firstSeed, warmUps, scored)) {
            all.add(series);
            out.println("SUM " + series.summary());
            out.println("BIN " + series.bins());
            series.losses().forEach(loss -> out.println("LOSS " + loss));
            out.println("COMPARED " + series.comparisons() + " unsound " + series.unsound());
            out.flush();
        }
        return all;
    }

    /** The largest median relative error of flows of at least 100 packets that the project accepts. */
    static double limit(final Series series) {
        final boolean isLarge = 0.5 == series.cellsPerFlow;
        return switch (series.name) {
            case "FIFO 88 %" -> isLarge ? 0.0005 : 0.004;
            case "FIFO 55 %" -> isLarge ? 0.004 : 0.05;
            case "two queues 70 %" -> isLarge ? 0.006 : 0.18;
            case "Weibull" -> isLarge ? 0.012 : 1;
            case "FIFO 70 %, loss 0.1 %" -> 0.01;
            case "FIFO 70 %, loss 0.5 %" -> 0.015;
            case "FIFO 70 %, loss 1.0 %" -> 0.02;
            default -> 1;
        };
    }
}
