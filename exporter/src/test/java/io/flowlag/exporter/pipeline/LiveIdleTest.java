package io.flowlag.exporter.pipeline;

import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Nothing here is timed: waits are recorded, or so long that a wake that is lost ends the test. */
@Timeout(60)
class LiveIdleTest {
    private static final int FOREVER_MS = 600_000;
    private static final int RING_BYTES = 64 << 10;

    private final StageRing ring = new StageRing(RING_BYTES, false);
    private final UnsafeBuffer message = new UnsafeBuffer(new byte[1_000]);

    /** Records what its thread does. */
    private static final class RecordedStage implements Stage {
        private final List<Integer> waitsMs = new ArrayList<>();
        private final List<Boolean> wakes = new ArrayList<>();
        private int idleMs;

        private RecordedStage(final int idleMs) {
            this.idleMs = idleMs;
        }

        @Override
        public int idleMs() {
            return idleMs;
        }

        @Override
        public void await(final int timeoutMs) {
            waitsMs.add(timeoutMs);
        }

        @Override
        public void wakeNext(final boolean isPausing) {
            wakes.add(isPausing);
        }

        @Override
        public int doWork() {
            return 0;
        }

        @Override
        public String roleName() {
            return "recorded";
        }

        @Override
        public boolean isEnded() {
            return false;
        }

        @Override
        public void abandon() {
        }
    }

    @Test
    void shouldWaitAtItsFirstStageAsLongAsAllAllowAndWakeWhoFollowsItsLast() {
        final RecordedStage first = new RecordedStage(Stage.LONG_IDLE_MS);
        final RecordedStage last = new RecordedStage(Stage.LONG_IDLE_MS);
        final LiveIdle idle = new LiveIdle(new Stage[]{first, last}, Stage.DELAY_IDLE_MS, false);
        idle.idle(1);
        idle.idle(0);
        last.idleMs = Stage.SHORT_IDLE_MS;
        idle.idle(0);
        assertEquals(List.of(Stage.DELAY_IDLE_MS, Stage.SHORT_IDLE_MS), first.waitsMs);
        assertEquals(List.of(false, true, true), last.wakes);
        assertEquals(List.of(), first.wakes);
        assertEquals(List.of(), last.waitsMs);
    }

    @Test
    void shouldOnlyPauseWhereReferencesAreSent() {
        final RecordedStage stage = new RecordedStage(Stage.LONG_IDLE_MS);
        final LiveIdle idle = new LiveIdle(new Stage[]{stage}, Stage.LONG_IDLE_MS, true);
        idle.idle(0);
        assertEquals(List.of(), stage.waitsMs);
        assertEquals(List.of(true), stage.wakes);
    }

    @Test
    void shouldSleepUntilThereIsAMessageOrManyOrTheEnd() throws InterruptedException {
        Thread reader = sleepingReader();
        ring.wakeReader(false, true);
        assertTrue(ring.offer(message, 0, message.capacity()));
        ring.wakeReader(false, false);
        assertEquals(Thread.State.TIMED_WAITING, reader.getState());
        ring.wakeReader(false, true);
        reader.join();
        assertEquals(1, ring.read((type, buffer, index, length) -> { }, 2));

        reader = sleepingReader();
        int offered = 0;
        while (reader.isAlive() && ring.offer(message, 0, message.capacity())) {
            offered++;
            ring.wakeReader(false, false);
            if (offered * message.capacity() > RING_BYTES / 4) {
                reader.join();
            }
        }
        assertTrue(offered * message.capacity() >= RING_BYTES / 5, "woken by " + offered);
        assertEquals(offered, ring.read((type, buffer, index, length) -> { }, Integer.MAX_VALUE));

        reader = sleepingReader();
        ring.wakeReader(true, false);
        reader.join();

        reader = sleepingReader(true);
        assertTrue(ring.offer(message, 0, 1));
        ring.wakeReader(false, false);
        reader.join();
    }

    @Test
    void shouldNotSleepWhereAMessageWaits() {
        assertTrue(ring.offer(message, 0, 1));
        StageRing.await(new StageRing[]{new StageRing(RING_BYTES, false), ring}, FOREVER_MS);
    }

    /** Both sides sleep again and again, while the other is about to wake them. */
    @Test
    void shouldLoseNoWake() throws InterruptedException {
        final StageRing back = new StageRing(RING_BYTES, false);
        final int rounds = 2_000;
        final Thread other = new Thread(() -> {
            for (int i = 0; i < rounds; i++) {
                takeOne(ring);
                back.offer(message, 0, 1);
                back.wakeReader(false, true);
            }
        });
        other.setDaemon(true);
        other.start();
        for (int i = 0; i < rounds; i++) {
            ring.offer(message, 0, 1);
            ring.wakeReader(false, true);
            takeOne(back);
        }
        other.join();
    }

    private static void takeOne(final StageRing from) {
        final StageRing[] rings = {from};
        while (from.read((type, buffer, index, length) -> { }, 1) == 0) {
            StageRing.await(rings, FOREVER_MS);
        }
    }

    private Thread sleepingReader() {
        return sleepingReader(false);
    }

    private Thread sleepingReader(final boolean isLight) {
        final Thread reader = new Thread(() -> StageRing.await(new StageRing[]{ring}, FOREVER_MS, isLight));
        reader.setDaemon(true);
        reader.start();
        while (reader.getState() != Thread.State.TIMED_WAITING) {
            Thread.onSpinWait();
        }
        return reader;
    }
}
