package io.flowlag.sketch.interval;

import io.flowlag.sketch.image.SketchGeometry;
import io.flowlag.sketch.lds.LossyDifferenceSketch;
import io.flowlag.sketch.support.Allocation;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

class IntervalSketchesTest {
    private static final long SECOND_NS = 1_000_000_000L;
    private static final long HOLD_NS = SECOND_NS / 4;
    private static final SketchGeometry GEOMETRY = SketchGeometry.lds(1, 8, 1);

    private final MeasurementInterval interval = new MeasurementInterval(SECOND_NS);
    private final IntervalSketches<LossyDifferenceSketch> sketches = sketches(HOLD_NS, 2, 4);

    @Test
    void shouldNumberIntervalsAlsoBeforeTheEpoch() {
        assertEquals(0, interval.number(0));
        assertEquals(0, interval.number(SECOND_NS - 1));
        assertEquals(1, interval.number(SECOND_NS));
        assertEquals(-1, interval.number(-1));
        assertEquals(-SECOND_NS, interval.startNs(-1));
        assertEquals(0, interval.endNs(-1));
        assertThrows(IllegalArgumentException.class, () -> new MeasurementInterval(0));
    }

    @Test
    void shouldSelectTheSketchOfThePacketsInterval() {
        final LossyDifferenceSketch first = sketches.select(10 * SECOND_NS);
        assertEquals(10, first.intervalNumber());
        assertEquals(SECOND_NS, first.image().intervalNs());
        assertSame(first, sketches.select(11 * SECOND_NS - 1));

        final LossyDifferenceSketch second = sketches.select(11 * SECOND_NS);

        assertEquals(11, second.intervalNumber());
        assertSame(first, sketches.select(11 * SECOND_NS - 5));
        assertNull(sketches.poll());
    }

    @Test
    void shouldHoldAnIntervalOpenForPacketsThatComeLate() {
        final LossyDifferenceSketch first = sketches.select(10 * SECOND_NS);
        sketches.select(11 * SECOND_NS + HOLD_NS - 1);
        assertSame(first, sketches.selectInterval(10));
        assertTrue(sketches.isOpen(10));

        sketches.select(11 * SECOND_NS + HOLD_NS);

        assertFalse(sketches.isOpen(10));
        assertNull(sketches.selectInterval(10));
        assertNull(sketches.select(10 * SECOND_NS + 7));
        assertEquals(2, sketches.latePackets());
        assertSame(first, sketches.poll());
    }

    @Test
    void shouldMoveTimeWithoutPackets() {
        sketches.select(10 * SECOND_NS);

        sketches.advance(12 * SECOND_NS + HOLD_NS);

        assertEquals(12, sketches.newestInterval());
        assertEquals(10, sketches.poll().intervalNumber());
        assertEquals(11, sketches.poll().intervalNumber());
        assertNull(sketches.poll());
    }

    @Test
    void shouldBeginTimeAnewWhenTheClockWasSetBack() {
        sketches.select(10 * SECOND_NS);
        sketches.select(11 * SECOND_NS);

        sketches.restart();

        assertNull(sketches.newestOpen());
        assertFalse(sketches.isOpen(11));
        assertEquals(10, sketches.poll().intervalNumber());
        assertEquals(11, sketches.poll().intervalNumber());
        assertEquals(3, sketches.select(3 * SECOND_NS + 1).intervalNumber());
        assertEquals(3, sketches.newestInterval());
        assertFalse(sketches.isOpen(2));
        sketches.select(5 * SECOND_NS + HOLD_NS);
        assertEquals(3, sketches.poll().intervalNumber());
        assertEquals(0, sketches.latePackets());
    }

    @Test
    void shouldOpenTheIntervalsBeforeALeap() {
        sketches.select(10 * SECOND_NS);

        sketches.select(1_000_000 * SECOND_NS);

        assertEquals(10, sketches.poll().intervalNumber());
        assertFalse(sketches.isOpen(999_998));
        assertTrue(sketches.isOpen(999_999));
        assertEquals(0, sketches.latePackets());
    }

    @Test
    void shouldCloseOnRequest() {
        sketches.closeThrough(99);
        sketches.select(10 * SECOND_NS);
        sketches.select(11 * SECOND_NS);

        sketches.closeThrough(10);

        assertFalse(sketches.isOpen(10));
        assertTrue(sketches.isOpen(11));
        assertEquals(10, sketches.poll().intervalNumber());
        sketches.closeThrough(Long.MAX_VALUE);
        assertEquals(11, sketches.poll().intervalNumber());
        assertNull(sketches.poll());
    }

    @Test
    void shouldLeaveAnIntervalOutRatherThanWaitForTheReader() {
        for (long second = 0; second < 10; second++) {
            sketches.select(second * SECOND_NS);
        }

        assertEquals(6, sketches.unsketchedPackets());
        for (long second = 0; second < 4; second++) {
            final LossyDifferenceSketch sketch = sketches.poll();
            assertEquals(second, sketch.intervalNumber());
            sketches.giveBack(sketch);
        }
        assertNull(sketches.poll());
        assertEquals(10, sketches.select(10 * SECOND_NS).intervalNumber());
    }

