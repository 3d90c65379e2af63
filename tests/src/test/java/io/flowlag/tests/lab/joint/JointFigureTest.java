package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The joint estimator against the truth at small scale: ranking, ratios, and coverage of bounds. */
@Tag("slow")
class JointFigureTest {
    private static final int SEEDS = 3;
    private static Table table;

    @BeforeAll
    static void run() {
        final Results results = new JointExperiment().run(new Setup(Scale.TEST, SEEDS));
        table = results.named("scenarios");
    }

    /** For flows of at least 100 packets: times better than the better parent, and the error that is asked for at full size. */
    private static void assertBetter(
        final String scenario, final String tier, final double cellsPerFlow, final double factor, final double mostPercent) {
        final Object[] row = {scenario, tier, cellsPerFlow};
        final double joint = table.number("joint, 100 packets or more %", row);
        final double best = Math.min(
            table.number("RLI, 100 packets or more %", row), table.number("LDS, 100 packets or more %", row));
        assertTrue(joint * factor < best, scenario + " joint " + joint + ", better parent " + best);
        assertTrue(joint < mostPercent, scenario + " joint " + joint);
        assertEquals(0.95, table.number("coverage", row), 0.03, scenario + " coverage");
        assertEquals(0, table.number("not joint", row), scenario + " intervals without a joint solution");
    }

    @Test
    void shouldBeatBothParentsBehindABusyQueue() {
        assertBetter("FIFO 88 %", "FULL", 0.5, 10, 0.2);
        assertBetter("FIFO 88 %", "FULL", 0.05, 2, 1);
    }

    @Test
    void shouldBeatBothParentsBehindAQuietQueue() {
        assertBetter("FIFO 55 %", "FULL", 0.5, 5, 0.4);
    }

    @Test
    void shouldFindTheFlowsThatTakeAnotherPath() {
        assertBetter("two queues 70 %", "FULL", 0.5, 5, 0.6);
        assertTrue(table.number("quarters", "two queues 70 %", "FULL", 0.5) > 3, "bounds follow errors");
    }

    @Test
    void shouldLeanOnCellsWhereRliIsUseless() {
        assertBetter("Weibull", "FULL", 0.5, 1.5, 1.2);
    }

    @Test
    void shouldLoseLittleToLoss() {
        final Object[] row = {"FIFO 70 %, loss 0.5 %", "FULL", 0.5};
        final double joint = table.number("joint, 100 packets or more %", row);
        final double rli = table.number("RLI, 100 packets or more %", row);
        assertTrue(1.3 * joint <= rli, "joint " + joint + " RLI " + rli);
        assertTrue(joint < 1.5, "joint " + joint);
        assertEquals(0.95, table.number("coverage", row), 0.03, "coverage");
    }

    @Test
    void shouldBeGoodFastWhereRliIsRight() {
        assertBetter("FIFO 88 %", "FAST", 0.5, 5, 0.4);
    }

    @Test
    void shouldGiveTheBetterParentFastWhereSweepsAreWorse() {
        final double joint = table.number("joint, median ns", "two queues 70 %", "FAST", 0.5);
        final double rli = table.number("RLI, median ns", "two queues 70 %", "FAST", 0.5);
        assertTrue(joint <= 1.05 * rli, "joint " + joint + " RLI " + rli);
    }
}
