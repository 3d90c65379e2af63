package io.flowlag.exporter.flow;

import io.flowlag.exporter.decode.PacketDescriptor;
import org.agrona.concurrent.UnsafeBuffer;
import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

/** No change of a key keeps its hash, whatever the secrets are. */
class FlowKeyTest {
    private static final int SEEDS = 500;
    private static final long[] CHANGES = {0, 1, 2, ~0L, ~1L, ~2L, ~3L, ~7L, 1L << 63, ~0L << 32, 0xffff_ffffL, 3L << 62};

    private final UnsafeBuffer descriptor = new UnsafeBuffer(new byte[PacketDescriptor.LENGTH_BYTES]);

    private long hash(final FlowKey key, final long sourceLow, final long destinationLow, final long high) {
        PacketDescriptor.sourceLow(descriptor, 0, sourceLow);
        PacketDescriptor.destinationLow(descriptor, 0, destinationLow);
        PacketDescriptor.sourceHigh(descriptor, 0, high);
        return key.hashOf(descriptor, 0);
    }

    @Test
    void shouldNotMeetUnderEverySecret() {
        for (int seed = 0; seed < SEEDS; seed++) {
            final FlowKey key = new FlowKey(new FlowCacheSettings.Key(false, false, false, seed));
            final long x = 0xfe80_0000_0000_0002L;
            final long y = 0x0a00_0000_0000_0004L;
            assertNotEquals(hash(key, x, y, 0), hash(key, x ^ ~1, y ^ ~1, 0), "seed " + seed);
        }
    }

    @Test
    void shouldHaveNoChangeOfBothWordsThatKeepsTheHash() {
        final SplittableRandom random = new SplittableRandom(1);
        for (final long first : CHANGES) {
            for (final long second : CHANGES) {
                int met = 0;
                for (int seed = 0; seed < SEEDS && (first | second) != 0; seed++) {
                    final FlowKey key = new FlowKey(new FlowCacheSettings.Key(false, false, false, seed));
                    final long x = random.nextLong();
                    final long y = random.nextLong();
                    met += hash(key, x, y, 5) == hash(key, x ^ first, y ^ second, 5) ? 1 : 0;
                }
                assertEquals(0, met, Long.toHexString(first) + " " + Long.toHexString(second));
            }
        }
    }

    @Test
    void shouldDependOnEachWord() {
        final FlowKey key = new FlowKey(new FlowCacheSettings.Key(true, true, true, 7));
        final long hash = hash(key, 1, 2, 3);
        assertNotEquals(hash, hash(key, 2, 1, 3));
        assertNotEquals(hash, hash(key, 1, 2, 4));
        hash(key, 1, 2, 3);
        PacketDescriptor.interfaceId(descriptor, 0, 9);
        final long atInterface = key.hashOf(descriptor, 0);
        assertNotEquals(hash, atInterface);
        PacketDescriptor.destinationPort(descriptor, 0, 9);
        assertNotEquals(atInterface, key.hashOf(descriptor, 0));
    }
}
