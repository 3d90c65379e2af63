package io.flowlag.sketch.joint;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Bounds where flows and cells are few, which is where flows share several cells and witnesses are known to their neighbours. */
class HonestBoundsTest {
    private static final double WITNESS_SHARE = 0.2;

    /**
     * A segment through a day of intervals: how wrong RLI is, and which way it leans, changes from one to the next, as behind a
     * queue that fills and empties.
     */
    private static final class Segment {
        final SketchGeometry geometry;
        final JointProblem problem;
        final JointEstimator estimator;
        final double[] truthNs;
        final boolean[] isWitness;
        private final SplittableRandom random;
        private final int flows;

        Segment(final int columns, final int flows, final long seed) {
            geometry = SketchGeometry.lds(4, columns, 1);
            problem = new JointProblem(geometry, flows, flows);
            estimator = new JointEstimator(problem);
            truthNs = new double[flows];
            isWitness = new boolean[flows];
            random = new SplittableRandom(seed);
            this.flows = flows;
        }

        JointStatus solve(final double usableShare, final boolean hasReferences) {
            problem.reset();
            final int columns = geometry.columns();
            final double[] delays = new double[4 * columns];
            final double[] estimates = new double[delays.length];
            final double[] packets = new double[delays.length];
            final double lean = 2e5 * (random.nextDouble() - 0.5);
            final double wrong = 1e5 * Math.exp(2 * random.nextDouble());
            for (int flow = 0; flow < flows; flow++) {
                final int count = 1 + (int)(-15 * Math.log(1 - random.nextDouble()));
                final double estimateNs = 5e6 * (1 + random.nextDouble());
                final double error = lean + wrong * normal() / Math.sqrt(count);
                truthNs[flow] = Math.round(count * (estimateNs + error)) / (double)count;
                final double sumNs = Math.round(count * estimateNs);
                problem.addFlow(
                    count, hasReferences ? sumNs : 0, hasReferences ? sumNs * estimateNs : 0, hasReferences ? count : 0, 0, 1);
                long hash = JointTraffic.NEW_FLOW;
                for (int row = 0; row < 4; row++) {
                    final int column = random.nextInt(columns);
                    hash = KeyedMix.mix(hash + column, JointTraffic.NEW_FLOW + row);
                    problem.baseColumn(flow, row, column);
                    delays[row * columns + column] += count * truthNs[flow];
                    estimates[row * columns + column] += hasReferences ? sumNs : 0;
                    packets[row * columns + column] += count;
                }
                isWitness[flow] = random.nextDouble() < WITNESS_SHARE;
                if (isWitness[flow]) {
                    problem.addWitness(flow, hash, Math.rint(count * truthNs[flow]));
                }
            }
            for (int cell = 0; cell < delays.length; cell++) {
                if (random.nextDouble() < usableShare) {
                    problem.cell(cell / columns, cell % columns, Math.rint(delays[cell]), estimates[cell], packets[cell]);
                }
            }
            return estimator.solve(problem, JointTier.FULL);
        }

        private double normal() {
            return Math.sqrt(-2 * Math.log(1 - random.nextDouble())) * Math.cos(2 * Math.PI * random.nextDouble());
        }

        double errorNs(final int flow) {
            return Math.abs(estimator.meanNs(flow) - truthNs[flow]);
        }
    }

    /** Twice as many flows as cells, and as many; all cells, and those that no loss has spoiled. */
    @ParameterizedTest
    @ValueSource(ints = {25, 50, 100})
    void shouldHoldForFlowsThatAreNoWitnesses(final int columns) {
        final Segment segment = new Segment(columns, 200, columns);
        int bounded = 0;
        int held = 0;
        double worst = 0;
        for (int interval = 0; interval < 40; interval++) {
            segment.solve(interval % 2 == 0 ? 1 : 0.6, true);
            for (int flow = 0; flow < 200; flow++) {
                if (!segment.isWitness[flow] && segment.estimator.isCalibrated(flow)) {
                    bounded++;
                    held += segment.errorNs(flow) <= segment.estimator.boundNs(flow) + 1 ? 1 : 0;
                    worst = Math.max(worst, segment.errorNs(flow) / (segment.estimator.boundNs(flow) + 1));
                }
            }
        }
        final double share = held / (double)bounded;
        assertTrue(bounded > 4_000, "bounded " + bounded);
        assertTrue(share >= 0.93, share + " of " + bounded + " hold");
        assertTrue(worst < 30, "a mean is wrong by " + worst + " times its bound");
    }

