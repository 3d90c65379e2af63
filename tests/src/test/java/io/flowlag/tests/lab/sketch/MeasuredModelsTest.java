package io.flowlag.tests.lab.sketch;

import io.flowlag.tests.lab.report.Scale;
import io.flowlag.tests.lab.report.Setup;
import io.flowlag.tests.lab.report.Table;
import io.flowlag.tests.lab.sketch.PaperTraffic.DelayModel;
import io.flowlag.tests.lab.sketch.PaperTraffic.SizeModel;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.Arrays;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Delays and sizes after measurements. */
class MeasuredModelsTest {
    private static final int FLOWS = 50_000;

    /** Medians of the published histograms, ns. */
    @ParameterizedTest
    @CsvSource({"URLLC_DOWNLINK, 762500", "URLLC_UPLINK, 686705", "MIDBAND_DOWNLINK, 5299219", "MIDBAND_UPLINK, 6411180",
        "MMWAVE_DOWNLINK, 1503403", "MMWAVE_UPLINK, 2488700"})
    void shouldHaveTheMedianOfTheHistogram(final MeasuredDelays link, final long medianNs) {
        assertEquals(medianNs, link.delayNs(0.5), 100);
    }

    @ParameterizedTest
    @EnumSource
    void shouldNeverFallAsTheShareGrows(final MeasuredDelays link) {
        long lastNs = 0;
        for (int step = 0; step <= 10_000; step++) {
            final long delayNs = link.delayNs(step / 10_000.0);
            assertTrue(delayNs > 0 && delayNs >= lastNs, link + " at " + step);
            lastNs = delayNs;
        }
    }

    /** The trace has 50 % of flows within 1235 octets and 90 % within 11 857: one packet, and nine. */
    @Test
    void shouldHaveTheSizesOfTheBackboneTrace() {
        final int[] packets = new PaperTraffic(FLOWS, DelayModel.INDEPENDENT, SizeModel.CAIDA, 1).flowPackets;
        final double ofOne = Arrays.stream(packets).filter(count -> count == 1).count() / (double) FLOWS;
        final double upToNine = Arrays.stream(packets).filter(count -> count <= 9).count() / (double) FLOWS;

        assertTrue(ofOne > 0.5 && ofOne < 0.55, "one packet: " + ofOne);
        assertEquals(0.9, upToNine, 0.015);
        assertEquals(0.995, Arrays.stream(packets).filter(count -> count <= 988).count() / (double) FLOWS, 0.003);
    }

    /** More packets average more; all links are far within the errors of Weibull delays. */
    @Test
    void shouldKnowLargeFlowsBetterWhateverTheLink() {
        final Table table = new LdsDelays().run(Setup.of(Scale.TEST)).named("delays");
        for (final MeasuredDelays link : MeasuredDelays.values()) {
            final double[] row = Arrays.stream(new int[] {1, 100, 1_000}).mapToDouble(least -> table.number("median error %",
                link.title, link.delayNs(0.5) / 1e3, link.delayNs(0.99) / 1e3, least)).toArray();
            assertTrue(row[2] < row[1] && row[1] < row[0], link + Arrays.toString(row));
            assertTrue(row[1] < 1, link + Arrays.toString(row));
        }
    }
}
