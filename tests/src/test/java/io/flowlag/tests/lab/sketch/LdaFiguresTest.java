package io.flowlag.tests.lab.sketch;

import io.flowlag.tests.lab.report.Results;
import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertTrue;

/** The figures of the LDA paper at small scale. */
class LdaFiguresTest {
    /** Figure 4: errors as few samples make them, bounds that hold, samples as theory promises. */
    @Test
    void shouldErrAsSamplingAloneWould() {
        final Table table = new LdaFigure4().run(Setup.of(Scale.TEST)).named("loss");

        for (final String delays : new String[] {"Weibull 0.6", "Weibull 0.8", "Pareto 3", "Pareto 5"}) {
            for (final double loss : new double[] {0.01, 0.1, 1.0, 6.0, 20.0}) {
                assertTrue(table.number("median error %", delays, loss) <= 2.5 * table.number("median to expect %", delays, loss),
                    delays + " " + loss + "\n" + table.csv());
                assertTrue(table.number("bound holds %", delays, loss) >= 90, delays + " " + loss + "\n" + table.csv());
            }
        }
        assertTrue(table.number("samples", "Weibull 0.6", 20.0) < 0.05 * table.number("samples", "Weibull 0.6", 0.01),
            table.csv());
        assertTrue(table.number("deviation, median error %", "Weibull 0.6", 0.1) <
            table.number("deviation, median error %", "Pareto 3", 0.1), table.csv());
    }

    /** Figure 5: the tuned bank has the most samples; banks that are not still have some at every loss. */
    @Test
    void shouldTakeFewerSamplesWithBanksThanTuned() {
        final Table table = new LdaFigure5().run(Setup.of(Scale.TEST)).named("banks");

        for (final double loss : new double[] {0.05, 0.1, 0.5, 1.0, 3.0, 10.0}) {
            final double tuned = table.number("samples", "one bank, tuned to the loss", loss);
            for (final String banks : new String[] {"two banks", "three banks", "four banks"}) {
                final double samples = table.number("samples", banks, loss);
                assertTrue(samples > 0 && samples < 1.2 * tuned, banks + " " + loss + "\n" + table.csv());
            }
        }
    }

    /** Figure 6: many times the accuracy of as many octets of probes. */
    @Test
    void shouldBeatProbesOfAsManyOctets() {
        final Results results = new LdaFigure6().run(Setup.of(Scale.TEST));
        final Table table = results.named("probes");

        assertTrue(results.notes().stream().anyMatch(each -> each.contains("cannot be the worst of ten")), "said of its maximum");
        for (final double loss : new double[] {0.1, 0.5, 1.0}) {
            assertTrue(table.number("mean error %", "LDA, 2 x 512", loss) <
                0.25 * table.number("mean error %", "probes, 144/s", loss), table.csv());
            assertTrue(table.number("mean error %", "probes, 144/s", loss) <
                0.5 * table.number("mean error %", "probes, 7/s", loss), table.csv());
        }
    }
}
