package io.flowlag.rli.reference;

import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import org.junit.jupiter.api.Test;

import java.util.HashSet;
import java.util.List;
import java.util.Set;

import static org.junit.jupiter.api.Assertions.assertEquals;

class SequenceWindowTest {
    private static final long STALE_AFTER_NS = 1_000_000_000L;
    private static final long GAP_NS = 1_000L;

    private static Continuity offer(final SequenceWindow window, final int sequenceNumber) {
        return window.offer(sequenceNumber, sequenceNumber * GAP_NS, 5_000_000L);
    }

    @Provide
    Arbitrary<List<Integer>> steps() {
        return Arbitraries.integers().between(-SequenceWindow.WIDTH - 76, SequenceWindow.WIDTH + 76).list().ofMaxSize(300);
    }

    /** Against a set of all numbers ever seen; timestamps rise with numbers, as those of one sender do. */
    @Property(tries = 500)
    void shouldCountLikeASetOfAllNumbers(@ForAll("steps") final List<Integer> steps, @ForAll final int first) {
        final SequenceWindow window = new SequenceWindow(STALE_AFTER_NS);
        final Set<Integer> seen = new HashSet<>();
        window.offer(first, 0, 0);
        int highest = 0;
        int position = 0;
        seen.add(0);
        for (final int step : steps) {
            position = Math.max(highest - SequenceWindow.WIDTH - 476, position + step);
            final Continuity expected;
            if (position > highest) {
                expected = position == highest + 1 ? Continuity.IN_ORDER : Continuity.AFTER_GAP;
                highest = position;
                seen.add(position);
            } else if (position <= highest - SequenceWindow.WIDTH) {
                expected = Continuity.TOO_OLD;
            } else if (position < 0 || !seen.add(position)) {
                expected = Continuity.DUPLICATE;
            } else {
                expected = Continuity.OUT_OF_ORDER;
            }
            assertEquals(expected, window.offer(first + position, position * GAP_NS, 0), () -> "step " + step);
        }

        assertEquals(highest + 1, seen.size() + window.lostCount());
    }

    @Test
    void shouldTellARestartFromAReplayByTheTimestamp() {
        final SequenceWindow window = new SequenceWindow(STALE_AFTER_NS);
        for (int i = 0; i < 10; i++) {
            offer(window, i);
        }

        assertEquals(Continuity.DUPLICATE, window.offer(0, 0, 5_000_000L));
        assertEquals(Continuity.RESTART, window.offer(0, 10 * GAP_NS, 5_000_000L));
        assertEquals(Continuity.IN_ORDER, window.offer(1, 11 * GAP_NS, 5_000_000L));
        assertEquals(Continuity.TOO_OLD, window.offer(100_000, 0, 5_000_000L));
        assertEquals(Continuity.TOO_OLD, window.offer(5, 5 * GAP_NS, 5_000_000L), "of the run before");
        assertEquals(0, window.lostCount());
    }

    @Test
    void shouldTakeALowerNumberForARestartAfterSilenceThoughTheClockWentBack() {
        final SequenceWindow window = new SequenceWindow(STALE_AFTER_NS);
        window.offer(500, 1_000_000L, 0);

        assertEquals(Continuity.DUPLICATE, window.offer(0, 10L, STALE_AFTER_NS));
        assertEquals(Continuity.RESTART, window.offer(0, 10L, STALE_AFTER_NS + 1));
    }

    @Test
    void shouldTakeAGiantStepForARestart() {
        final SequenceWindow window = new SequenceWindow(STALE_AFTER_NS);
        offer(window, 0);

        assertEquals(Continuity.RESTART, offer(window, SequenceWindow.MAXIMUM_STEP + 1));
        assertEquals(0, window.lostCount());
    }

    @Test
    void shouldGoOnWhenTheNumberWraps() {
        final SequenceWindow window = new SequenceWindow(STALE_AFTER_NS);
        window.offer(-2, 1, 1);

        assertEquals(Continuity.IN_ORDER, window.offer(-1, 2, 2));
        assertEquals(Continuity.IN_ORDER, window.offer(0, 3, 3));
        assertEquals(Continuity.AFTER_GAP, window.offer(2, 4, 4));
        assertEquals(Continuity.OUT_OF_ORDER, window.offer(1, 3, 5));
    }
}
