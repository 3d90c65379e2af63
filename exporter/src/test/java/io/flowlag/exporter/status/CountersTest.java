package io.flowlag.exporter.status;

import org.junit.jupiter.api.Test;

import static org.junit.jupiter.api.Assertions.assertEquals;

class CountersTest {
    private final Counters counters = new Counters();

    @Test
    void shouldSumUpWhatEachThreadCounts() {
        final Counters first = counters.share();
        final Counters second = counters.share();
        counters.add(CounterId.METERED, 1);
        first.add(CounterId.METERED, 10);
        second.add(CounterId.METERED, 100);
        first.set(CounterId.LOST_IN_KERNEL, 5);
        second.set(CounterId.LOST_IN_KERNEL, 7);
        second.set(CounterId.LOST_IN_KERNEL, 8);
        second.increment(CounterId.REFUSED_LINK_TYPE);

        assertEquals(111, counters.get(CounterId.METERED));
        assertEquals(13, counters.get(CounterId.LOST_IN_KERNEL));
        assertEquals(1, counters.refused());
        assertEquals(10, first.get(CounterId.METERED));
        assertEquals(0, first.refused());
    }
}
