package io.flowlag.tests.lab.quantile;

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

/** The bars of the issue at the smallest scale: errors of quantiles, bounds that hold, and what send times take. */
@Tag("slow")
class QuantileExperimentTest {
    private static final List<String> UNCORRELATED = List.of("Weibull 0.6", "Weibull 0.8");
    private static final double REFERENCES = 15;

    private static Results results;

    @BeforeAll
    static void run() {
        results = new QuantileExperiment().run(new Setup(Scale.TEST, 1));
    }

    @Test
    void shouldKeepTheErrorsOfSampledQuantilesWithinTheirBars() {
        final Table table = results.named("quantiles");
        final double[][] bars = {{50, 3, 50}, {90, 5, 5}, {99, 10, 0}};
        for (final String delays : UNCORRELATED) {
            for (final double[] bar : bars) {
                final double flows = table.number("with a quantile", delays, REFERENCES, bar[0]);
                assertTrue(flows >= bar[2] && flows <= table.number("flows", delays, REFERENCES, bar[0]), table.csv());
                if (flows > 0) {
                    assertTrue(table.number("median error %", delays, REFERENCES, bar[0]) <= bar[1], table.csv());
                    assertTrue(table.number("bound holds %", delays, REFERENCES, bar[0]) >= 95, table.csv());
                }
            }
        }
    }

    @Test
    void shouldLeaveTheQuantilesOfEstimatesWhereTheyAreNearer() {
        final Table table = results.named("bandwidth");
        for (final String delays : UNCORRELATED) {
            assertTrue(table.number("bit/packet", delays, REFERENCES) < 16, table.csv());
            assertEquals(0, table.number("flows of estimates", delays, REFERENCES), "they say nothing");
        }
        assertTrue(table.number("flows of estimates", "slow queue", REFERENCES) >
            10 * table.number("flows of sampled packets", "slow queue", REFERENCES), table.csv());
    }
}
