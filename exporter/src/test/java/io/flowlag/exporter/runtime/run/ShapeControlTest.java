package io.flowlag.exporter.runtime.run;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.delay.IntervalLoad;
import io.flowlag.exporter.delay.interval.records.IntervalSettings;
import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lda.LdaEstimate;
import io.flowlag.sketch.lda.LdaEstimator;
import io.flowlag.sketch.lda.LdaTuning;
import io.flowlag.sketch.lda.LossyDifferenceAggregator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

class ShapeControlTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long MS_NS = 1_000_000L;
    private static final int ALL_PPM = 1_000_000;
    /** With 1.3 nearly all flows can be decoded one after another. */
    private static final double LEAST_CELLS_OF_FLOW = 1.3;

    private ExporterConfig config = config("");
    private ShapeControl control = new ShapeControl(config, (each) -> 0, 0, () -> this.isOlder);
    private long startNs;
    private int steps;
    private long lagNs;
    private long solvingNs;
    private boolean isSketched = true;
    private long classLost;
    private boolean isOlder;
    private String reason = "";

    private static ExporterConfig config(final String lds) {
        return new ConfigLoader().text("test", "segment: {role: receiver}\nexchange: {listen: 127.0.0.1:5555}\n" +
            "lds: {enabled: on" + lds + "}\n").conclude();
    }

    private void configure(final String lds) {
        config = config(lds);
        control = new ShapeControl(config, (each) -> 0, 0, () -> this.isOlder);
    }

    private IntervalLoad load(final int flows, final double lossShare) {
        return new IntervalLoad(startNs, startNs + SECOND_NS, flows, flows, lossShare, classLost, solvingNs, isSketched);
    }

    /** Intervals of one load, each looked at twice; takes what is proposed. */
    private void pass(final int intervals, final int flows, final double lossShare) {
        for (int i = 0; i < intervals; i++) {
            startNs += SECOND_NS;
            final ExporterConfig other = control.look(config, List.of(load(flows, lossShare)), lagNs);
            if (other != null) {
                steps++;
                reason = control.reason();
                control.reached(other);
                config = other;
            } else {
                assertNull(control.look(config, List.of(load(flows, lossShare)), lagNs), "an interval counts once");
            }
        }
    }

    private void assertShape(final int columns, final int vldaLength) {
        assertEquals(new ExporterConfig.Shape(4, columns, vldaLength), config.lds().shape());
    }

    @Test
    void shouldFollowTheFlowsUpAtOnceAndDownAfterAMinute() {
        pass(59, 300, 0);
        assertShape(16 << 10, 4);
        pass(2, 300, 0);
        assertShape(2 << 10, 1);
        pass(2, 3_000, 0);
        assertShape(2 << 10, 1);
        pass(1, 30_000, 0);
        assertShape(2 << 10, 1);
        pass(1, 300, 0);
        assertShape(2 << 10, 1);
        pass(1, 30_000, 0);
        assertShape(16 << 10, 1);
        assertEquals(2, steps);
        pass(59, 800, 0);
        assertShape(16 << 10, 1);
        pass(2, 800, 0);
        assertShape(4 << 10, 1);
        assertEquals(3, steps);
    }

    @Test
    void shouldHaveRoomForTenTimesTheFlowsAfterAMinute() {
        pass(62, 300, 0);
        assertShape(2 << 10, 1);
        pass(61, 1_500, 0);
        assertShape(8 << 10, 1);
        pass(125, 800, 0);
        assertShape(8 << 10, 1);
        assertEquals(2, steps, "half of the columns would save nothing");
        pass(2, 15_000, 0);
        assertEquals(2, steps);
        pass(2, 17_000, 0);
        assertShape(16 << 10, 1);
    }

    @Test
    void shouldKeepTheCellsWhileSumsAreSent() {
        isSketched = false;
        for (final int flows : new int[] {300, 3_000, 10_000, 300}) {
            pass(150, flows, 0);
            assertShape(16 << 10, 1);
        }
        assertEquals(1, steps);
        isSketched = true;
        pass(150, 300, 0);
        assertShape(2 << 10, 1);
        isSketched = false;
        pass(150, 300, 0);
        assertShape(16 << 10, 1);
    }

    /** A change is not in time for the third interval of a step, so there must be no need of one. */
    @Test
    void shouldDecodeFlowsFromTheThirdIntervalOfAStepOn() {
        pass(150, 300, 0);
        for (final int flows : new int[] {3_000, 30_000, 300}) {
            final ExporterConfig.Shape shape = config.lds().shape();
            assertEquals(1, shape.vldaLength());
            assertTrue(shape.rows() * shape.columns() >= LEAST_CELLS_OF_FLOW * flows, flows + " " + shape);
            pass(150, flows, 0);
        }
    }

    /** While flows share cells of every row, each is in one of a row at once: no lost packet stays in them. */
    @Test
    void shouldSpreadNoFlowsThatShareCells() {
        pass(2, 2_000, 0);
        assertShape(16 << 10, 4);
        pass(2, 2_100, 0);
        assertShape(16 << 10, 1);
    }

    /**
     * Cells are never more than configured, flows have two each as far as these go, ten times of them after a minute, and a
     * steady load changes nothing.
     */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4, 5})
    void shouldStayWithinTheCellsAndSettle(final long seed) {
        final SplittableRandom random = new SplittableRandom(seed);
        final long cells = 4L * config.lds().shape().columns();
        for (int i = 0; i < 40; i++) {
            final int flows = 1 << random.nextInt(18);
            pass(125, flows, 0);
            final ExporterConfig.Shape shape = config.lds().shape();
            final long shapeCells = (long)shape.rows() * shape.columns();
            assertTrue(shapeCells <= cells && shapeCells >= Math.min(cells, 20L * flows), "" + shape);
            assertEquals(1, shape.vldaLength());
            assertTrue(shape.columns() <= 2048 || shapeCells < 80L * flows, flows + " " + shape);
            final int before = steps;
            pass(200, flows - random.nextInt(1 + flows / 10), 0);
            pass(200, flows, 0);
            assertEquals(before, steps, "a load within its tenth");
        }
    }

    @Test
    void shouldSampleRowsWhileFlowsLosePackets() {
        pass(2, 30_000, 0);
        assertShape(16 << 10, 1);
        assertTrue(config.lds().ratesPpm().isEmpty());
        pass(2, 30_000, 0.01);
        assertShape(16 << 10, 4);
        final List<Integer> ratesPpm = config.lds().ratesPpm();
        assertEquals(ALL_PPM, ratesPpm.get(0));
        assertEquals(ALL_PPM * 4 / 1024, ratesPpm.get(3), 1);
        assertTrue(ratesPpm.get(1) > ratesPpm.get(2) && ratesPpm.get(2) > ratesPpm.get(3));
        pass(58, 30_000, 0.008);
        assertEquals(ratesPpm, config.lds().ratesPpm());
        pass(125, 30_000, 0);
        assertTrue(config.lds().ratesPpm().isEmpty());
        assertShape(16 << 10, 1);
    }

    private double usableShare() {
        return LdaTuning.usableShare(
            IntervalSettings.Cells.aggregator(config.lds().aggregatorCells(), config.lds().aggregatorZeros()), classLost);
    }

    /**
     * Whatever the loss was before, a bound is at most 11 % wider than with one bank of as many cells that the paper's rule tunes
     * to the loss (p = 0.5 m / (L + 1)).
     */
    @Test
    void shouldSampleClassesByTheirLosses() {
        final int cells = 4 * config.lds().aggregatorCells();
        final double[] losses = {0, 50, 1e3, 1e6, 3e6, 1e7, 1e4, 100, 3e4, 3, 1e5, 3_200, 600, 0};
        for (final double lost : losses) {
            classLost = (long)lost;
            pass(125, 300, 0);
            final double rate = LdaTuning.samplingRate(cells, lost);
            assertTrue(1.24 * usableShare() >= rate * Math.exp(-lost * rate / cells), lost + " " + config.lds());
        }
        assertEquals(0, config.lds().aggregatorZeros());
        classLost = 10_000;
        pass(2, 300, 0);
        assertEquals(2, config.lds().aggregatorZeros());
        assertEquals("300 flows in an interval, a class loses 10000", reason);
        final int before = steps;
        for (int i = 0; i < 200; i++) {
            classLost = 8_500 + 1_000 * (i % 3);
            pass(1, 300, 0);
        }
        assertEquals(before, steps, "losses within a tenth");
        isOlder = true;
        pass(1, 300, 0);
        assertEquals(0, config.lds().aggregatorZeros(), "at once");
        pass(125, 300, 0);
        assertEquals(0, config.lds().aggregatorZeros());
    }

    /**
     * In the third interval of each step of losses and packets, and when it has lasted, the mean of a class is unbiased within
     * its bound, and as many packets are behind it as the formula has, three quarters of those of the paper's rule for one bank.
     */
    @Test
    void shouldMeasureClassesAcrossStepsOfLossesAndPackets() {
        final int cells = 4 * config.lds().aggregatorCells();
        final SplittableRandom random = new SplittableRandom(28);
        final double[][] steps = {{1e4, 1e-5}, {1e4, 1e-2}, {1e6, 1e-2}, {1e6, 1e-5}, {1e6, 1e-1}, {1e4, 1e-2}, {1e4, 1e-5}};
        int held = 0;
        double leaning = 0;
        for (final double[] step : steps) {
            for (final int intervals : new int[] {3, 122}) {
                for (int i = 0; i < intervals; i++) {
                    classLost = (long)(step[0] * step[1] * (0.9 + 0.2 * random.nextDouble()));
                    pass(1, 300, 0);
                }
                final double[] means = new double[1];
                final LdaEstimate estimate = estimate(random, (int)step[0], step[1], means);
                final double received = estimate.sentPackets() - estimate.lostPackets();
                classLost = estimate.lostPackets();
                final double rate = LdaTuning.samplingRate(cells, classLost);
                final double byHand = rate * Math.exp(-classLost * rate / cells);
                assertEquals(usableShare(), estimate.samples() / received, 0.15 * usableShare());
                assertTrue(1.3 * usableShare() >= byHand, () -> Arrays.toString(step) + config.lds());
                held += Math.abs(estimate.meanNs() - means[0]) <= estimate.boundNs() ? 1 : 0;
                leaning += (estimate.meanNs() - means[0]) / estimate.boundNs();
            }
        }
        assertTrue(held >= 2 * steps.length - 2, "bounds of 95 % that hold: " + held);
        assertTrue(Math.abs(leaning) < 1.5 * Math.sqrt(2 * steps.length), "lean of all: " + leaning);
    }

    /** Two points' estimate of packets with exponential delays of 1 ms, with the banks in use; also the true mean. */
    private LdaEstimate estimate(final SplittableRandom random, final int packets, final double loss, final double[] mean) {
        final SketchGeometry banks =
            IntervalSettings.Cells.aggregator(config.lds().aggregatorCells(), config.lds().aggregatorZeros());
        final LossyDifferenceAggregator sender = new LossyDifferenceAggregator(banks, 1);
        final LossyDifferenceAggregator receiver = new LossyDifferenceAggregator(banks, 1);
        double sumNs = 0;
        long received = 0;
        for (int i = 0; i < packets; i++) {
            final long digest = random.nextLong();
            final long sentNs = i * (SECOND_NS / packets);
            sender.update(digest, sentNs, 100);
            if (random.nextDouble() >= loss) {
                final long delayNs = (long)(-MS_NS * Math.log(1 - random.nextDouble()));
                receiver.update(digest, sentNs + delayNs, 100);
                sumNs += delayNs;
                received++;
            }
        }
        mean[0] = sumNs / received;
        final LdaEstimate estimate = new LdaEstimate();
        new LdaEstimator(0.95).estimate(sender.image(), receiver.image(), estimate);
        return estimate;
    }

    /** Joint estimation takes more flows when these spread over fewer cells, as far as its memory goes. */
    @Test
    void shouldSolveMoreFlowsWhereMemoryAllows() {
        final int most = config.joint().maxFlows();
        control = new ShapeControl(
            config, (each) -> (long)each.joint().maxFlows() * each.lds().shape().vldaLength() * each.lds().shape().rows(),
            4L * most * 4, () -> false);
        pass(2, 5 * most / 2, 0);
        assertEquals(4 * most, config.joint().maxFlows());
        pass(125, most / 2, 0);
        assertEquals(most, config.joint().maxFlows());
        pass(2, 20 * most, 0);
        assertEquals(8 * most, config.joint().maxFlows(), "the memory of the configured shape, and what is spare");
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldTakeStepsDownUnderPressureAndUpAgainLongAfter(final boolean isSolver) {
        final int patience = isSolver ? 31 : 6;
        lagNs = isSolver ? 0 : 300 * MS_NS;
        solvingNs = isSolver ? 800 * MS_NS : 0;
        for (final String shape : List.of("4 1", "2 1", "1 1")) {
            pass(patience - 1, 2_000, 0);
            final int before = steps;
            pass(1, 2_000, 0);
            assertEquals(before + 1, steps);
            assertEquals(shape, config.lds().shape().rows() + " " + config.lds().shape().vldaLength());
            assertTrue(control.reason().startsWith(isSolver ? "the solution of an interval takes 800 ms" :
                "metering is behind by 300 ms"), control.reason());
        }
        assertTrue(config.lds().shape().columns() >= 2 * 2_000);
        pass(20 * patience, 2_000, 0);
        assertEquals("1 1", config.lds().shape().rows() + " " + config.lds().shape().vldaLength());
        lagNs = 0;
        solvingNs = 0;
        pass(590, 2_000, 0);
        assertEquals(1, config.lds().shape().rows());
        pass(1_900, 2_000, 0);
        assertEquals(4, config.lds().shape().rows());
        assertShape(16 << 10, 1);
    }

    @Test
    void shouldLeaveGivenKeysAlone() {
        configure(", columns: 2k");
        pass(2, 30_000, 0);
        assertShape(2 << 10, 1);
        configure(", vlda: 4");
        pass(2, 30_000, 0);
        assertShape(16 << 10, 4);
        configure(", columns: 2k, vlda: 4, rates: [1, 1, 0.5, 0.5]");
        pass(200, 10, 0);
        pass(2, 30_000, 0.1);
        assertShape(2 << 10, 4);
        lagNs = 300 * MS_NS;
        pass(20, 30_000, 0.1);
        assertShape(2 << 10, 4);
        assertEquals(1, steps, "of the first configuration");
        assertEquals(2, config.lds().ratesPpm().stream().filter((each) -> each == ALL_PPM).count());
    }

    @Test
    void shouldKeepTheShapeOverAReloadThatDoesNotChangeIt() {
        final ExporterConfig first = config;
        pass(62, 300, 0);
        assertEquals(config.lds(), control.keep(first).lds());
        final ExporterConfig given = config(", vlda: 4");
        assertSame(given, control.keep(given), "the default, given");
        final ExporterConfig other = config(", columns: 4k");
        assertSame(other, control.keep(other));
        config = other;
        pass(200, 300, 0);
        assertShape(4 << 10, 1);
        assertSame(first, control.keep(first), "what is configured now is the other");
    }

    @Test
    void shouldCountNoSilentSenderAndBeginAnewWhereTheClockIsSetBack() {
        startNs = 1_000 * SECOND_NS;
        final IntervalLoad silent = load(30_000, 0);
        for (int i = 0; i < 10; i++) {
            startNs += SECOND_NS;
            final ExporterConfig other = control.look(config, List.of(silent, load(300, 0)), 0);
            assertEquals(i == 1, other != null, "heard of in the last intervals");
            if (other != null) {
                control.reached(other);
                config = other;
            }
        }
        startNs = 0;
        pass(59, 300, 0);
        assertShape(16 << 10, 1);
        pass(2, 300, 0);
        assertShape(2 << 10, 1);
    }
}
