package io.flowlag.exporter.fuzz;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.management.ManagementFactory;
import java.lang.management.ThreadMXBean;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Every kept input and a few thousand mutants of each target, the same at every run; the long run is {@code bin/fuzz}. */
@Timeout(value = 5, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FuzzRegressionTest {
    private static final int MUTANTS = 3000;
    private static final long SEED = 42;

    static Stream<String> targets() {
        return FuzzTargets.all().keySet().stream();
    }

    @ParameterizedTest
    @MethodSource("targets")
    void shouldStandEveryKeptInput(final String name) {
        final FuzzTarget target = FuzzTargets.of(name);
        final List<byte[]> seeds = target.seeds();
        assertFalse(seeds.isEmpty());
        new FuzzLoop(target, SEED, FuzzLoop.ANY_TIME).takeAsTheyAre(seeds);
    }

    @ParameterizedTest
    @MethodSource("targets")
    void shouldStandMutants(final String name) {
        final FuzzLoop loop = new FuzzLoop(FuzzTargets.of(name), SEED, FuzzLoop.ANY_TIME);
        loop.run(MUTANTS);
        assertEquals(MUTANTS, loop.inputs());
        assertTrue(loop.answers() > 1, "every mutant had the same answer");
    }

    @Test
    void shouldMakeTheSameMutantsOfTheSameSeed() {
        final List<byte[]> corpus = List.of(new byte[40], new byte[] {1, 2, 3});
        final Mutator one = new Mutator(corpus, List.of(), 100, 7);
        final Mutator other = new Mutator(corpus, List.of(), 100, 7);
        for (int i = 0; i < MUTANTS; i++) {
            assertEquals(one.next(), other.next());
            assertArrayEquals(one.octets(), other.octets());
        }
    }

    /** A loop that finds nothing proves nothing. */
    @Test
    void shouldFindAPlantedFault() {
        final FuzzLoop loop = new FuzzLoop(new PlantedFault() {
            @Override
            public long take(final byte[] octets, final int length) {
                return octets[octets[0] == 9 ? octets.length : 1];
            }
        }, SEED, FuzzLoop.ANY_TIME);
        final FuzzFault fault = assertThrows(FuzzFault.class, () -> loop.run(1_000_000));
        assertEquals(9, fault.input()[0]);
    }

    @Test
    void shouldFindAnAllocationAboveTheBound() {
        final List<Object> kept = new ArrayList<>();
        final FuzzLoop loop = new FuzzLoop(new PlantedFault() {
            @Override
            public long take(final byte[] octets, final int length) {
                if (octets[0] == 9) {
                    kept.add(new byte[100_000]);
                }
                return 0;
            }
        }, SEED, FuzzLoop.ANY_TIME);
        final FuzzFault fault = assertThrows(FuzzFault.class, () -> loop.run(1_000_000));
        assertEquals(9, fault.input()[0]);
    }

    @Test
    void shouldFindCountersThatDoNotAddUp() {
        final FuzzLoop loop = new FuzzLoop(new PlantedFault() {
            @Override
            public long take(final byte[] octets, final int length) {
                return 0;
            }

            @Override
            public void check() {
                assertEquals(1, 2);
            }
        }, SEED, FuzzLoop.ANY_TIME);
        assertThrows(FuzzFault.class, () -> loop.run(1));
    }

    @Test
    void shouldFindWhatTakesTooLong() {
        final FuzzLoop loop = new FuzzLoop(new PlantedFault() {
            @Override
            public long take(final byte[] octets, final int length) {
                final ThreadMXBean threads = ManagementFactory.getThreadMXBean();
                final long untilNs = threads.getCurrentThreadCpuTime() + 2_000;
                while (threads.getCurrentThreadCpuTime() < untilNs) {
                    Thread.onSpinWait();
                }
                return 0;
            }
        }, SEED, 1_000);
        assertThrows(FuzzFault.class, () -> loop.run(1));
    }

    /** A target of forty zeros that may allocate little. */
    private abstract static class PlantedFault implements FuzzTarget {
        @Override
        public List<byte[]> seeds() {
            return List.of(new byte[40]);
        }

        @Override
        public int maxInputBytes() {
            return 60;
        }

        @Override
        public long allocationBoundBytes() {
            return 50_000;
        }
    }
}
