package io.flowlag.sketch.joint;

import io.flowlag.sketch.image.SketchGeometry;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.IntRange;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class JointLawsTest {
    private static final int ALL = 1_000_000;

    /** Any input about flows and cells, true or not, gives numbers or nothing. */
    @Property(tries = 60)
    void shouldNeverGiveAnythingButNumbers(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 60) final int flows,
        @ForAll @IntRange(min = 1, max = 12) final int columns, @ForAll final boolean isSampled, @ForAll final JointTier tier) {
        final SplittableRandom random = new SplittableRandom(seed);
        final SketchGeometry geometry = isSampled ?
            SketchGeometry.lds(3, columns, Math.min(columns, 5), ALL, ALL / 2, 1) : SketchGeometry.lds(3, columns, 1);
        final JointProblem problem = new JointProblem(geometry, flows, flows);
        final JointEstimator estimator = new JointEstimator(problem);
        for (int interval = 0; interval < 3; interval++) {
            problem.reset();
            problem.floorNs(anything(random));
            for (int flow = 0; flow < flows; flow++) {
                final long packets = random.nextLong(1, 1L << random.nextInt(1, 50));
                problem.addFlow(
                    packets, anything(random), anything(random), random.nextLong(packets + 1), random.nextInt(8),
                    1 + random.nextInt(1 << random.nextInt(1, 20)));
            }
            for (int flow = 0; flow < problem.flows(); flow++) {
                for (int row = 0; row < 3; row++) {
                    problem.baseColumn(flow, row, random.nextInt(columns));
                }
                if (random.nextInt(3) == 0) {
                    problem.addWitness(flow, flow, anything(random));
                }
            }
            for (int cell = 0; cell < 3 * columns; cell++) {
                problem.cell(cell / columns, cell % columns, anything(random), anything(random), anything(random));
            }

            final JointStatus status = estimator.solve(problem, tier);

            assertTrue(Double.isFinite(estimator.health()), "health " + estimator.health());
            for (int flow = 0; flow < problem.flows(); flow++) {
                assertTrue(!estimator.hasMean(flow) || Double.isFinite(estimator.meanNs(flow)), status + " mean");
                assertTrue(!estimator.hasBound(flow) || Double.isFinite(estimator.boundNs(flow)), status + " bound");
            }
        }
    }

    private static double anything(final SplittableRandom random) {
        return switch (random.nextInt(8)) {
            case 0 -> 0;
            case 1 -> Double.NaN;
            case 2 -> Double.NEGATIVE_INFINITY;
            case 3 -> Math.scalb(random.nextDouble() - 0.5, random.nextInt(-1000, 1000));
            default -> Math.scalb(random.nextDouble() - 0.3, random.nextInt(60));
        };
    }

    @Property(tries = 300)
    void shouldSelectAsSortingDoes(@ForAll final double[] values, @ForAll @DoubleRange(max = 1) final double share) {
        final double[] numbers = Arrays.stream(values).filter(value -> !Double.isNaN(value)).map(value -> value + 0.0).toArray();
        if (numbers.length > 0) {
            final int rank = (int)(share * (numbers.length - 1));
            final double selected = Selection.smallest(numbers.clone(), numbers.length, rank);
            Arrays.sort(numbers);
            assertEquals(numbers[rank], selected, 0.0);
        }
    }

    @Property
    void shouldComeNearTheExponential(@ForAll @DoubleRange(min = -690, max = 0) final double x) {
        assertEquals(1, FastMath.exp(x) / Math.exp(x), 1e-8);
    }

    @Property
    void shouldKeepTheNormalDistributionsSymmetry(@ForAll @DoubleRange(min = -12, max = 12) final double x) {
        assertEquals(1, FastMath.normalCdf(x) + FastMath.normalCdf(-x), 2e-6);
        assertEquals(0.975, FastMath.normalCdf(1.959964), 1e-6);
    }
}
