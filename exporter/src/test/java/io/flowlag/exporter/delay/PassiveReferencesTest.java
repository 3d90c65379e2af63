package io.flowlag.exporter.delay;

import com.sun.management.ThreadMXBean;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class PassiveReferencesTest {
    private static final long WAIT_NS = 1_000;

    private final List<String> found = new ArrayList<>();
    private final PassiveReferences references = references(64);

    private PassiveReferences references(final int capacity) {
        return new PassiveReferences(capacity, WAIT_NS, (stream, sentNs, arrivalNs, lengthBytes, tag) ->
            found.add(stream + " " + sentNs + " " + arrivalNs + " " + lengthBytes + " " + tag));
    }

    private static Map<String, Long> counters(final PassiveReferences references) {
        final Map<String, Long> counters = new HashMap<>();
        references.counters(counters::put);
        return counters;
    }

    @Test
    void shouldJoinSendTimeAndArrivalWhicheverComesFirst() {
        references.onSent(1, 10, 10);
        references.onArrived(1, 20, 3, 100, 101);
        references.onArrived(2, 30, 4, 200, 201);
        references.onSent(2, 25, 25);
        assertEquals(List.of("3 10 20 100 101", "4 25 30 200 201"), found);
        assertEquals(2, counters(references).get("passive_matched"));
    }

    @Test
    void shouldRefusePacketsOfEqualDigests() {
        references.onArrived(1, 20, 0, 100, 101);
        references.onArrived(1, 21, 0, 100, 101);
        references.onSent(1, 10, 10);
        references.onSent(1, 11, 11);
        references.onSent(2, 30, 30);
        references.onSent(2, 31, 31);
        references.onArrived(2, 41, 0, 100, 101);
        assertTrue(found.isEmpty());
        assertEquals(7, counters(references).get("passive_refused"));
        references.onTime(32 + WAIT_NS);
        references.onSent(2, 2_000, 2_000);
        references.onArrived(2, 2_010, 0, 100, 101);
        assertEquals(List.of("0 2000 2010 100 101"), found, "later it is another packet");
        references.onArrived(2, 2_020, 0, 100, 101);
        assertEquals(8, counters(references).get("passive_refused"), "a copy made on the way");
        assertEquals(1, found.size());
    }

    @Test
    void shouldForgetWhatHasNoOtherEndAndWhatIsTooMuch() {
        final PassiveReferences few = references(4);
        few.onSent(1, 10, 10);
        few.onArrived(2, 20, 0, 100, 101);
        few.onTime(15 + WAIT_NS);
        few.onTime(25 + WAIT_NS);
        assertEquals(1, counters(few).get("passive_unarrived"));
        assertEquals(1, counters(few).get("passive_unsent"));
        for (int i = 0; i < 6; i++) {
            few.onSent(100 + i, 3_000, 3_000);
        }
        assertEquals(2, counters(few).get("passive_forgotten"));
        few.onArrived(100, 3_100, 0, 1, 2);
        few.onArrived(105, 3_100, 0, 1, 2);
        assertTrue(found.isEmpty(), "the other packet of this time may still get its send time");
        few.onSent(106, 3_100, 3_100);
        assertEquals(List.of("0 3000 3100 1 2"), found);
    }

    /** Send times come in order of sending, before or after their packets, and some do not come. */
    @Property(tries = 50)
    void shouldHandOnInOrderOfArrival(@ForAll final long seed) {
        final Random random = new Random(seed);
        final List<long[]> arrivals = new ArrayList<>();
        final List<Long> arrivedNs = new ArrayList<>();
        final PassiveReferences any = new PassiveReferences(
            4_096, 100_000, (stream, sentNs, arrivalNs, lengthBytes, tag) -> arrivedNs.add(arrivalNs));
        for (int i = 0; i < 1_000; i++) {
            arrivals.add(new long[] {i, 100L * i, 100L * i + 1 + random.nextInt(5_000)});
        }
        arrivals.sort(Comparator.comparingLong((each) -> each[2]));
        final int leftOut = 1 + random.nextInt(10);
        final long lagNs = random.nextInt(8_000);
        int told = 0;
        for (final long[] each : arrivals) {
            for (; told < 1_000 && 100L * told + lagNs < each[2]; told++) {
                tell(any, told, leftOut);
            }
            any.onArrived(each[0], each[2], 0, 1, 2);
        }
        for (; told < 1_000; told++) {
            tell(any, told, leftOut);
        }
        any.onTime(1_000_000);
        final List<Long> expected = arrivals.stream().filter((each) -> each[0] % 11 != leftOut).map((each) -> each[2]).toList();
        assertEquals(expected, arrivedNs);
        assertEquals(expected.size(), counters(any).get("passive_matched"));
    }

    private static void tell(final PassiveReferences any, final int number, final int leftOut) {
        if (number % 11 != leftOut) {
            any.onSent(number, 100L * number, 100L * number);
        }
    }

    /** Both ends in any interleaving; lost packets, lost send times, twins. */
    @Property(tries = 200)
    void shouldAccountForEveryPacketAndNeverJoinTwo(
        @ForAll final long seed, @ForAll @IntRange(min = 1, max = 300) final int count) {
        final Random random = new Random(seed);
        final Map<Long, Long> sentOfArrival = new HashMap<>();
        final long[] wrong = new long[1];
        final PassiveReferences any = new PassiveReferences(32, WAIT_NS, (stream, sentNs, arrivalNs, lengthBytes, tag) ->
            wrong[0] += sentOfArrival.get(arrivalNs) == sentNs ? 0 : 1);
        long told = 0;
        for (int i = 0; i < count; i++) {
            final long digest = random.nextInt(5) == 0 ? random.nextInt(3) : 1_000 + i;
            final long sentNs = 10_000L * i;
            final long arrivalNs = sentNs + 100;
            sentOfArrival.put(arrivalNs, sentNs);
            final boolean isArrivalFirst = random.nextBoolean();
            final boolean isSent = random.nextInt(4) > 0;
            final boolean isArrived = random.nextInt(4) > 0;
            if (isArrived && isArrivalFirst) {
                any.onArrived(digest, arrivalNs, 0, 1, 2);
            }
            if (isSent) {
                any.onSent(digest, sentNs, sentNs);
            }
            if (isArrived && !isArrivalFirst) {
                any.onArrived(digest, arrivalNs, 0, 1, 2);
            }
            told += (isSent ? 1 : 0) + (isArrived ? 1 : 0);
            any.onTime(arrivalNs + 9_000);
        }
        final Map<String, Long> counters = counters(any);
        assertEquals(0, wrong[0]);
        assertEquals(told, 2 * counters.get("passive_matched") + counters.get("passive_refused") +
            counters.get("passive_unsent") + counters.get("passive_unarrived") + counters.get("passive_forgotten"));
    }

    @Test
    void shouldAllocateNothing() {
        final long[] sum = new long[1];
        final PassiveReferences busy = new PassiveReferences(
            1_024, WAIT_NS, (stream, sentNs, arrivalNs, lengthBytes, tag) -> sum[0] += arrivalNs - sentNs);
        final ThreadMXBean threads = (ThreadMXBean)ManagementFactory.getThreadMXBean();
        long least = Long.MAX_VALUE;
        long digest = 0;
        for (int repetition = 0; repetition < 10 && least > 0; repetition++) {
            final long before = threads.getCurrentThreadAllocatedBytes();
            for (int i = 0; i < 20_000; i++) {
                digest++;
                busy.onSent(digest % 7 == 0 ? 7 : digest, digest, digest);
                if (digest % 5 > 0) {
                    busy.onArrived(digest % 7 == 0 ? 7 : digest, digest + 2, 0, 1, 2);
                }
                busy.onTime(digest);
            }
            least = Math.min(least, threads.getCurrentThreadAllocatedBytes() - before);
        }
        assertEquals(0, least);
        assertTrue(sum[0] > 0);
        assertEquals(1_024 * 41 + 2_048 * 16, PassiveReferences.memoryBytes(1_024));
    }
}
