package io.flowlag.tests.lab.clock;

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

/** At the smallest scale: bounds hold, errors stay near asymmetry, and kinds of changes are distinguished. */
@Tag("slow")
class ClockExperimentTest {
    private static Results results;

    @BeforeAll
    static void run() {
        results = new ClockExperiment().run(new Setup(Scale.TEST, 1));
    }

    @Test
    void shouldBoundTheOffsetAndErrByTheAsymmetryAlone() {
        for (final String name : List.of("accuracy", "limits")) {
            final Table table = results.named(name);
            for (final List<Object> row : table.rows()) {
                final boolean isBeyond = row.get(0).equals("wander") && (Double)row.get(1) > 10 ||
                    row.get(0).equals("packets/s") && (Double)row.get(1) < 20;
                assertTrue(number(table, row, "with estimate %") >= 85, row::toString);
                assertTrue(isBeyond || number(table, row, "bound holds %") >= 99, row::toString);
                assertTrue(isBeyond || number(table, row, "within 5 µs of asymmetry %") >= 95, row::toString);
                assertTrue(number(table, row, "bound µs") <= 1.3 * number(table, row, "half the least round trip µs"),
                    row::toString);
            }
        }
    }

    @Test
    void shouldTellStepsFromPaths() {
        final Table table = results.named("changes");
        for (final String lopsided : new String[] {"no", "yes"}) {
            assertEquals(100, table.number("NONE %", "NONE", lopsided), table.csv());
            assertTrue(table.number("STEP %", "STEP", lopsided) >= 90, table.csv());
            assertTrue(table.number("FORWARD_PATH %", "FORWARD", lopsided) >= 90, table.csv());
            assertTrue(table.number("BACKWARD_PATH %", "BACKWARD", lopsided) >= 90, table.csv());
            assertTrue(table.number("BOTH_PATHS %", "BOTH", lopsided) >= 90, table.csv());
            assertTrue(table.number("bound holds %", "STEP", lopsided) >= 99, table.csv());
            assertTrue(table.number("in the 10 s after %", "STEP", lopsided) >= 95, table.csv());
        }
    }

    private static double number(final Table table, final List<Object> row, final String column) {
        return ((Number)row.get(table.columns().indexOf(column))).doubleValue();
    }
}
