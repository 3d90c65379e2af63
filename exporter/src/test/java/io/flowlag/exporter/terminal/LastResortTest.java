package io.flowlag.exporter.terminal;

import io.flowlag.exporter.status.Heartbeat;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

class LastResortTest {
    private static final long TICK_NS = TimeUnit.MILLISECONDS.toNanos(100);
    private static final long FOR_EVER_NS = TimeUnit.MINUTES.toNanos(5);

    private final List<Heartbeat> heartbeats = new ArrayList<>();
    private final LastResort lastResort = new LastResort(heartbeats);
    private long nowNs = -TICK_NS;

    private String reasonAfter(final long patienceNs, final Heartbeat... working) {
        final long endNs = nowNs + patienceNs;
        String reason = null;
        while (reason == null && nowNs < endNs) {
            nowNs += TICK_NS;
            for (final Heartbeat each : working) {
                each.beat();
            }
            reason = lastResort.reason(nowNs);
        }
        return reason;
    }

    private Heartbeat heartbeat(final String name) {
        final Heartbeat heartbeat = Heartbeat.of(name, Heartbeat.STUCK_NS);
        heartbeats.add(heartbeat);
        return heartbeat;
    }

    @Test
    void shouldNotEndAProcessThatIsNotAskedTo() {
        heartbeat("stalled");
        assertNull(reasonAfter(FOR_EVER_NS));
    }

    @Test
    void shouldGiveTheOrderlyEndSomeSecondsAfterAnError() {
        final Heartbeat working = heartbeat("working");
        lastResort.fail(new StackOverflowError(), nowNs);
        lastResort.fail(new AssertionError(), nowNs + LastResort.ERROR_PATIENCE_NS);
        assertNull(reasonAfter(LastResort.ERROR_PATIENCE_NS - TICK_NS, working));
        assertEquals("no orderly end after an error", reasonAfter(TICK_NS, working));
    }

    @Test
    void shouldEndAProcessThatHangsAfterASignal() {
        final Heartbeat working = heartbeat("working");
        heartbeat("metering");
        lastResort.stop(nowNs);
        assertNull(reasonAfter(LastResort.STOP_PATIENCE_NS - TICK_NS, working));
        assertEquals("no orderly end after a signal, waiting for metering", reasonAfter(TICK_NS, working));
    }

    /** A helper that hangs is none that works on the end. */
    @Test
    void shouldEndAProcessWhoseThreadsAreGoneAfterASignal() {
        heartbeats.add(Heartbeat.of("spool", Long.MAX_VALUE));
        lastResort.stop(nowNs);
        assertNull(reasonAfter(LastResort.STOP_PATIENCE_NS - TICK_NS));
        assertEquals("no orderly end after a signal", reasonAfter(TICK_NS));
    }

    @Test
    void shouldWaitForAnOrderlyEndThatGoesOn() {
        final Heartbeat first = heartbeat("first");
        final Heartbeat second = heartbeat("second");
        lastResort.stop(nowNs);
        assertNull(reasonAfter(FOR_EVER_NS, first, second));
        assertEquals("no orderly end after a signal, waiting for second", reasonAfter(LastResort.QUIET_NS * 3, first));
    }
}
