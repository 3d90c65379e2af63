package io.flowlag.network.window;

import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** The smallest delay of a day, and its move up. */
class DelayFloorTest {
    private static final long MINUTE_NS = 60_000_000_000L;
    private static final long HOUR_NS = 60 * MINUTE_NS;

    private final DelayFloor floor = new DelayFloor();

    @Test
    void shouldForgetAfterADay() {
        assertTrue(Double.isNaN(floor.floorNs(0)));
        floor.onWindow(0, 100, 5);
        floor.onWindow(HOUR_NS, 104, 5);
        floor.onWindow(HOUR_NS + MINUTE_NS, 103, 5);
        assertEquals(100, floor.floorNs(23 * HOUR_NS));
        assertEquals(103, floor.floorNs(24 * HOUR_NS));
        floor.onWindow(24 * HOUR_NS, 102, 5);
        assertEquals(102, floor.floorNs(25 * HOUR_NS));
        assertTrue(Double.isNaN(floor.floorNs(48 * HOUR_NS)));
    }

    @Test
    void shouldPassOverWhatIsLateByADay() {
        floor.onWindow(30 * HOUR_NS, 100, 5);
        floor.onWindow(6 * HOUR_NS, 50, 5);
        assertEquals(100, floor.floorNs(30 * HOUR_NS));
    }

    @Test
    void shouldMoveUpAfterTenWindows() {
        for (int i = 0; i < 30; i++) {
            assertFalse(floor.onWindow(i * MINUTE_NS, 100 + i, 5));
        }
        for (int i = 1; i < 10; i++) {
            assertFalse(floor.onWindow((29 + i) * MINUTE_NS, 200 + i, 5));
        }
        assertEquals(100, floor.floorNs(38 * MINUTE_NS));
        final DelayFloor restored = new DelayFloor(floor.state());
        assertTrue(floor.onWindow(39 * MINUTE_NS, 210, 5));
        assertTrue(restored.onWindow(39 * MINUTE_NS, 210, 5));
        assertEquals(201, floor.floorNs(39 * MINUTE_NS));
        assertFalse(floor.onWindow(40 * MINUTE_NS, 205, 5));
    }

    /** Smallest of few packets: far above the floor most of the time. */
    @Test
    void shouldStayWhereMinimumsAreOfFewPackets() {
        final Random random = new Random(1);
        for (int i = 0; i < 300_000; i++) {
            assertFalse(floor.onWindow(i * MINUTE_NS, 100 + Math.pow(1 - random.nextDouble(), -1), 0), "window " + i);
        }
    }

    @Test
    void shouldStayWhenAWindowReachesItAgain() {
        floor.onWindow(0, 100, 5);
        for (int i = 1; i < 100; i++) {
            assertFalse(floor.onWindow(i * MINUTE_NS, i % 10 == 0 ? 105 : 200, 5));
        }
        assertEquals(100, floor.floorNs(99 * MINUTE_NS));
    }
}
