package io.flowlag.tests.lab.reconcile;

import io.flowlag.tests.lab.report.Experiment;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Setup;

/** Effect of repair on an LDS under uniform loss and bursts: error, exact losses, octets exchanged. */
public final class RdaRepair implements Experiment {
    private static final double WORST = 1.1;
    private static final double EXACT_PERCENT = 99.9;

    @Override
    public void run(final Setup setup, final Results results) {
        final Rows table = LdsRepairExperiment.run(setup.seeds(), ReconcileResults.scale(setup, 20, 100));
        ReconcileResults.add(results, "repair", table, false);
        double worst = 0;
        double exact = 100;
        for (int row = 0; row < table.rows().size(); row++) {
            worst = Math.max(worst, table.column("repaired / no loss")[row]);
            exact = Math.min(exact, table.column("flows with exact loss %")[row]);
        }
        results.compare("repaired error over that without loss, worst of all losses (at most)", WORST, worst);
        results.compare("flows with exact loss, fewest of all losses, % (at least)", EXACT_PERCENT, exact);
    }
}
