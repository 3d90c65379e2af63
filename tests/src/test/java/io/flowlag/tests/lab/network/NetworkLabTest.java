package io.flowlag.tests.lab.network;

import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The experiments of networks at their smallest. */
@Tag("slow")
class NetworkLabTest {
    /** Each source, over all queues together: in each are few windows. Of drawn samples each. */
    @Test
    void shouldHoldMergedBounds() {
        final Results results = new NetworkBounds().run(Setup.of(Scale.TEST));
        final Table table = results.named("bounds");
        final Map<Object, double[]> bySource = new HashMap<>();
        for (final List<Object> row : table.rows()) {
            final double bounded = (Integer)row.get(2) * (Double)row.get(3) / 100;
            final double[] sums = bySource.computeIfAbsent(row.get(1), (source) -> new double[2]);
            sums[0] += bounded;
            sums[1] += bounded == 0 ? 0 : bounded * (Double)row.get(4) / 100;
        }
        assertTrue(bySource.size() == 6 && bySource.values().stream().allMatch((sums) -> sums[0] >= 8), table.csv());
        bySource.forEach((source, sums) -> assertTrue(sums[1] >= 0.95 * sums[0], source + table.csv()));
        final Table drawn = results.named("samples");
        for (final List<Object> row : drawn.rows()) {
            final double least = 95 - 3 * Math.sqrt(95 * 5.0 / (Integer)row.get(3));
            assertTrue((Double)row.get(4) >= least && (Double)row.get(6) > 95 && (Double)row.get(7) >= least, drawn.csv());
        }
    }

    /** In queues, and on AS1239 with their errors, where it is there. */
    @Test
    void shouldHoldSlowHops() {
        final Results results = new NetworkLocate().run(Setup.of(Scale.TEST));
        for (final Table table : List.of(results.named("queues"), results.named("resampled"))) {
            double verdicts = 0;
            double held = 0;
            double slow = 0;
            double found = 0;
            for (final List<Object> row : table.rows()) {
                if ("single effects".equals(row.get(2)) && (Integer)row.get(6) > 0) {
                    verdicts += (Integer)row.get(6);
                    held += (Integer)row.get(6) * (Double)row.get(7) / 100;
                    slow += (Integer)row.get(8);
                    found += (Integer)row.get(8) * (Double)row.get(9) / 100;
                    assertTrue((Double)row.get(10) <= 1.2, table.csv());
                }
            }
            assertTrue(table.rows().isEmpty() || slow >= 10 && held >= 0.95 * verdicts && found >= 0.9 * slow, table.csv());
        }
    }

    /** Solved for; taken for exact they hide slow hops. */
    @Test
    void shouldFindSlowHopsBehindClocksOfQueues() {
        final Table table = new NetworkClocks().run(new Setup(Scale.TEST, 3)).named("clocks");
        final double[] found = new double[2];
        double slow = 0;
        double held = 0;
        double verdicts = 0;
        for (final List<Object> row : table.rows()) {
            final boolean isSolved = "solved".equals(row.get(2));
            found[isSolved ? 1 : 0] += (Integer)row.get(6) * (Double)row.get(7) / 100;
            if (isSolved) {
                slow += (Integer)row.get(6);
                verdicts += (Integer)row.get(4);
                held += (Integer)row.get(4) * (Double)row.get(5) / 100;
            }
        }
        assertTrue(verdicts >= 10 && held >= 0.95 * verdicts && found[1] >= 0.9 * slow && found[0] < 0.7 * slow, table.csv());
    }

    /** Of queues in windows of three lengths, and normal; and twenty deviations are soon told. */
    @Test
    void shouldRaiseNoFalseAlarms() {
        final Results results = new NetworkAlarms().run(Setup.of(Scale.TEST));
        final Table alarms = results.named("alarms");
        assertTrue(alarms.rows().size() == 4 && alarms.rows().stream().allMatch((row) -> (Integer)row.get(2) == 0), alarms.csv());
        final Table rises = results.named("rises");
        assertTrue(rises.rows().stream().allMatch((row) -> (Double)row.get(1) < 20 || (Integer)row.get(5) <= 5), rises.csv());
    }
}
