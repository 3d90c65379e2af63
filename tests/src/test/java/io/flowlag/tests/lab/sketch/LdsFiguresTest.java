package io.flowlag.tests.lab.sketch;

import io.flowlag.tests.lab.report.Comparison;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The figures of the LDS paper at small scale: ranking and ratios. */
class LdsFiguresTest {
    private static final String WEIGHED = "weighed";
    private static final String RULE = "the paper's rule";
    private static final int SEEDS = 3;

    /** Figure 9: where delays differ by flow, LDS knows large flows, and methods that trust neighbours in time do not. */
    @Test
    void shouldBeatMethodsThatTrustNeighbours() {
        final Table table = new LdsFigure9().run(Setup.of(Scale.TEST)).named("per-flow");
        final String large = "median, 100 packets or more %";
        final double lds = table.number(large, "LDS, 4 x 437");

        for (final String other : new String[] {"MPE, 10.0 %", "MPE, 1.0 %", "RLI", "global mean"}) {
            assertTrue(lds < 0.3 * table.number(large, other), other + "\n" + table.csv());
        }
        assertTrue(table.number(large, "LDS, 4 x 4375") < lds, table.csv());
        assertTrue(lds < table.number(large, "LDS, 4 x 43"), table.csv());
        assertTrue(table.number("median error %", "LDS, 4 x 437") < table.number("median error %", "global mean"), table.csv());
    }

    /** Figure 10: large flows within the paper's errors; weighed cells better than the emptiest; bounds hold. */
    @Test
    void shouldReachTheErrorsWithoutLoss() {
        final Results results = new LdsFigure10().run(new Setup(Scale.TEST, SEEDS));
        final Table table = results.named("sizes");
        final int cells = 70_000;

        for (final String delays : new String[] {"INDEPENDENT", "FIFO_QUEUE"}) {
            for (final String estimate : new String[] {WEIGHED, RULE}) {
                assertTrue(table.number("median %", delays, cells, estimate, 500) <= 1.2, table.csv());
                assertTrue(table.number("median %", delays, cells, estimate, 1000) <= (WEIGHED.equals(estimate) ? 0.4 : 0.5),
                    table.csv());
            }
        }
        for (final String delays : new String[] {"INDEPENDENT", "FIFO_QUEUE", "PER_FLOW", "TWO_MODES", "MEASURED"}) {
            assertTrue(table.number("median %", delays, cells, WEIGHED, 100) < table.number("median %", delays, cells, RULE, 100),
                table.csv());
            assertTrue(table.number("bound holds %", delays, cells, WEIGHED, 100) >= 93, table.csv());
        }
        assertTrue(table.number("median %", "INDEPENDENT", 700_000, WEIGHED, 100) <
            table.number("median %", "INDEPENDENT", cells, WEIGHED, 100), table.csv());
        // As below in the paper's figure: a flow whose delay is unlike the others' is drawn towards their mean.
        final Table delays = results.named("delays");
        assertTrue(delays.number("median %", "PER_FLOW", RULE, 100, 499, 0.0) >
            delays.number("median %", "PER_FLOW", RULE, 100, 499, 0.8), delays.csv());
        // What is worse than the paper is compared with it too.
        final List<Comparison> byFlow =
            results.comparisons().stream().filter(each -> each.what().contains("delays by flow")).toList();
        assertEquals(6, byFlow.size());
        assertTrue(byFlow.stream().anyMatch(each -> each.ratio() > 1), byFlow.toString());
        assertEquals(4, results.comparisons().stream().filter(each -> each.what().contains("1000 to 9999 packets")).count());
    }

