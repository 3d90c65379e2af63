package io.flowlag.exporter.status;

import org.agrona.concurrent.Agent;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class HeartbeatTest {
    private final List<String> events = new ArrayList<>();
    private Throwable thrown;
    private final Heartbeat heartbeat = new Heartbeat(new Agent() {
        @Override
        public int doWork() throws Exception {
            events.add("work");
            if (thrown instanceof Error error) {
                throw error;
            }
            if (thrown instanceof Exception exception) {
                throw exception;
            }
            return 1;
        }

        @Override
        public String roleName() {
            return "test";
        }
    }, Heartbeat.STUCK_NS, (throwable) -> events.add(throwable.getMessage()), () -> events.add("failed"));

    @Test
    void shouldWorkNoMoreAfterAnError() throws Exception {
        thrown = new LinkageError("of the test");
        assertEquals(0, heartbeat.doWork());
        assertEquals(0, heartbeat.doWork());
        assertTrue(heartbeat.isFailed());
        assertEquals(List.of("work", "failed", "of the test"), events);
    }

    @Test
    void shouldLeaveExceptionsToItsThread() {
        thrown = new IllegalStateException("of the test");
        assertThrows(IllegalStateException.class, heartbeat::doWork);
        heartbeat.onError(thrown);
        assertFalse(heartbeat.isFailed());
        assertEquals(List.of("work", "of the test"), events);
    }

    @Test
    void shouldBeAmongTheLivingWhileItsThreadRuns() {
        assertFalse(Heartbeat.living().contains(heartbeat));
        heartbeat.onStart();
        assertTrue(Heartbeat.living().contains(heartbeat));
        heartbeat.onClose();
        assertFalse(Heartbeat.living().contains(heartbeat));
    }

    @Test
    void shouldBeStalledOnceItsPatienceIsOver() throws Exception {
        heartbeat.doWork();
        assertFalse(heartbeat.isStalled(5));
        assertFalse(heartbeat.isStalled(4 + Heartbeat.STUCK_NS));
        assertTrue(heartbeat.isStalled(5 + Heartbeat.STUCK_NS));
        heartbeat.doWork();
        assertFalse(heartbeat.isStalled(6 + Heartbeat.STUCK_NS));
    }
}
