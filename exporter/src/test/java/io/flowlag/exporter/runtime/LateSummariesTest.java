package io.flowlag.exporter.runtime;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import io.flowlag.exporter.config.ExporterConfig.Role;
import io.flowlag.exporter.delay.ClockError;
import io.flowlag.exporter.delay.DelayWiring;
import io.flowlag.exporter.delay.ReferenceMode;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;

/** A receiver that was held up: the interval of a summary stays open until what waited in the kernel has come. */
class LateSummariesTest {
    private static final long INTERVAL_NS = 1_000_000_000L;
    private static final long START_NS = 1_700_000_000L * INTERVAL_NS;

    @Test
    void shouldEndTheIntervalOfASummaryByHowFarCaptureHasCome() {
        final ExporterConfig config = new ConfigLoader().text("test", "segment: {role: receiver, interval: 1s}\n").conclude();
        final DelayWiring wiring = new DelayWiring(
            Role.RECEIVER, new DelayWiring.References(ReferenceMode.SENT, List.of()), ClockError.NONE, true, false, false, false);
        final MeteringPoint receiver = new MeteringPoint(config, wiring, true);
        receiver.nowNs = START_NS;
        receiver.agent.onCaptured(START_NS);
        receiver.agent.doWork();

        receiver.nowNs += 4 * INTERVAL_NS;
        receiver.agent.doWork();
        assertEquals(0, receiver.stage.intervalCount());

        receiver.agent.onCaptured(START_NS + INTERVAL_NS);
        receiver.agent.doWork();
        assertEquals(1, receiver.stage.intervalCount());
    }
}
