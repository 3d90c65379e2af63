package io.flowlag.exporter.pipeline;

import io.flowlag.common.memory.OffHeapBuffer;
import io.flowlag.exporter.decode.PacketDescriptor;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class SourceMergeTest {
    private static final int NOBODY = -1;
    private static final int CAPACITY = 4;

    private final OffHeapBuffer descriptor = OffHeapBuffer.allocate(PacketDescriptor.LENGTH_BYTES);
    private final SourceMerge merge = new SourceMerge(2, CAPACITY, true);

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
        assertEquals(NOBODY, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
        add(merge, 0, 20);
        assertEquals(1, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
        assertEquals(10, take(merge, 1));
        assertEquals(NOBODY, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
        merge.end(1);
        assertEquals(0, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
        assertEquals(20, take(merge, 0));
        assertTrue(merge.isEmpty());
    }

    @Test
    void shouldPutSendingBeforeArrivalAtTheSameTime() {
        add(merge, 1, 10);
        add(merge, 0, 10);
        assertEquals(0, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
    }

    @Test
    void shouldNotWaitLongerThanToldOrForASourceWhenTheOtherIsCrowded() {
        add(merge, 0, 10);
        assertEquals(NOBODY, next(merge, 10, Long.MAX_VALUE, 0));
        assertEquals(0, next(merge, 11, Long.MAX_VALUE, 0), "older than the limit");
        assertEquals(NOBODY, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, CAPACITY - 1));
        add(merge, 0, 11);
        assertEquals(0, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, CAPACITY - 1), "no room for as many packets");
    }

    @Test
    void shouldNotWaitForASourceThatHasShownAllFromBefore() {
        add(merge, 1, 10);
        merge.shown(0, 10);
        assertEquals(NOBODY, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0), "the other may have one of the same time");
        merge.shown(0, 11);
        assertEquals(1, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
        assertEquals(10, take(merge, 1));
        add(merge, 0, 5);
        assertEquals(0, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0), "the clock was set back");
        assertEquals(5, take(merge, 0));
        add(merge, 1, 7);
        assertEquals(NOBODY, next(merge, Long.MIN_VALUE, Long.MAX_VALUE, 0));
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
        assertEquals(0, next(merge, Long.MIN_VALUE, 1000, 0), "stamped in what is the future now");
        assertEquals(10_000, take(merge, 0));
        assertEquals(1, next(merge, Long.MIN_VALUE, 1000, 0));
    }

    private static final long SECOND_NS = 1_000_000_000L;

    /** One timestamp of a file is wrong by an hour, one way or the other. */
    @ParameterizedTest
    @ValueSource(longs = {3600, -3600})
    void shouldNotKeepAFileWaitingForAStrayTimestamp(final long strayS) {
        final SourceMerge all = new SourceMerge(2, 64, false);
        for (int i = 10; i < 20; i++) {
            add(all, 0, i == 13 ? strayS * SECOND_NS : 2 * i);
            add(all, 1, 2 * i + 1);
        }
        all.end(0);
        all.end(1);
        final List<Long> taken = new ArrayList<>();
        for (int source = next(all); source >= 0; source = next(all)) {
            taken.add(take(all, source));
        }
        assertTrue(taken.remove(strayS * SECOND_NS));
        assertEquals(19, taken.size());
        assertEquals(taken.stream().sorted().toList(), taken);
    }

    /** The clock of both captures was set back by an hour. */
    @Test
    void shouldMergeEachSideOfAStepOfTheClock() {
        final SourceMerge all = new SourceMerge(2, 64, false);
        final List<Long> wanted = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            final long backNs = i < 10 ? 0 : -3600 * SECOND_NS;
            add(all, 0, 2 * i + backNs);
            add(all, 1, 2 * i + 1 + backNs);
            wanted.add(2 * i + backNs);
            wanted.add(2 * i + 1 + backNs);
        }
        all.end(0);
        all.end(1);
        final List<Long> taken = new ArrayList<>();
        for (int source = next(all); source >= 0; source = next(all)) {
            taken.add(take(all, source));
        }
        assertEquals(wanted, taken);
    }

    @Test
    void shouldWaitForThePacketBehindOneWhoseTimeIsFarFromTheOthers() {
        final SourceMerge all = new SourceMerge(2, 64, false);
        add(all, 0, 5);
        add(all, 0, 6);
        add(all, 1, 7);
        add(all, 1, 9);
        assertEquals(5, take(all, next(all)));
        assertEquals(6, take(all, next(all)));
        add(all, 0, -3600 * SECOND_NS);
        assertEquals(NOBODY, next(all), "a stray one, or a step?");
        add(all, 0, 8);
        assertEquals(0, next(all), "a stray one");
        take(all, 0);
        assertEquals(7, take(all, next(all)));
    }

    private static int next(final SourceMerge all) {
        return next(all, Long.MIN_VALUE, Long.MAX_VALUE, 0);
    }

    private static int next(
        final SourceMerge all, final long olderThanNs, final long newerThanNs, final int roomCount) {
        all.begin(olderThanNs, newerThanNs, roomCount);
        return all.next();
    }

    @Property(tries = 200)
    void shouldMergeWhatIsInOrderIntoOrder(
        @ForAll @Size(min = 1, max = 8) final List<@Size(max = 60) List<@IntRange(max = 50) Integer>> sources) {
        final SourceMerge all = new SourceMerge(sources.size(), 64, false);
        final List<Integer> merged = new ArrayList<>();
        for (int i = 0; i < sources.size(); i++) {
            for (final int each : sources.get(i).stream().sorted().toList()) {
                add(all, i, each);
                merged.add(each);
            }
            all.end(i);
        }
        final List<Integer> taken = new ArrayList<>();
        for (int source = next(all); source >= 0; source = next(all)) {
            taken.add((int)take(all, source));
        }
        assertEquals(merged.stream().sorted().toList(), taken);
    }
}
