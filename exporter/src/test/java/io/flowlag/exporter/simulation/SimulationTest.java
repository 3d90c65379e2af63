package io.flowlag.exporter.simulation;

import io.flowlag.exporter.terminal.Logging;
import io.flowlag.exporter.terminal.Terminal;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Isolated;

import java.nio.file.Files;
import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * Seeds of the simulation. {@code -Dflowlag.simulation.seeds=N} runs so many, {@code -Dflowlag.simulation.first=SEED} begins with
 * that one; a failure names the seed, what was done to the world, and the law.
 */
@Isolated
class SimulationTest {
    private static final long SEEDS = Long.getLong("flowlag.simulation.seeds", 6);
    private static final long FIRST = Long.getLong("flowlag.simulation.first", 1);
    private static final double MOST_BROKEN = 0.05;
    private static final int FEW = 10;

    @TempDir
    private Path directory;

    /** Every cut connection would be a line. */
    @BeforeAll
    static void hush() {
        Logging.configure("OFF", null, Terminal.system());
    }

    @AfterAll
    static void speak() {
        Logging.configure("WARN", null, Terminal.system());
    }

    private Simulation run(final long seed, final String name) throws Exception {
        try (Simulation simulation = new Simulation(seed, Files.createDirectory(directory.resolve(name + seed)))) {
            try {
                simulation.run();
            } catch (final AssertionError | RuntimeException ex) {
                throw new AssertionError("seed " + seed + " at " + simulation.elapsedNs() / 1e9 + " s: " + ex.getMessage() +
                    "\n" + String.join("\n", simulation.events()), ex);
            }
            return simulation;
        }
    }

    @Test
    void shouldHoldTheLawsWhateverHappens() throws Exception {
        long bounds = 0;
        long broken = 0;
        long losses = 0;
        for (long seed = FIRST; seed < FIRST + SEEDS; seed++) {
            final Simulation simulation = run(seed, "s");
            bounds += simulation.laws.boundsChecked;
            broken += simulation.laws.boundsBroken;
            losses += simulation.laws.lossesClaimed;
        }
        System.out.println("simulation: " + SEEDS + " seeds from " + FIRST + ", " + bounds + " means with a bound, " + broken +
            " beyond it, " + losses + " losses told");
        assertTrue(bounds > 0, "no mean has a bound");
        assertTrue(broken <= MOST_BROKEN * bounds + FEW, broken + " of " + bounds + " bounds do not hold");
    }

    @Test
    void shouldDoTheSameAgainWithTheSameSeed() throws Exception {
        final Simulation once = run(FIRST, "once");
        final Simulation again = run(FIRST, "again");
        assertEquals(once.events(), again.events());
        assertEquals(once.traceHash(), again.traceHash());
    }
}
