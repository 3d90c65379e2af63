package io.flowlag.tests.lab.heldout;

import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** What no clock may do to any method, at the smallest scale, and what the papers expect. */
@Tag("slow")
class ImpairmentExperimentTest {
    /** A flow all of whose packets of an interval are lost is not in it at the receiver, whose sketches alone do not show it. */
    private static final double MOST_FALSE_OF_SKETCHES = 2;

    private static Results results;

    @BeforeAll
    static void run() {
        results = new ImpairmentExperiment().run(new Setup(Scale.TEST, 1));
    }

    @Test
    void shouldErrByTheClockAlone() {
        final Table table = results.named("methods");
        int exact = 0;
        int repaired = 0;
        for (final List<Object> row : table.rows()) {
            final String method = (String)row.get(2);
            final double error = number(table, row, "error beyond the clock %");
            if (method.equals("matched")) {
                assertEquals(0, error, 1e-3, row::toString);
                assertEquals(100, number(table, row, "bound holds %"), row::toString);
                assertEquals(100, number(table, row, "loss known %"), row::toString);
                exact++;
            } else if (method.equals("reconciled") || method.equals("joint")) {
                assertTrue(error < 1.5, row::toString);
                assertTrue(number(table, row, "bound holds %") >= 90, row::toString);
                repaired++;
            }
        }
        assertTrue(exact == 2 && repaired == 4, table.csv());
        assertEquals(-10_000, table.number("bias us", "offset, ms", -10.0, "matched"), 0.1, table.csv());
        assertEquals(table.number("error beyond the clock %", "offset, ms", 0.0, "linear"),
            table.number("error beyond the clock %", "offset, ms", -10.0, "linear"), 0.5, table.csv());
    }

    @Test
    void shouldTellNoFalseLoss() {
        final Table table = results.named("methods");
        for (final List<Object> row : table.rows()) {
            final double falseLosses = number(table, row, "false losses");
            assertTrue(Double.isNaN(falseLosses) ||
                falseLosses <= (row.get(2).equals("sketches") ? MOST_FALSE_OF_SKETCHES : 0), row::toString);
        }
    }

    /** Aggregators lose cells and list losses where each point cuts its intervals by its own clock, as theory expects. */
    @Test
    void shouldLoseSamplesAsTheoremsExpect() {
        final Table table = results.named("lemma2");
        for (final String method : new String[] {"LDA", "FINECOMB", "RDA"}) {
            final double expected = table.number("by Theorem 1, Lemma 1 %", 10.0, method);
            assertEquals(expected, table.number("usable %", 10.0, method), 5, table.csv());
            assertEquals(10_000, table.number("mean shifted by us", 10.0, method), 20, table.csv());
            assertEquals(0, table.number("deviation shifted by us", 10.0, method), 100, table.csv());
        }
        assertTrue(table.number("false losses", 10.0, "RDA") > 50, table.csv());
        assertEquals(0, table.number("false losses", 10.0, "flowlag"), table.csv());
        assertEquals(100, table.number("usable %", 10.0, "flowlag"), 0.2, table.csv());
        assertEquals(10_000, table.number("mean shifted by us", 10.0, "flowlag"), 1, table.csv());
    }

    @Test
    void shouldMistakeAsymmetryForAnOffset() {
        final Table table = results.named("asymmetry");
        for (final List<Object> row : table.rows()) {
            assertEquals(number(table, row, "half the difference of the ways us"), number(table, row, "error of the offset us"),
                5, row::toString);
            assertEquals(100, number(table, row, "bound holds %"), row::toString);
        }
    }

    private static double number(final Table table, final List<Object> row, final String column) {
        return ((Number)row.get(table.columns().indexOf(column))).doubleValue();
    }
}
