package io.flowlag.exporter.pipeline;

import io.flowlag.exporter.decode.PacketDescriptor;
import io.flowlag.sketch.memory.OffHeapBuffer;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SourceMergeTest {
    private static final int NOBODY = -1;
    private static final int CAPACITY = 4;

    private final OffHeapBuffer descriptor = OffHeapBuffer.allocate(PacketDescriptor.LENGTH_BYTES);
    private final SourceMerge merge = new SourceMerge(2, CAPACITY);

    private void add(final SourceMerge to, final int source, final long timestampNs) {
        PacketDescriptor.timestampNs(descriptor, 0, timestampNs);
        to.add(source, descriptor, 0);
    }

    private long take(final SourceMerge from, final int source) {
        from.take(source, descriptor, 0);
        return PacketDescriptor.timestampNs(descriptor, 0);
    }

    @Test
    void shouldWaitForASourceThatHasShownNothing() {
        add(merge, 1, 10);
        assertEquals(NOBODY, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, 0));
        add(merge, 0, 20);
        assertEquals(1, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, 0));
        assertEquals(10, take(merge, 1));
        assertEquals(NOBODY, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, 0));
        merge.end(1);
        assertEquals(0, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, 0));
        assertEquals(20, take(merge, 0));
        assertTrue(merge.isEmpty());
    }

    @Test
    void shouldPutSendingBeforeArrivalAtTheSameTime() {
        add(merge, 1, 10);
        add(merge, 0, 10);
        assertEquals(0, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, 0));
    }

    @Test
    void shouldNotWaitLongerThanToldOrForASourceWhenTheOtherIsCrowded() {
        add(merge, 0, 10);
        assertEquals(NOBODY, merge.next(10, Long.MAX_VALUE, 0));
        assertEquals(0, merge.next(11, Long.MAX_VALUE, 0), "older than the limit");
        assertEquals(NOBODY, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, CAPACITY - 1));
        add(merge, 0, 11);
        assertEquals(0, merge.next(Long.MIN_VALUE, Long.MAX_VALUE, CAPACITY - 1), "no room for as many packets");
    }

    @Test
    void shouldSayWhetherThereIsRoom() {
        for (int i = 0; i < CAPACITY; i++) {
            assertTrue(merge.hasRoom(0, 1));
            add(merge, 0, i);
        }
        assertFalse(merge.hasRoom(0, 1));
        assertTrue(merge.hasRoom(1, CAPACITY));
        take(merge, 0);
        assertTrue(merge.hasRoom(0, 1));
    }

    @Test
    void shouldNotWaitWithPacketsFromBeforeTheClockWasSetBack() {
        add(merge, 0, 10_000);
        add(merge, 0, 20);
        add(merge, 1, 15);
        assertEquals(0, merge.next(Long.MIN_VALUE, 1000, 0), "stamped in what is the future now");
        assertEquals(10_000, take(merge, 0));
        assertEquals(1, merge.next(Long.MIN_VALUE, 1000, 0));
    }

    private static int next(final SourceMerge all) {
        return all.next(Long.MIN_VALUE, Long.MAX_VALUE, 0);
    }

    @Property(tries = 200)
    void shouldMergeWhatIsInOrderIntoOrder(
        @ForAll @Size(max = 60) final List<@IntRange(max = 50) Integer> first,
        @ForAll @Size(max = 60) final List<@IntRange(max = 50) Integer> second) {
        final SourceMerge all = new SourceMerge(2, 64);
        first.stream().sorted().forEach((each) -> add(all, 0, each));
        second.stream().sorted().forEach((each) -> add(all, 1, each));
        all.end(0);
        all.end(1);
        final List<Integer> merged = new ArrayList<>(first);
        merged.addAll(second);
        final List<Integer> taken = new ArrayList<>();
        for (int source = next(all); source >= 0; source = next(all)) {
            taken.add((int)take(all, source));
        }
        assertEquals(merged.stream().sorted().toList(), taken);
    }
}
