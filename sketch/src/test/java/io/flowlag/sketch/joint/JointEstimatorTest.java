package io.flowlag.sketch.joint;

import io.flowlag.common.hash.KeyedMix;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.CellMap;
import io.flowlag.sketch.support.Allocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class JointEstimatorTest {
    private static final int ALL = 1_000_000;
    private static final int FLOWS = 1_000;

    private static SketchGeometry columns(final int columns) {
        return SketchGeometry.lds(4, columns, 1);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldBeExactForEveryFlowWhenCellsAreManyAndNothingIsLost(final long seed) {
        final JointTraffic traffic = new JointTraffic(columns(FLOWS), FLOWS, false, seed);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0);

        assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));

        for (int flow = 0; flow < FLOWS; flow++) {
            assertEquals(traffic.meanNs(flow), estimator.meanNs(flow), 0.5, "flow " + flow);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldPinAFlowThatIsAloneInACell(final boolean isWeighted) {
        final JointTraffic traffic = new JointTraffic(columns(FLOWS / 3), FLOWS, isWeighted, 4);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0);
        estimator.solve(problem, JointTier.FULL);

        int alone = 0;
        final CellMap cellMap = new CellMap(traffic.geometry, JointTraffic.SEED);
        for (int flow = 0; flow < FLOWS; flow++) {
            boolean isAlone = false;
            for (int row = 0; row < 4; row++) {
                final int cell = row * traffic.geometry.columns() + cellMap.baseColumn(row, traffic.flowHash[flow]);
                isAlone |= traffic.cellCount[cell] == (double)traffic.count[flow] * traffic.weight[flow];
            }
            if (isAlone) {
                alone++;
                assertEquals(traffic.meanNs(flow), estimator.meanNs(flow), 0.5);
                assertTrue(estimator.boundNs(flow) < 1, "bound " + estimator.boundNs(flow));
            }
        }
        assertTrue(alone > FLOWS / 20, "alone " + alone);
    }

    /** As behind a clock that is far off, or of packets that go the other way; references know nothing of it. */
    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldNotContradictTheCellOfALoneFlow(final JointTier tier) {
        final double loneNs = -25_000_000;
        final JointProblem problem = new JointProblem(columns(64), 64, 0);
        final SplittableRandom random = new SplittableRandom(7);
        final int lone = problem.addFlow(5, 5 * 3_000_000.0, 5 * 9e12, 5, 0, 1);
        for (int row = 0; row < 4; row++) {
            problem.baseColumn(lone, row, row);
        }
        problem.cell(0, 0, 5 * loneNs, 5 * 2_999_000.0, 5);
        for (int i = 1; i < 60; i++) {
            final double meanNs = 1_000_000 + random.nextDouble() * 4_000_000;
            final int flow = problem.addFlow(10, 10 * meanNs, 10 * meanNs * meanNs, 10, 0, 1);
            for (int row = 0; row < 4; row++) {
                problem.baseColumn(flow, row, 4 + i / 2);
            }
        }
        for (int column = 4; column < 33; column++) {
            for (int row = 0; row < 4; row++) {
                problem.cell(row, column, 20 * 3e6, 20 * 3e6 + random.nextDouble() * 1e5, 20);
            }
        }
        problem.floorNs(0);
        final JointEstimator estimator = new JointEstimator(problem);
        estimator.solve(problem, tier);

        assertEquals(loneNs, estimator.meanNs(lone), 1e-3);
        assertTrue(estimator.isCalibrated(lone));
        assertTrue(estimator.boundNs(lone) < 1, "bound " + estimator.boundNs(lone));
        assertEquals(JointStatus.JOINT, estimator.status(lone));
    }

    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldNotDependOnTheOrderOfFlows(final JointTier tier) {
        final JointTraffic traffic = new JointTraffic(columns(100), FLOWS, false, 5);
        final JointProblem problem = traffic.problem();
        final JointEstimator plain = new JointEstimator(problem);
        traffic.fill(problem, 1, 0.1);
        plain.solve(problem, tier);
        final JointEstimator permuted = new JointEstimator(problem);
        final int stride = 37;
        traffic.fill(problem, stride, 0.1);
        permuted.solve(problem, tier);

        for (int index = 0; index < FLOWS; index++) {
            final int flow = traffic.flowAt(index, stride);
            assertEquals(plain.meanNs(flow), permuted.meanNs(index), 1e-3 * (1 + plain.boundNs(flow)));
            assertEquals(plain.boundNs(flow), permuted.boundNs(index), 1e-2 * (1 + plain.boundNs(flow)));
        }
    }

    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldGiveTheSameForTheSameIntervalsWhateverTheProblemHeldBefore(final JointTier tier) {
        final JointTraffic first = new JointTraffic(columns(100), FLOWS, false, 6);
        final JointTraffic second = new JointTraffic(columns(100), FLOWS, false, 7);
        final JointProblem reused = first.problem();
        final JointProblem fresh = first.problem();
        final JointEstimator one = new JointEstimator(reused);
        final JointEstimator other = new JointEstimator(fresh);
        for (final JointTraffic traffic : new JointTraffic[] {first, second}) {
            traffic.fill(reused, 1, 0.05);
            one.solve(reused, tier);
            final JointProblem another = traffic.problem();
            traffic.fill(another, 1, 0.05);
            other.solve(another, tier);
        }

        for (int flow = 0; flow < FLOWS; flow++) {
            assertEquals(one.meanNs(flow), other.meanNs(flow));
            assertEquals(one.boundNs(flow), other.boundNs(flow));
        }
    }

    /** Flows enter and leave: most of an interval's flows are others than the interval's before, and their count differs. */
    @Test
    void shouldBeBetterThanRliAndHoldItsBoundsFromIntervalToInterval() {
        final SketchGeometry geometry = columns(150);
        final JointProblem problem = new JointProblem(geometry, 2 * FLOWS, 2 * FLOWS);
        final JointEstimator estimator = new JointEstimator(problem);
        int covered = 0;
        int all = 0;
        for (int interval = 0; interval < 6; interval++) {
            final JointTraffic traffic = new JointTraffic(geometry, FLOWS + 100 * interval, false, 10 + interval);
            traffic.fill(problem, 1, 0.1);
            assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));
            final double[] joint = new double[traffic.flows];
            final double[] rli = new double[traffic.flows];
            for (int flow = 0; flow < traffic.flows; flow++) {
                joint[flow] = Math.abs(estimator.meanNs(flow) - traffic.meanNs(flow));
                rli[flow] = Math.abs(traffic.estimateSumNs[flow] / traffic.count[flow] - traffic.meanNs(flow));
                covered += joint[flow] <= estimator.boundNs(flow) ? 1 : 0;
                all++;
            }
            Arrays.sort(joint);
            Arrays.sort(rli);
            assertTrue(joint[traffic.flows / 2] < 0.9 * rli[traffic.flows / 2],
                joint[traffic.flows / 2] + " " + rli[traffic.flows / 2]);
        }
        assertEquals(0.95, covered / (double)all, 0.03);
    }

    /** An interval has four to sixty flows of a size; of the common error of the few small ones cells tell nearly nothing. */
    @Test
    void shouldNotDriftFromTheReferencesInSizesOfFewFlows() {
        final int flows = 200;
        final int sizes = 6;
        final int most = 1_000;
        final JointProblem problem = new JointProblem(columns(25), flows, flows);
        final double[][] joint = new double[sizes][most];
        final double[][] rli = new double[sizes][most];
        final int[] count = new int[sizes];
        final SplittableRandom random = new SplittableRandom(31);
        for (int run = 0; run < 4; run++) {
            final JointEstimator estimator = new JointEstimator(problem);
            for (int interval = 0; interval < 12; interval++) {
                final double[] truthNs = addFlowsOfUnequalErrors(problem, random, flows);
                assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));
                for (int flow = 0; flow < flows; flow++) {
                    final int size = CellSystem.sizeBinOf(problem.packets[flow]);
                    if (count[size] < most) {
                        joint[size][count[size]] = Math.abs(estimator.meanNs(flow) - truthNs[flow]);
                        rli[size][count[size]++] = Math.abs(problem.estimateSumNs[flow] / problem.packets[flow] - truthNs[flow]);
                    }
                }
            }
        }
        for (int size = 0; size < sizes; size++) {
            final int middle = count[size] / 2;
            final double own = Selection.smallest(joint[size], count[size], middle);
            final double parent = Selection.smallest(rli[size], count[size], middle);
            assertTrue(own < 1.1 * parent, "size " + size + " joint " + own + " references " + parent);
        }
    }

    /** Three of ten flows take a path of which references know nothing, and cells are too few to say which. */
    @Test
    void shouldGiveRliAloneWhereJudgesDoBetterWithIt() {
        final int flows = 4 * FLOWS;
        final SketchGeometry geometry = columns(70);
        final JointProblem problem = new JointProblem(geometry, flows, flows);
        final JointEstimator estimator = new JointEstimator(problem);
        final SplittableRandom random = new SplittableRandom(30);
        final double[] joint = new double[flows];
        final double[] rli = new double[flows];
        int preferred = 0;
        for (int interval = 0; interval < 4; interval++) {
            preferred = 0;
            final double[] truthNs = addFlowsOfTwoPaths(problem, random, flows);
            assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));
            int covered = 0;
            for (int flow = 0; flow < flows; flow++) {
                final double estimateNs = problem.estimateSumNs[flow] / problem.packets[flow];
                joint[flow] = Math.abs(estimator.meanNs(flow) - truthNs[flow]);
                rli[flow] = Math.abs(estimateNs - truthNs[flow]);
                preferred += estimator.status(flow) == JointStatus.RLI ? 1 : 0;
                assertTrue(estimator.status(flow) != JointStatus.RLI || estimateNs == estimator.meanNs(flow), "RLI's own mean");
                covered += joint[flow] <= estimator.boundNs(flow) ? 1 : 0;
            }
            assertEquals(0.95, covered / (double)flows, 0.03);
        }
        Arrays.sort(joint);
        Arrays.sort(rli);
        assertTrue(preferred > flows / 2, preferred + " flows with RLI alone");
        assertTrue(joint[flows / 2] < 1.05 * rli[flows / 2], joint[flows / 2] + " " + rli[flows / 2]);
    }

    private static double[] addFlowsOfTwoPaths(final JointProblem problem, final SplittableRandom random, final int flows) {
        final double[] truthNs = new double[flows];
        final double[][] cells = new double[3][problem.rows * problem.columns];
        problem.reset();
        for (int flow = 0; flow < flows; flow++) {
            final int count = 1 + random.nextInt(3);
            final double estimateNs = 20_000 + random.nextInt(10_000);
            final boolean isElsewhere = random.nextInt(10) < 3;
            truthNs[flow] = isElsewhere ? -60_000 * Math.log(1 - random.nextDouble()) :
                estimateNs + random.nextInt(4_001) - 2_000;
            final long hash = addFlow(problem, random, cells, count, estimateNs, truthNs[flow]);
            if (random.nextInt(5) == 0) {
                problem.addWitness(flow, hash, count * truthNs[flow]);
            }
        }
        addCells(problem, cells);
        return truthNs;
    }

    /** Of 1 to 45 packets; one error of ten may be ten times as large. */
    private static double[] addFlowsOfUnequalErrors(
        final JointProblem problem, final SplittableRandom random, final int flows) {
        final double[] truthNs = new double[flows];
        final double[][] cells = new double[3][problem.rows * problem.columns];
        problem.reset();
        for (int flow = 0; flow < flows; flow++) {
            final int count = 1 + random.nextInt(45);
            final double estimateNs = 5_000_000 + random.nextInt(10_000_000);
            final double scaleNs = 300_000 / Math.sqrt(count);
            final int times = random.nextInt(10) == 0 ? 10 : 1;
            truthNs[flow] = estimateNs + times * scaleNs * (random.nextDouble() + random.nextDouble() - 1);
            addFlow(problem, random, cells, count, estimateNs, truthNs[flow]);
            problem.errorScaleNs(flow, scaleNs);
        }
        addCells(problem, cells);
        return truthNs;
    }

    /** Adds a flow to the problem, and to sums of delays, of estimates, and of packets of cells. Returns a hash of its cells. */
    private static long addFlow(
        final JointProblem problem, final SplittableRandom random, final double[][] cells, final int count,
        final double estimateNs, final double truthNs) {
        final int flow = problem.addFlow(count, count * estimateNs, count * estimateNs * estimateNs, count, 0, 1);
        long hash = JointTraffic.NEW_FLOW;
        for (int row = 0; row < problem.rows; row++) {
            final int column = random.nextInt(problem.columns);
            hash = KeyedMix.mix(hash + column, JointTraffic.NEW_FLOW + row);
            problem.baseColumn(flow, row, column);
            cells[0][row * problem.columns + column] += count * truthNs;
            cells[1][row * problem.columns + column] += count * estimateNs;
            cells[2][row * problem.columns + column] += count;
        }
        return hash;
    }

    private static void addCells(final JointProblem problem, final double[][] cells) {
        for (int cell = 0; cell < problem.rows * problem.columns; cell++) {
            problem.cell(cell / problem.columns, cell % problem.columns, cells[0][cell], cells[1][cell], cells[2][cell]);
        }
    }

    @Test
    void shouldUseWhatBanksAndVldaHold() {
        final SketchGeometry geometry = SketchGeometry.lds(4, 250, 5, ALL, ALL / 2, ALL / 10, ALL / 100);
        final JointTraffic traffic = new JointTraffic(geometry, FLOWS, true, 20);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0.1);
        // Every fifth cell has lost a packet.
        for (int column = 0; column < 250; column += 5) {
            problem.cell(0, column, 0, 0, 0);
        }

        assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));

        double joint = 0;
        double rli = 0;
        for (int flow = 0; flow < FLOWS; flow++) {
            if (traffic.count[flow] >= 30) {
                joint += Math.abs(estimator.meanNs(flow) - traffic.meanNs(flow));
                rli += Math.abs(traffic.estimateSumNs[flow] / traffic.count[flow] - traffic.meanNs(flow));
            }
        }
        assertTrue(joint < 0.8 * rli, joint + " " + rli);
    }

    @Test
    void shouldSolveFromCellsAloneWhereThereIsNoRli() {
        final JointTraffic traffic = new JointTraffic(columns(500), FLOWS, false, 21);
        Arrays.fill(traffic.cellEstimateSumNs, 0);
        final JointProblem problem = traffic.problem();
        final CellMap cellMap = new CellMap(traffic.geometry, JointTraffic.SEED);
        for (int flow = 0; flow < FLOWS; flow++) {
            problem.baseColumns(problem.addFlow(traffic.count[flow], 0, 0, 0, 0, 1), cellMap, traffic.flowHash[flow]);
        }
        traffic.fillCells(problem);
        final JointEstimator estimator = new JointEstimator(problem);

        assertEquals(JointStatus.CELLS_ALONE, estimator.solve(problem, JointTier.FULL));

        for (int flow = 0; flow < FLOWS; flow++) {
            if (traffic.count[flow] >= 100) {
                assertEquals(1, estimator.meanNs(flow) / traffic.meanNs(flow), 0.02, "flow " + flow);
            }
        }
    }

    /** A flow without RLI among others that have it; and one of which RLI missed some packets. */
    @Test
    void shouldFillMissingEstimates() {
        final JointTraffic traffic = new JointTraffic(columns(500), FLOWS, false, 22);
        final JointProblem problem = traffic.problem();
        final CellMap cellMap = new CellMap(traffic.geometry, JointTraffic.SEED);
        for (int flow = 0; flow < FLOWS; flow++) {
            final boolean isMissing = flow % 10 == 0;
            final int added = isMissing ? problem.addFlow(traffic.count[flow], 0, 0, 0, 0, 1) : problem.addFlow(
                traffic.count[flow], traffic.estimateSumNs[flow], traffic.estimateSquareSumNs2[flow], traffic.count[flow], 0, 1);
            problem.baseColumns(added, cellMap, traffic.flowHash[flow]);
            for (int row = 0; isMissing && row < 4; row++) {
                traffic.cellEstimateSumNs[row * 500 + cellMap.baseColumn(row, traffic.flowHash[flow])] -=
                    traffic.estimateSumNs[flow];
            }
        }
        traffic.fillCells(problem);
        final JointEstimator estimator = new JointEstimator(problem);

        assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));

        for (int flow = 0; flow < FLOWS; flow++) {
            if (traffic.count[flow] >= 100) {
                assertEquals(1, estimator.meanNs(flow) / traffic.meanNs(flow), 0.02, "flow " + flow);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldGiveRliWhereThereIsNoUsableCell(final JointTier tier) {
        final JointTraffic traffic = new JointTraffic(columns(100), FLOWS, false, 23);
        Arrays.fill(traffic.cellCount, 0);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0);

        assertEquals(JointStatus.RLI, estimator.solve(problem, tier));

        assertEquals(traffic.estimateSumNs[3] / traffic.count[3], estimator.meanNs(3));
        assertFalse(estimator.hasBound(3));
        assertThrows(IllegalStateException.class, () -> estimator.boundNs(3));
        traffic.fill(problem, 1, 0.2);
        estimator.solve(problem, tier);
        assertTrue(estimator.hasBound(3));
    }

    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldSayThatNothingIsKnown(final JointTier tier) {
        final JointProblem problem = new JointProblem(columns(10), 10, 0);
        final JointEstimator estimator = new JointEstimator(problem);

        assertEquals(JointStatus.NONE, estimator.solve(problem, tier));
        problem.addFlow(3, 0, 0, 0, 0, 1);
        assertEquals(JointStatus.NONE, estimator.solve(problem, tier));

        assertFalse(estimator.hasMean(0));
        assertThrows(IllegalStateException.class, () -> estimator.meanNs(0));
    }

    /** The four cells of each flow contradict one another, so none is trusted. */
    @Test
    void shouldFallBackAndSaySoWhenCellsContradictEachOther() {
        final JointTraffic traffic = new JointTraffic(columns(10 * FLOWS), FLOWS, false, 24);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        final SplittableRandom random = new SplittableRandom(1);
        for (int cell = 0; cell < traffic.cellDelaySumNs.length; cell++) {
            traffic.cellDelaySumNs[cell] *= random.nextInt(1, 1_000);
        }
        traffic.fill(problem, 1, 0);

        assertEquals(JointStatus.RLI, estimator.solve(problem, JointTier.FULL));

        assertTrue(estimator.health() > JointEstimator.MAX_SOUND_HEALTH);
        assertEquals(traffic.estimateSumNs[3] / traffic.count[3], estimator.meanNs(3));
    }

    /** Delays are signed: clocks may be apart. */
    @Test
    void shouldSolveForNegativeDelays() {
        final double offsetNs = -10_000_000;
        final JointTraffic traffic = new JointTraffic(columns(FLOWS), FLOWS, false, 25);
        for (int flow = 0; flow < FLOWS; flow++) {
            traffic.sumNs[flow] += offsetNs * traffic.count[flow];
            traffic.estimateSquareSumNs2[flow] +=
                2 * offsetNs * traffic.estimateSumNs[flow] + offsetNs * offsetNs * traffic.count[flow];
            traffic.estimateSumNs[flow] += offsetNs * traffic.count[flow];
        }
        for (int cell = 0; cell < traffic.cellCount.length; cell++) {
            traffic.cellDelaySumNs[cell] += offsetNs * traffic.cellCount[cell];
            traffic.cellEstimateSumNs[cell] += offsetNs * traffic.cellCount[cell];
        }
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0);

        assertEquals(JointStatus.JOINT, estimator.solve(problem, JointTier.FULL));

        for (int flow = 0; flow < FLOWS; flow++) {
            assertEquals(traffic.meanNs(flow), estimator.meanNs(flow), 10, "flow " + flow);
        }
    }

    @ParameterizedTest
    @EnumSource(JointTier.class)
    void shouldAllocateNothingAfterConstruction(final JointTier tier) {
        final JointTraffic traffic = new JointTraffic(columns(100), FLOWS, false, 26);
        final JointProblem problem = traffic.problem();
        final JointEstimator estimator = new JointEstimator(problem);
        traffic.fill(problem, 1, 0.1);

        Allocation.assertNone(() -> estimator.solve(problem, tier));

        assertNotEquals(0, estimator.sweeps());
    }

    @Test
    void shouldRefuseAProblemOfAnotherShape() {
        final JointEstimator estimator = new JointEstimator(new JointProblem(columns(10), 10, 1));

        assertThrows(IllegalArgumentException.class,
            () -> estimator.solve(new JointProblem(columns(11), 10, 1), JointTier.FULL));
    }

    @Test
    void shouldRefuseWhatDoesNotFit() {
        final JointProblem problem = new JointProblem(columns(10), 1, 1);

        assertEquals(JointProblem.NOT_ADDED, problem.addFlow(0, 0, 0, 0, 0, 1));
        assertEquals(JointProblem.NOT_ADDED, problem.addFlow(1, Double.NaN, 0, 1, 0, 1));
        assertEquals(JointProblem.NOT_ADDED, problem.addFlow(1, 1, 1, 2, 0, 1));
        assertEquals(0, problem.addFlow(1, 1, 1, 1, 0, 1));
        assertEquals(JointProblem.NOT_ADDED, problem.addFlow(1, 1, 1, 1, 0, 1));
        assertFalse(problem.addWitness(1, 1, 1));
        assertFalse(problem.addWitness(0, 0, Double.POSITIVE_INFINITY));
        assertTrue(problem.addWitness(0, 0, 1));
        assertFalse(problem.addWitness(0, 0, 1));

        assertThrows(IllegalArgumentException.class, () -> problem.baseColumn(0, 4, 0));
        assertThrows(IllegalArgumentException.class, () -> problem.cell(0, 10, 0, 0, 0));
        problem.reset();
        assertEquals(0, problem.flows() + problem.witnesses());
    }
}
