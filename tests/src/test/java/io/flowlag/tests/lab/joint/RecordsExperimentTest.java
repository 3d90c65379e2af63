package io.flowlag.tests.lab.joint;

import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** Records of 1 to 60 intervals at small scale, whose flows keep their delays and would meet the same flows again. */
@Tag("slow")
class RecordsExperimentTest {
    private static final String SCENARIO = "Weibull by flow";

    @Test
    void shouldAverageOutWhatOtherFlowsAddAndHoldBounds() {
        final Table table = new RecordsExperiment().run(new Setup(Scale.TEST, 1)).named("records");
        for (final String estimator : new String[] {"sketches", "joint"}) {
            for (final int intervals : LastingRecords.LENGTHS) {
                final double coverage = table.number("coverage", SCENARIO, estimator, intervals);
                // Of one interval it is calibrated to 0.95, give or take a seed; of several it is more.
                assertTrue(coverage >= (intervals == 1 ? 0.94 : 0.95), estimator + " of " + intervals + ": " + coverage);
            }
            final double ratio = table.number("ratio", SCENARIO, estimator, LastingRecords.INTERVALS);
            assertTrue(ratio < 0.5, estimator + ": " + ratio + " of the error with one seed");
            final double share = table.number("of the intervals' average", SCENARIO, estimator, LastingRecords.INTERVALS);
            assertTrue(share < 0.5, estimator + ": bounds narrow to " + share);
        }
    }
}