    /** Figure 11: banks keep the accuracy that a single rate loses; none does better than its cells can. */
    @Test
    void shouldKeepTheAccuracyUnderLossWithBanks() {
        final Results results = new LdsFigure11().run(new Setup(Scale.TEST, SEEDS));
        final Table table = results.named("loss");
        final Table bounds = results.named("bound");
        final String banks = "banks 1, .5, .1, .01";
        final String median = "median, from 100 packets %";

        for (final double loss : new double[] {0.1, 0.5, 1.0}) {
            final double best = table.number(median, loss, banks, WEIGHED);
            assertTrue(best < table.number(median, loss, "rate 1", RULE), table.csv());
            assertTrue(best < table.number(median, loss, "rate .05", RULE), table.csv());
            assertTrue(best < table.number(median, loss, "rate .05", WEIGHED), table.csv());
            assertTrue(table.number("mean %", loss, banks, WEIGHED) < table.number("mean %", loss, "rate .05", WEIGHED),
                table.csv());
            assertTrue(table.number("bound holds %", loss, banks, WEIGHED) >= 95, table.csv());
        }
        for (final double loss : new double[] {0.1, 0.5, 1.0}) {
            for (final String rates : new String[] {banks, "rate 1", "rate .05"}) {
                assertTrue(table.number(median, loss, rates, WEIGHED) > bounds.number("median %", loss, rates), bounds.csv());
            }
        }
        for (final double loss : new double[] {0.1, 0.5}) {
            assertTrue(bounds.number("median %", loss, banks) > bounds.number("median %", loss, "rate 1"),
                "banks could beat rate 1\n" + bounds.csv());
        }
        for (final double loss : new double[] {0.5, 1.0}) {
            assertTrue(table.number("mean %", loss, banks, WEIGHED) < table.number("mean %", loss, "rate 1", WEIGHED),
                table.csv());
            assertTrue(table.number("median, from 1000 packets %", loss, banks, WEIGHED) <
                table.number("median, from 1000 packets %", loss, "rate 1", WEIGHED), table.csv());
        }
    }

    /** Figure 12: gold gains much, bronze loses little. */
    @Test
    void shouldRaiseTheAccuracyOfGoldAndSpareBronze() {
        final Table table = new LdsFigure12().run(new Setup(Scale.TEST, SEEDS)).named("weights");

        for (final int cells : new int[] {40_000, 100_000}) {
            final double gold =
                table.number("gold %", cells, "none", WEIGHED) / table.number("gold %", cells, "1/25/100", WEIGHED);
            final double bronze =
                table.number("bronze %", cells, "1/25/100", WEIGHED) / table.number("bronze %", cells, "none", WEIGHED);
            assertTrue(gold >= 3, "gold improves by " + gold); // 73 gold flows
            assertTrue(bronze <= 1.25, "bronze's error grows by " + bronze);
        }
    }

    /** Cut by the sender's intervals, packets in flight and out of order cost nothing; by each clock they cost most flows. */
    @Test
    void shouldLoseNothingAtTheEndsOfIntervals() {
        final Table table = new LdsIntervals().run(Setup.of(Scale.TEST)).named("cuts");
        final String own = "each point's own clock";
        final String senders = "the sender's interval";

        for (final double seconds : new double[] {0.1, 0.3, 1.0}) {
            assertEquals(100, table.number("usable, of cells with packets %", senders, seconds), 1e-6, table.csv());
            assertEquals(0, table.number("flows without estimate %", senders, seconds), table.csv());
            assertTrue(table.number("usable, of cells with packets %", own, seconds) < 95, table.csv());
        }
        assertTrue(table.number("flows without estimate %", own, 0.1) > 50, table.csv());
    }

    @Test
    void shouldHaveTheSizesOfTheMixture() {
        final Table table = new LdsSizes().run(Setup.of(Scale.TEST)).named("sizes");

        assertEquals(15.5, table.number("share of flows %", "AGH 2015", 10), 2, table.csv());
        assertEquals(2.65, table.number("share of flows %", "AGH 2015", 100), 0.6, table.csv());
        assertTrue(table.number("median error %", "AGH 2015", 1000) < 1, table.csv());
    }
}
