package io.flowlag.exporter.delay.interval.repair;

import io.flowlag.exporter.delay.interval.TakenPlaces;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class FlowLossesTest {
    @Test
    void shouldFindAimedFlowsWithFewProbes() {
        final FlowLosses losses = new FlowLosses(TakenPlaces.KEYS);
        final long[] flows = TakenPlaces.aimedKeys();
        for (final long each : flows) {
            losses.add(each, 2, 0);
        }
        final int[] index = TakenPlaces.field(losses, "index", int[].class);
        TakenPlaces.assertFewProbes(index.length, (place) -> index[place] != FlowLosses.NONE);
        assertEquals(2, losses.lost(flows[9]));
        assertEquals(2L * flows.length, losses.lostPackets());
    }
}
