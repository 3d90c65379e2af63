package io.flowlag.tests.lab.network;

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
    /** Each source, over all queues together: in each are few windows. */
    @Test
    void shouldHoldMergedBounds() {
        final Table table = new NetworkBounds().run(Setup.of(Scale.TEST)).named("bounds");
        final Map<Object, double[]> bySource = new HashMap<>();
        for (final List<Object> row : table.rows()) {
            final double bounded = (Integer)row.get(2) * (Double)row.get(3) / 100;
            final double[] sums = bySource.computeIfAbsent(row.get(1), (source) -> new double[2]);
            sums[0] += bounded;
            sums[1] += bounded == 0 ? 0 : bounded * (Double)row.get(4) / 100;
        }
        assertTrue(bySource.size() == 6 && bySource.values().stream().allMatch((sums) -> sums[0] >= 15), table.csv());
        bySource.forEach((source, sums) -> assertTrue(sums[1] >= 0.95 * sums[0], source + table.csv()));
    }
}
