package io.flowlag.exporter.exchange.link;

import io.flowlag.exporter.config.ConfigLoader;
import io.flowlag.exporter.config.ExporterConfig;
import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

class InFlightAdviceTest {
    private static final long SECOND_NS = 1_000_000_000L;

    private static InFlightAdvice advice(final String segment) {
        final ExporterConfig config = new ConfigLoader().text("test.yaml",
            "segment: {role: receiver" + segment + "}\nexchange: {listen: 5555, bandwidth: 8m}\n").conclude();
        return new InFlightAdvice(config);
    }

    @Test
    void shouldSayOnceThatDigestsInFlightTakeMoreThanATenthOfTheBandwidth() {
        final InFlightAdvice advice = advice("");
        assertNull(advice.look(12_500, SECOND_NS), "a tenth");
        assertEquals("digests of packets in flight take 3.9 Mbit/s of exchange.bandwidth 8.0 Mbit/s: lower segment.max-delay " +
            "(200 ms) to the longest that packets are under way, or raise exchange.bandwidth", advice.look(61_600, SECOND_NS));
        assertNull(advice.look(61_600, SECOND_NS));
    }

    @Test
    void shouldGoByTheLengthOfAnInterval() {
        assertNotNull(advice("").look(1251, SECOND_NS / 10));
        assertNull(advice("").look(1250, SECOND_NS / 10));
        assertEquals("0.500", advice(", max-delay: 500us").look(20_000, SECOND_NS).replaceAll(".*\\((.*) ms.*", "$1"));
    }
}
