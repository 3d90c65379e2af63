package io.flowlag.exporter.export;

import io.flowlag.exporter.pipeline.Stage;
import io.flowlag.exporter.status.Counters;
import io.flowlag.exporter.status.DestinationStatistics;
import org.agrona.DirectBuffer;
import org.junit.jupiter.api.Test;

import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;

class ExportingAgentTest {
    private static final long CLOSE_TIMEOUT_MS = 10;

    private long nowMs = 1000;

    /** Takes no record, and all the time that it is given to close. */
    private static class SlowDestination implements Destination {
        @Override
        public String name() {
            return "slow";
        }

        @Override
        public Outcome offer(final DirectBuffer entry, final int offset, final int lengthBytes, final long timeMs) {
            return Outcome.BLOCKED;
        }

        @Override
        public void stopWaiting() {
            // does not wait
        }

        @Override
        public int doWork(final long timeMs) {
            return 0;
        }

        @Override
        public boolean close(final long timeMs, final long deadlineMs) {
            return timeMs >= deadlineMs;
        }

        @Override
        public DestinationStatistics statistics() {
            return new DestinationStatistics(name(), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, null);
        }

        @Override
        public String lastError() {
            return "";
        }
    }

    private ExportingAgent agent(final Destination... destinations) {
        return new ExportingAgent(
            List.of(destinations), List.of(), () -> false, CLOSE_TIMEOUT_MS, () -> nowMs, new Counters());
    }

    @Test
    void shouldHandOverOnceWhatLeftWhenItHasClosed() {
        final Destination leaving = new SlowDestination();
        final Destination staying = new SlowDestination();
        final ExportingAgent agent = agent(leaving, staying);
        agent.destinations(List.of(staying));
        agent.doWork();
        assertNull(agent.takeLeft(), "it has time yet");
        nowMs += CLOSE_TIMEOUT_MS;
        agent.doWork();
        assertSame(leaving, agent.takeLeft());
        assertNull(agent.takeLeft());
    }

    @Test
    void shouldRestWhenNothingHappensUntilADestinationWorks() {
        final int[] work = {1};
        final ExportingAgent agent = agent(new SlowDestination() {
            @Override
            public int doWork(final long timeMs) {
                return work[0]--;
            }
        });
        int sleptMs = 0;
        for (agent.doWork(); agent.idleMs() == Stage.LONG_IDLE_MS; agent.doWork()) {
            work[0] = 0;
            sleptMs += Stage.LONG_IDLE_MS;
        }
        assertEquals(2_000, sleptMs);
        assertEquals(Stage.REST_MS, agent.idleMs());
        work[0] = 1;
        agent.doWork();
        assertEquals(Stage.LONG_IDLE_MS, agent.idleMs());
    }

    @Test
    void shouldHandOverWhatWasLeavingAtTheEnd() {
        final Destination leaving = new SlowDestination();
        final ExportingAgent agent = agent(leaving);
        agent.destinations(List.of());
        agent.doWork();
        agent.onClose();
        assertSame(leaving, agent.takeLeft());
        assertNull(agent.takeLeft());
    }
}
