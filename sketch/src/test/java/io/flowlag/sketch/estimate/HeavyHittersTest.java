package io.flowlag.sketch.estimate;

import io.flowlag.sketch.support.Allocation;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

class HeavyHittersTest {
    @Property
    void shouldKeepTheLargestInOrder(
        @ForAll @Size(max = 50) final List<@IntRange(max = 100) Integer> sizes,
        @ForAll @IntRange(min = 1, max = 10) final int capacity) {
        final HeavyHitters hitters = new HeavyHitters(capacity);
        for (int flow = 0; flow < sizes.size(); flow++) {
            hitters.offer(flow, sizes.get(flow));
        }

        final List<Double> kept = new ArrayList<>();
        hitters.forEach((flowHash, size) -> {
            assertEquals(sizes.get((int)flowHash).doubleValue(), size);
            kept.add(size);
        });

        assertEquals(
            sizes.stream().sorted(Comparator.reverseOrder()).limit(capacity).map(Integer::doubleValue).toList(), kept);
        assertEquals(kept.size(), hitters.count());
    }

    @Test
    void shouldAllocateNothingWhenAFlowIsOffered() {
        final HeavyHitters hitters = new HeavyHitters(100);

        Allocation.assertNone(() -> {
            hitters.clear();
            for (int flow = 0; flow < 10_000; flow++) {
                hitters.offer(flow, flow * 31 % 1_000);
            }
        });
    }

    @Test
    void shouldRefuseToHoldNothing() {
        assertThrows(IllegalArgumentException.class, () -> new HeavyHitters(0));
    }
}