    @Test
    void shouldEmptyWhatItTakesBack() {
        sketches.select(0).update(1, 2, 3, 4, 5);
        sketches.select(0).markDamaged();
        sketches.closeThrough(0);
        final LossyDifferenceSketch sketch = sketches.poll();
        assertEquals(1, sketch.image().packets());

        sketches.giveBack(sketch);

        final LossyDifferenceSketch fresh = new LossyDifferenceSketch(GEOMETRY, 1);
        fresh.begin(0, SECOND_NS);
        assertTrue(fresh.image().contentEquals(sketch.image()));
    }

    @Test
    void shouldRefuseWhatWasNotTaken() {
        final LossyDifferenceSketch open = sketches.select(0);
        assertThrows(IllegalArgumentException.class, () -> sketches.giveBack(open));
        assertThrows(
            IllegalArgumentException.class, () -> sketches.giveBack(new LossyDifferenceSketch(GEOMETRY, 1)));
        sketches.closeThrough(0);
        final LossyDifferenceSketch taken = sketches.poll();
        sketches.giveBack(taken);
        assertThrows(IllegalArgumentException.class, () -> sketches.giveBack(taken));
    }

    @Test
    void shouldRefuseAHoldTimeThatTheOpenIntervalsCannotKeep() {
        assertNotNull(sketches(SECOND_NS, 2, 3));
        assertThrows(IllegalArgumentException.class, () -> sketches(SECOND_NS + 1, 2, 3));
        assertThrows(IllegalArgumentException.class, () -> sketches(-1, 2, 3));
        assertThrows(IllegalArgumentException.class, () -> sketches(0, 1, 3));
        assertThrows(IllegalArgumentException.class, () -> sketches(0, 2, 2));
        assertThrows(IllegalStateException.class, sketches::newestInterval);
    }

    @Test
    void shouldAllocateNothingWhenIntervalsComeAndGo() {
        final AtomicLong second = new AtomicLong();

        Allocation.assertNone(() -> {
            for (int round = 0; round < 1_000; round++) {
                final long startNs = second.incrementAndGet() * SECOND_NS;
                for (int packet = 0; packet < 5; packet++) {
                    sketches.select(startNs + packet).update(packet, packet, packet, 100, 1);
                }
                final LossyDifferenceSketch sketch = sketches.poll();
                if (sketch != null) {
                    sketches.giveBack(sketch);
                }
            }
        });
    }

    /** One thread writes, another reads: every packet is in a sketch that was handed out, or in a count. */
    @Test
    @Timeout(60)
    void shouldLoseNoPacketBetweenWriterAndReader() throws InterruptedException {
        final int packets = 2_000_000;
        final long stepNs = SECOND_NS / 1_000;
        final IntervalSketches<LossyDifferenceSketch> shared = sketches(HOLD_NS, 3, 6);
        final AtomicBoolean done = new AtomicBoolean();
        final AtomicLong received = new AtomicLong();
        final AtomicReference<String> disorder = new AtomicReference<>();
        final Thread reader = new Thread(() -> {
            long last = Long.MIN_VALUE;
            boolean finished = false;
            while (!finished) {
                finished = done.get();
                LossyDifferenceSketch sketch = shared.poll();
                while (sketch != null) {
                    if (sketch.intervalNumber() <= last || cells(sketch) != sketch.image().packets()) {
                        disorder.set(sketch.intervalNumber() + " after " + last + " with " + cells(sketch) + " packets in cells");
                    }
                    last = sketch.intervalNumber();
                    received.addAndGet(sketch.image().packets());
                    shared.giveBack(sketch);
                    sketch = shared.poll();
                }
                Thread.onSpinWait();
            }
        });
        reader.start();
        final SplittableRandom random = new SplittableRandom(1);
        for (int packet = 0; packet < packets; packet++) {
            final LossyDifferenceSketch sketch = shared.select(packet * stepNs - random.nextLong(2 * HOLD_NS));
            if (sketch != null) {
                sketch.update(packet, packet, 0, 100, 1);
            }
        }
        shared.closeThrough(Long.MAX_VALUE);
        done.set(true);
        reader.join();

        assertNull(disorder.get());
        assertEquals(packets, received.get() + shared.latePackets() + shared.unsketchedPackets());
        assertTrue(received.get() > 0);
    }

    private static long cells(final LossyDifferenceSketch sketch) {
        long count = 0;
        for (int column = 0; column < GEOMETRY.columns(); column++) {
            count += sketch.image().count(0, column);
        }
        return count;
    }

    private static IntervalSketches<LossyDifferenceSketch> sketches(
        final long holdNs, final int openIntervals, final int generations) {
        return new IntervalSketches<>(
            new MeasurementInterval(SECOND_NS), holdNs, openIntervals, generations, () -> new LossyDifferenceSketch(GEOMETRY, 1));
    }
}
