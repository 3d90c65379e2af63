package io.flowlag.tests.system;

import io.flowlag.tests.lab.heldout.HeldOutHosts;
import io.flowlag.tests.lab.heldout.HeldOutPath;
import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.security.SecureRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Two processes that replay captures with more flows than the bandwidth of their exchange has room for. */
@Tag("slow")
class HeldOutHostsTest {
    /** Of one small run, whose few witnesses leave more to chance than the laboratory's large ones, which hold for 94 %. */
    private static final double LEAST_HELD = 88;
    private static final double LEAST_WITH_LOSS = 90;
    private static final long DRIFT_PPB = -50_000;
    private static final long JITTER_NS = 100_000;

    @ParameterizedTest
    @Execution(ExecutionMode.CONCURRENT)
    @CsvSource({"FIFO_88, 0", "FIFO_88, -5000000"})
    void shouldEstimateWhatIsTooMuchForSums(final HeldOutPath path, final long aheadNs) {
        final long seed = 1 + new SecureRandom().nextInt(1_000_000_000);
        final Results results = new Results();
        final HeldOutHosts.Clock clock =
            aheadNs == 0 ? new HeldOutHosts.Clock(0, 0, 0) : new HeldOutHosts.Clock(aheadNs, DRIFT_PPB, JITTER_NS);
        new HeldOutHosts(path, clock, 0).run(new Setup(Scale.TEST, 1, seed), results);
        final Table flows = results.named("flows");
        System.out.println(flows.csv());
        final String text = "seed " + seed + ", " + flows.csv();
        assertEquals(100, number(flows, "with mean %"), text);
        assertEquals(0, number(flows, "loss false"), text);
        assertTrue(number(flows, "loss known %") >= LEAST_WITH_LOSS, text);
        assertTrue(aheadNs != 0 || number(flows, "joint %") > 0, text);
        assertTrue(aheadNs != 0 || number(flows, "bound holds %") >= LEAST_HELD, text);
    }

    private static double number(final Table table, final String column) {
        return ((Number)table.rows().get(0).get(table.columns().indexOf(column))).doubleValue();
    }
}
