package io.flowlag.exporter.monitoring;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DelayStatistics;
import io.flowlag.exporter.status.DestinationStatistics;
import io.flowlag.exporter.status.Heartbeat;
import io.flowlag.exporter.status.SourceStatistics;
import io.flowlag.exporter.status.Statistics;
import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HealthJudgeTest {
    private static final long SECOND_NS = 1_000_000_000L;

    private final Counters counters = new Counters();
    private final Map<String, Long> exchange = new LinkedHashMap<>();
    private final Heartbeat heartbeat = new Heartbeat(new Agent() {
        @Override
        public int doWork() {
            return 1;
        }

        @Override
        public String roleName() {
            return "metering";
        }
    }, Heartbeat.STUCK_NS, (failure) -> { }, () -> { });
    private final HealthJudge judge = new HealthJudge(List.of(heartbeat));
    private long nowNs = 5 * SECOND_NS;
    private long failed;
    private String damage;
    private Map<String, Double> gauges = Map.of();

    /** Some seconds later, with a thread that works or not. */
    private List<String> failing(final int seconds, final boolean isWorking) throws Exception {
        List<HealthCheck> checks = List.of();
        for (int i = 0; i < seconds; i++) {
            nowNs += SECOND_NS;
            if (isWorking) {
                heartbeat.doWork();
            }
            final DelayStatistics delay = exchange.isEmpty() && gauges.isEmpty() ? null : new DelayStatistics(
                "receiver", 1, "", -1, Map.copyOf(exchange), gauges, List.of(), List.of(), List.of(), Map.of());
            checks = judge.judge(new Statistics(
                counters, List.of(new SourceStatistics("eth0", 0, 0, 0, damage)),
                List.of(new DestinationStatistics("udp://x", 0, 0, failed, 0, 0, 0, 0, 0, 0, 0, null)),
                delay == null ? List.of() : List.of(delay), null, 0, 0, 0, List.of()), nowNs);
        }
        return checks.stream().filter((each) -> !each.isOk()).map(HealthCheck::name).toList();
    }

    @Test
    void shouldNotCallSilenceIll() throws Exception {
        assertEquals(List.of(), failing(100, true));
    }

    @Test
    void shouldTellAThreadThatStandsStill() throws Exception {
        assertEquals(List.of(), failing(2, true));
        assertEquals(List.of(), failing(9, false));
        assertEquals(List.of("threads"), failing(2, false));
        assertEquals(List.of(), failing(1, true));
    }

    @Test
    void shouldTellAFloodOfDropsForAMinute() throws Exception {
        failing(2, true);
        counters.set(CounterId.CAPTURED, 100_000);
        counters.set(CounterId.LOST_IN_KERNEL, 900);
        assertEquals(List.of(), failing(1, true), "less than one in a hundred");
        counters.set(CounterId.DROPPED_AT_PACKET_RING, 200);
        assertEquals(List.of("packets"), failing(1, true));
        assertEquals(List.of("packets"), failing(50, true));
        assertEquals(List.of(), failing(15, true));
    }

    @Test
    void shouldTellThatNotEveryFlowIsMatched() throws Exception {
        gauges = Map.of("match_share", 1.0);
        assertEquals(List.of(), failing(1, true));
        gauges = Map.of("match_share", 0.25);
        assertEquals(List.of("matching"), failing(1, true));
        gauges = Map.of("match_share", 1.0);
        assertEquals(List.of(), failing(1, true));
    }

    @Test
    void shouldNotCallAFewDropsAFlood() throws Exception {
        failing(1, true);
        counters.set(CounterId.CAPTURED, 900);
        counters.set(CounterId.LOST_IN_KERNEL, 900);
        assertEquals(List.of(), failing(1, true));
    }

    @Test
    void shouldTellFailedRecordsErrorsAndLostSources() throws Exception {
        failing(1, true);
        failed = 1;
        counters.set(CounterId.ERRORS, 1);
        damage = "the interface is gone";
        assertEquals(List.of("sources", "destinations", "errors"), failing(1, true));
        damage = null;
        assertEquals(List.of(), failing(70, true));
    }

    @Test
    void shouldTellAnExchangeThatIsLost() throws Exception {
        exchange.put("exchange_sessions", 0L);
        exchange.put("exchange_sessions_ended", 0L);
        assertEquals(List.of(), failing(10, true));
        exchange.put("exchange_connections", 1L); // a connection that has not shown the key
        assertEquals(List.of("exchange"), failing(2, true));
        exchange.put("exchange_sessions", 1L);
        assertEquals(List.of(), failing(1, true));
        exchange.put("exchange_sessions_ended", 1L);
        assertEquals(List.of(), failing(9, true));
        assertEquals(List.of("exchange"), failing(3, true));
        assertTrue(exchange.containsKey("exchange_connections"));
    }

    @Test
    void shouldTellASenderThatIsLostAmongOthers() throws Exception {
        for (final String suffix : List.of("", "_session_1", "_session_2")) {
            exchange.put("exchange_sessions" + suffix, 1L);
            exchange.put("exchange_sessions_ended" + suffix, 0L);
        }
        assertEquals(List.of(), failing(20, true));
        exchange.put("exchange_sessions_ended_session_2", 1L);
        assertEquals(List.of("exchange"), failing(12, true));
        exchange.put("exchange_sessions_session_2", 2L);
        assertEquals(List.of(), failing(1, true));
    }
}
