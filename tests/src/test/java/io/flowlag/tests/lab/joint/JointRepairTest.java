package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Joint estimation under loss, with and without reconciliation, at small scale; seeds are fixed, so figures are reproducible. */
class JointRepairTest {
    /** Of all flows, for there are few large ones here; the laboratory has it for those of 100 packets and more. */
    private static final double MOST_RATIO = 1.1;

    @Test
    void shouldLoseNothingToLossWhereItIsRepaired() {
        final Results results = new JointRepair().run(new Setup(Scale.TEST, 3));
        final Table table = results.named("repair");

        assertEquals(4, table.rows().size());
        for (final List<Object> row : table.rows()) {
            final Object[] key = {row.get(0), row.get(1)};
            assertEquals(100, table.number("flows with exact loss % (fewest)", key), row.toString());
            assertTrue(table.number("octets", key) > 40 * table.number("lost packets", key), row.toString());
            // Bursts of so few flows may touch hardly any cell, and then there is little to win.
            if (key[1].toString().endsWith("uniform")) {
                final double repaired = table.number("joint, all flows, repaired %", key);
                assertTrue(repaired < MOST_RATIO * table.number("joint, all flows, no loss %", key), row.toString());
                assertTrue(repaired < 1.05 * table.number("joint, all flows, with loss %", key), row.toString());
                assertTrue(table.number("coverage, repaired", key) > 0.92, row.toString());
            }
        }
        final Object[] most = {"FIFO 70 %", "5.0 %, uniform"};
        assertTrue(table.number("joint, with loss %", most) > 3 * table.number("joint, repaired %", most), table.csv());
    }
}
