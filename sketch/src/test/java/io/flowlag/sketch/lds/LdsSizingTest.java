package io.flowlag.sketch.lds;

import io.flowlag.sketch.image.SketchGeometry;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Numbers are those of the LDS paper's section 3. */
class LdsSizingTest {
    private static final long FLOWS = 146_000;
    private static final long PACKETS = 7_760_000;
    private static final double LOAD = 0.0875;
    private static final int SMALL_COLLISION = 50;
    private static final LdsSizing.Target TARGET = new LdsSizing.Target(0.05, 0.985, 1000);

    /** The tail at 50 packets that the paper's z = nP/C = 0.0875 at n/C = 2 implies. */
    private static final ParetoFit PAPER = ParetoFit.throughTail(SMALL_COLLISION, LOAD / 2);

    /**
     * The number of rows that minimises large collisions under a load of section 3.1: 1 / (e·z), not rounded.
     *
     * @param load z = nP/C, large flows for each cell.
     */
    private static double optimalRows(final double load) {
        return Math.max(1, 1 / (Math.E * load));
    }

    /** The load of section 3.1 below which large collisions stay rare: z_max = -1 / (e·ln ε), with ε below 1/e. */
    private static double maximumLoad(final double failures) {
        return -1 / (Math.E * Math.log(failures));
    }

    /**
     * The probability that a large flow suffers small collisions only in one of its cells at least: Q(Rk) = 1 - (nkRP/C)^(Rk),
     * section 3.2; with k = 1 that of section 3.1. It counts large flows and ignores the sum of many small ones.
     *
     * @param largeFlowShare P, share of flows that are large.
     */
    private static double survival(
        final double flows, final double largeFlowShare, final int rows, final int vldaLength, final double cells) {
        final double collision = flows * vldaLength * rows * largeFlowShare / cells;
        return Math.max(0, 1 - Math.pow(collision, (double)rows * vldaLength));
    }

    @Test
    void shouldGiveThePapersProbabilityInOneRow() {
        assertEquals(0.91, survival(2, PAPER.tail(SMALL_COLLISION), 1, 1, 1), 0.005);
    }

    @Test
    void shouldGiveThePapersProbabilityInFourRows() {
        assertEquals(0.9850, survival(2, PAPER.tail(SMALL_COLLISION), 4, 1, 1), 0.00005);
    }

    @Test
    void shouldGiveThePapersRows() {
        assertEquals(4.20, optimalRows(LOAD), 0.005);
        assertEquals(1, optimalRows(0.5));
        assertEquals(4, LdsSizing.rows(0.015, 1));
        assertEquals(1, LdsSizing.rows(0.015, 5));
        assertEquals(1, LdsSizing.rows(0.9, 1));
    }

    @Test
    void shouldGiveThePapersMaximumLoad() {
        final double failures = 0.05;
        final double maximum = maximumLoad(failures);

        assertEquals(-1 / (Math.E * Math.log(0.05)), maximum);
        assertEquals(1 - failures, 1 - Math.exp(-1 / (Math.E * maximum)), 1e-12);
    }

    @Test
    void shouldStoreAQuarterOfTheCellsAsSurvivableFlowsAtMost() {
        final double cells = 1000;
        final double share = 0.01;
        final double flows = cells / (2 * share);

        assertEquals(cells / 4, flows * share * survival(flows, share, 1, 1, cells), 1e-9);
    }

    @Test
    void shouldFitATailOfShapeEightTenthsToThePaper() {
        assertEquals(0.8, PAPER.shape(), 0.001);
        assertEquals(LOAD / 2, PAPER.tail(SMALL_COLLISION), 1e-12);
    }