    /** Two flows in the same cells: their sum is known to the nanosecond, their difference not at all. */
    @Test
    void shouldNeverBeSureOfFlowsThatCannotBeToldApart() {
        final JointProblem problem = new JointProblem(SketchGeometry.lds(4, 25, 1), 12, 0);
        final JointEstimator estimator = new JointEstimator(problem);
        final double[] errors = {400_000, -400_000};
        for (int flow = 0; flow < 12; flow++) {
            problem.addFlow(20, 20 * 5e6, 20 * 5e6 * 5e6, 20, 0, 1);
            final double sumNs = 20 * (5e6 + (flow < 2 ? errors[flow] : 1_000 * flow));
            for (int row = 0; row < 4; row++) {
                final int column = flow < 2 ? 0 : flow;
                problem.baseColumn(flow, row, column);
                if (flow > 1) {
                    problem.cell(row, column, sumNs, 20 * 5e6, 20);
                }
            }
        }
        for (int row = 0; row < 4; row++) {
            problem.cell(row, 0, 2 * 20 * 5e6, 2 * 20 * 5e6, 40);
        }

        assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));

        for (int flow = 2; flow < 12; flow++) {
            assertEquals(5e6 + 1_000 * flow, estimator.meanNs(flow), 1);
            assertTrue(estimator.isCalibrated(flow), "cells say it all");
            assertTrue(estimator.boundNs(flow) < 10);
        }
        assertEquals(10e6, estimator.meanNs(0) + estimator.meanNs(1), 1_000);
        assertFalse(estimator.isCalibrated(0) || estimator.isCalibrated(1));
        assertTrue(estimator.boundNs(0) > 500, "bound " + estimator.boundNs(0));
    }

    @Test
    void shouldVouchForNothingWithoutWitnessesAndForMostWithThem() {
        final Segment segment = new Segment(25, 200, 3);
        segment.solve(1, true);
        segment.problem.reset();
        final Segment without = new Segment(25, 10, 3);
        without.solve(1, true);
        int vouched = 0;
        for (int flow = 0; flow < 10; flow++) {
            vouched += without.estimator.isCalibrated(flow) && without.estimator.boundNs(flow) > 1_000 ? 1 : 0;
        }
        assertEquals(0, vouched, "too few witnesses");
        segment.solve(1, true);
        assertTrue(segment.estimator.isCalibrated());
    }

    /** Witnesses of intervals with references carry no information on flows without. */
    @Test
    void shouldNotTakeTheWordOfOthersWhereReferencesAreMissing() {
        final Segment segment = new Segment(25, 200, 4);
        for (int interval = 0; interval < 8; interval++) {
            segment.solve(1, true);
        }
        assertTrue(segment.estimator.isCalibrated());
        segment.solve(0.02, false);
        int bounded = 0;
        int held = 0;
        for (int interval = 0; interval < 20; interval++) {
            segment.solve(1, false);
            for (int flow = 0; flow < 200; flow++) {
                if (!segment.isWitness[flow] && segment.estimator.isCalibrated(flow)) {
                    bounded++;
                    held += segment.errorNs(flow) <= segment.estimator.boundNs(flow) + 1 ? 1 : 0;
                }
            }
        }
        assertTrue(bounded > 1_000, "bounded " + bounded);
        assertTrue(held >= 0.92 * bounded, held + " of " + bounded);
    }

    /** A part of a flow: between nothing, where it is all of it, and what RLI gets wrong of so few packets. */
    @Test
    void shouldSayHowFarAPartMayBeFromTheWhole() {
        final Segment segment = new Segment(25, 200, 5);
        segment.solve(1, true);
        segment.solve(1, true);
        int known = 0;
        for (int flow = 0; flow < 200; flow++) {
            if (segment.estimator.hasPart(flow, 2) && segment.estimator.hasPart(flow, 10)) {
                known++;
                assertTrue(segment.estimator.partNs(flow, 2) > 0);
                assertFalse(segment.estimator.hasPart(flow, 1e6));
            }
        }
        assertTrue(known > 50, "known " + known);
        assertThrows(IllegalStateException.class, () -> segment.estimator.partNs(0, 1e6));
    }
}
