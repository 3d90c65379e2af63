package io.flowlag.exporter.delay;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class MarkedReferencesTest {
    private static final int PACKETS = 10;
    private static final int ROUNDS = 10_000;

    private final MarkedReferences marked = new MarkedReferences(16, 1, 1000);

    /** {@return the packets skipped before the marked one; all of them if none is} */
    private int passed(final int packets) {
        for (int i = 0; i < packets; i++) {
            if (marked.isNext(0)) {
                marked.mark(0, 7, 0);
                marked.take(7);
                return i;
            }
        }
        return packets;
    }

    @Test
    void shouldMarkEachOfAsManyPacketsAsCameWithEqualChances() {
        final int[] counts = new int[PACKETS + 1];
        for (int round = 0; round < ROUNDS; round++) {
            marked.due(0, PACKETS);
            counts[passed(PACKETS)]++;
            assertFalse(marked.isNext(0), "one for each that is due");
        }
        assertEquals(0, counts[PACKETS]);
        for (int i = 0; i < PACKETS; i++) {
            assertEquals(ROUNDS / PACKETS, counts[i], ROUNDS / PACKETS / 8, "the packet " + i + " behind the time");
        }
    }

    @Test
    void shouldMarkThePacketThatIsDueByCount() {
        marked.due(0, 1);
        assertTrue(marked.isNext(0));
        assertTrue(marked.isNext(0), "the next one, where this one has no digest");
        marked.mark(0, 7, 5);
        assertEquals(5, marked.sentNs(marked.take(7)));
    }

    @Test
    void shouldLeaveAGapInTheNumbersForAReferenceThatNoPacketCameFor() {
        marked.due(0, 1);
        marked.mark(0, 7, 0);
        final int before = marked.number(marked.take(7));
        marked.due(0, 1_000_000);
        marked.due(0, 1);
        marked.mark(0, 7, 0);
        assertEquals(before + 2, marked.number(marked.take(7)));
    }
}
