package io.flowlag.exporter.lab;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** At 8 Gbit/s an octet takes one ns. */
class LinkQueueTest {
    private static final long CAPACITY_BPS = 8_000_000_000L;

    private static LinkQueue queue(final QueueModel model) {
        return new LinkQueue(model, CAPACITY_BPS, 100, 1);
    }

    private static List<String> departures(final LinkQueue queue) {
        final List<String> departures = new ArrayList<>();
        while (queue.departureNs() < Double.POSITIVE_INFINITY) {
            final long departureNs = Math.round(queue.departureNs());
            departures.add(queue.poll() + "@" + departureNs);
        }
        return departures;
    }

    @Test
    void shouldTransmitInOrderEachAfterTheOneBefore() {
        final LinkQueue queue = queue(QueueModel.dropTail(10));
        assertTrue(queue.offer(1, 0, 100, 1000));
        assertTrue(queue.offer(2, 1, 50, 1010));
        assertTrue(queue.offer(3, 0, 200, 1020));

        assertEquals(List.of("1@1100", "2@1150", "3@1350"), departures(queue));
        assertTrue(queue.offer(4, 0, 10, 2000));
        assertEquals(List.of("4@2010"), departures(queue));
    }

    @Test
    void shouldLoseWhatDoesNotFitThePacketInTransmissionIncluded() {
        final LinkQueue queue = queue(QueueModel.dropTail(2));
        assertTrue(queue.offer(1, 0, 100, 0));
        assertTrue(queue.offer(2, 0, 100, 0));
        assertFalse(queue.offer(3, 0, 100, 0));
        queue.poll();

        assertTrue(queue.offer(4, 0, 100, 100));
        assertEquals(List.of("2@200", "4@300"), departures(queue));
    }

    @Test
    void shouldServeTheFirstClassFirstWithoutInterruptingTheSecond() {
        final LinkQueue queue = queue(QueueModel.strictPriority(2));
        assertTrue(queue.offer(1, 1, 100, 0));
        assertTrue(queue.offer(2, 1, 100, 0));
        assertTrue(queue.offer(3, 0, 100, 50));
        assertTrue(queue.offer(4, 0, 100, 60));
        assertFalse(queue.offer(5, 1, 100, 70));
        assertFalse(queue.offer(6, 0, 100, 70));

        assertEquals(List.of("1@100", "3@200", "4@300", "2@400"), departures(queue));
    }

    @Test
    void shouldDropMoreTheLongerTheAverageQueueAndAllAboveTheMaximumThreshold() {
        final QueueModel model = new QueueModel(QueueModel.Discipline.RED, 1000, 10, 50, 0.05, 0.1);
        int refusedBelow = 0;
        int refusedBetween = 0;
        final LinkQueue queue = queue(model);
        int packet = 0;
        for (int i = 0; i < 10; i++) {
            refusedBelow += queue.offer(packet++, 0, 100, 0) ? 0 : 1;
        }
        boolean isRefused = false;
        int refusedInARow = 0;
        for (int i = 0; i < 990 && refusedInARow < 20; i++) {
            isRefused = !queue.offer(packet++, 0, 100, 0);
            refusedBetween += isRefused ? 1 : 0;
            refusedInARow = isRefused ? refusedInARow + 1 : 0;
        }

        assertEquals(0, refusedBelow);
        assertEquals(20, refusedInARow, "the average is above the maximum threshold before the queue is full");
        assertTrue(refusedBetween > 20, "refused " + refusedBetween);
    }

    @Test
    void shouldForgetTheAverageWhileIdle() {
        final LinkQueue queue = queue(new QueueModel(QueueModel.Discipline.RED, 1000, 1, 5, 0.5, 1));
        int packet = 0;
        while (queue.offer(packet, 0, 100, 0)) {
            packet++;
        }
        departures(queue);

        assertTrue(queue.offer(0, 0, 100, 1e9));
    }
}
