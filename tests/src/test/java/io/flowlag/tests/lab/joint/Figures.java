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

    public static void main(final String[] arguments) {
        final int flows = Integer.parseInt(arguments[1]);
        final long firstSeed = Long.parseLong(arguments[2]);
        final int warmUps = Integer.parseInt(arguments[3]);
        final int scored = Integer.parseInt(arguments[4]);
        final JointTier tier = JointTier.valueOf(arguments[5]);
        for (final String name : arguments[0].split(",")) {
            final double value = Double.parseDouble(name.substring(1)) / 1000;
            final Scenario scenario = switch (name.charAt(0)) {
                case 'f' -> Scenario.queue(value);
                case 'q' -> Scenario.twoQueues();
                case 'w' -> Scenario.weibull();
                default -> Scenario.lossy(value);
            };
            measure(scenario, name.charAt(0) == 'l' ? LARGE_SIZE : BOTH_SIZES, flows, tier, firstSeed, warmUps, scored, System.out);
        }
    }
}
