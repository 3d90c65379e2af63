package io.flowlag.rli.receiver;

import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.DoubleRange;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

import java.util.Random;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LeastDelaysTest {
    private static final int REFERENCES = 2000;
    /** Sizes in one class differ by an eighth at most, and those that differ by less than 256 octets are not compared. */
    private static final double UNCOMPARED_SHARE = 1.0 / 8;
    private static final int UNCOMPARED_BYTES = 256;

    private final LeastDelays leastDelays = new LeastDelays();

    /** What remains of a delay without its own transmission is never far below the least delay, whatever the delays are. */
    @Property(tries = 200)
    void shouldLeaveNoDelayFarBelowTheLeast(
        @ForAll final long seed, @ForAll @LongRange(min = -1_000_000_000, max = 1_000_000_000) final long offsetNs,
        @ForAll @DoubleRange(min = 0, max = 200) final double nsPerByte) {
        leastDelays.reset();
        final Random random = new Random(seed);
        final long[] delays = new long[REFERENCES];
        final int[] lengths = new int[REFERENCES];
        int least = 0;
        for (int i = 0; i < REFERENCES; i++) {
            lengths[i] = 40 + random.nextInt(random.nextBoolean() ? 100 : 9000);
            delays[i] = offsetNs + Math.round(nsPerByte * lengths[i] + random.nextInt(1 << random.nextInt(24)));
            leastDelays.record(lengths[i], delays[i]);
            least = delays[i] < delays[least] ? i : least;
        }
        final double most = leastDelays.mostNsPerByte();
        assertTrue(most >= 0 && most < Double.POSITIVE_INFINITY, "seed " + seed + ": " + most);
        for (int i = 0; i < REFERENCES; i++) {
            final double allowedBytes = lengths[least] + UNCOMPARED_BYTES + UNCOMPARED_SHARE * lengths[i];
            assertTrue(delays[i] - most * lengths[i] >= delays[least] - most * allowedBytes - 1,
                "seed " + seed + ": " + lengths[i] + " octets, " + delays[i] + " ns, slope " + most);
        }
    }

    @Test
    void shouldFindTheTimePerOctetOfAnEmptyPathWhateverTheClocksDifferBy() {
        for (final long offsetNs : new long[] {-5_000_000, 0, 5_000_000}) {
            leastDelays.reset();
            for (int i = 0; i < REFERENCES; i++) {
                final int lengthBytes = i % 3 == 0 ? 66 : 1514;
                leastDelays.record(lengthBytes, offsetNs + 8L * lengthBytes + i % 7 * 1000);
            }
            assertEquals(8, leastDelays.mostNsPerByte(), 1e-9, "offset " + offsetNs);
        }
    }

    @Test
    void shouldKnowNothingOfReferencesOfOneSize() {
        leastDelays.record(106, -5000);
        leastDelays.record(110, -6000);

        assertEquals(Double.POSITIVE_INFINITY, leastDelays.mostNsPerByte());
    }

    @Test
    void shouldAllowNoTimeWhereTheLargestAreTheFastest() {
        leastDelays.record(66, 6000);
        leastDelays.record(1514, 5000);

        assertEquals(0, leastDelays.mostNsPerByte());
    }

    @Test
    void shouldForgetDelaysOfLongAgo() {
        leastDelays.record(66, 1_000);
        leastDelays.record(1514, 1_000);
        assertEquals(0, leastDelays.mostNsPerByte());
        for (int i = 0; i < 2 * 4096; i++) {
            final int lengthBytes = i % 2 == 0 ? 66 : 1514;
            leastDelays.record(lengthBytes, 50_000 + 8L * lengthBytes);
        }

        assertEquals(8, leastDelays.mostNsPerByte(), 1e-9);
    }
}