    /** Many small flows in a cell bring as much as a large one, and the paper's approximation has no small ones. */
    @ParameterizedTest
    @CsvSource({
        "146000, 7760000, 0.05, 0.985, 1000", "20000, 200000, 0.05, 0.985, 1000", "20000, 200000, 0.1, 0.9, 100",
        "100000, 500000, 0.05, 0.985, 1000", "146000, 7760000, 0.2, 0.985, 1000"})
    void shouldReachTheTargetWhenTried(
        final int flows, final long packets, final double error, final double confidence, final long flowPackets) {
        final ParetoFit sizes = ParetoFit.ofMean(packets / (double)flows);
        final SketchGeometry geometry = new LdsSizing(
            new LdsSizing.Load(flows, packets, 0, sizes), new LdsSizing.Target(error, confidence, flowPackets)).geometry();
        int large = 0;
        int good = 0;
        for (int seed = 0; seed < 5; seed++) {
            final SplittableRandom random = new SplittableRandom(seed);
            final CellMap map = new CellMap(geometry, seed);
            final long[][] counts = new long[geometry.rows()][geometry.columns()];
            final long[] hashes = new long[flows];
            final long[] own = new long[flows];
            for (int flow = 0; flow < flows; flow++) {
                hashes[flow] = random.nextLong();
                own[flow] = (long)Math.min(packets, Math.pow(1 - random.nextDouble(), -1 / sizes.shape()));
                for (int row = 0; row < counts.length; row++) {
                    counts[row][map.baseColumn(row, hashes[flow])] += own[flow];
                }
            }
            for (int flow = 0; flow < flows; flow++) {
                long others = Long.MAX_VALUE;
                for (int row = 0; row < counts.length; row++) {
                    others = Math.min(others, counts[row][map.baseColumn(row, hashes[flow])] - own[flow]);
                }
                large += own[flow] >= flowPackets ? 1 : 0;
                good += own[flow] >= flowPackets && others <= error * flowPackets ? 1 : 0;
            }
        }
        assertTrue(large > 30 && good >= (confidence - 0.02) * large, good + " of " + large + " in " + geometry);
    }

    /** The paper has 17 500 columns, for which the sum of the small flows in a cell of 8.3 flows is left out. */
    @Test
    void shouldSizeThePapersSketch() {
        final LdsSizing sizing = new LdsSizing(new LdsSizing.Load(FLOWS, PACKETS, 0, PAPER), TARGET);
        final SketchGeometry geometry = sizing.geometry();

        assertEquals(4, geometry.rows());
        assertEquals(1, geometry.vldaLength());
        assertTrue(geometry.columns() > 1.3 * 17_500 && geometry.columns() < 1.4 * 17_500, geometry::toString);
        assertEquals(SketchGeometry.FULL_RATE_PPM, geometry.rate(3));
        assertTrue(sizing.survival() >= 0.985);
        assertEquals(geometry.imageLength() + 64, sizing.memoryBytes());
    }

    @Test
    void shouldSizeBanksUnderLoss() {
        final ParetoFit sizes = new ParetoFit(0.8, 1);
        final double lossRate = 500 / Math.pow(FLOWS, 1 / 0.8);

        final SketchGeometry geometry =
            new LdsSizing(new LdsSizing.Load(FLOWS, PACKETS, lossRate, sizes), TARGET).geometry();

        assertEquals(5, geometry.vldaLength());
        assertEquals(4, geometry.rows());
        assertEquals(SketchGeometry.FULL_RATE_PPM, geometry.rate(0));
        assertEquals(10_000, geometry.rate(3));
        assertTrue(geometry.columns() >= 17_500 * 4 && geometry.columns() <= 17_500 * 6);
    }

    @Test
    void shouldFitFlowsAndMeans() {
        final SplittableRandom random = new SplittableRandom(1);
        final long[] sizes = new long[50_000];
        for (int flow = 0; flow < sizes.length; flow++) {
            sizes[flow] = Math.round(100 * Math.pow(1 - random.nextDouble(), -1 / 1.3));
        }

        final ParetoFit fit = ParetoFit.ofFlows(sizes);

        assertEquals(1.3, fit.shape(), 0.03);
        assertEquals(100, fit.scale());
        assertEquals(Math.pow(0.1, 1.3), fit.tail(1000), 0.003);
        assertEquals(1, fit.tail(99));
        assertEquals(53.15, mean(ParetoFit.ofMean(53.15)), 1e-9);
    }

    @Test
    void shouldRefuseWhatMakesNoSense() {
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Load(0, 1, 0, PAPER));
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Load(2, 1, 0, PAPER));
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Load(1, 1, 1, PAPER));
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Target(0, 0.9, 100));
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Target(0.1, 0.5, 100));
        assertThrows(IllegalArgumentException.class, () -> new LdsSizing.Target(0.001, 0.9, 100));
        assertThrows(IllegalArgumentException.class, () -> new ParetoFit(0, 1));
        assertThrows(IllegalArgumentException.class, () -> ParetoFit.ofMean(1));
        assertThrows(IllegalArgumentException.class, () -> ParetoFit.throughTail(1, 0.5));
        assertThrows(IllegalArgumentException.class, () -> ParetoFit.ofFlows(new long[]{3, 3}));
        assertThrows(IllegalArgumentException.class, () -> ParetoFit.ofFlows(new long[0]));
    }

    private static double mean(final ParetoFit fit) {
        return fit.shape() * fit.scale() / (fit.shape() - 1);
    }
}
