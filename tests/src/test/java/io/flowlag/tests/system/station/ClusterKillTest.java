package io.flowlag.tests.system.station;

import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Every process of a station on a cluster is killed once under load; {@link ClusterKillsMain} does it many times. */
@Tag("slow")
class ClusterKillTest {
    @TempDir
    private Path directory;

    @Test
    void shouldNeitherDoubleNorLoseResultsWhenProcessesAreKilledAndWithAnotherParallelism() throws Exception {
        try (ClusterRun run = new ClusterRun(directory)) {
            final String refusal = run.submitAgain();
            assertTrue(refusal.contains("the cluster runs the job flowlag test already"), refusal);
            for (final StationCluster.Victim victim : StationCluster.Victim.values()) {
                final ClusterRun.Kill kill = run.kill(victim);
                System.out.println(kill);
                assertTrue(kill.findings().isExact(), kill::toString);
                if (victim != StationCluster.Victim.INLET) {
                    assertEquals(0, kill.findings().lostByTcp(), kill::toString);
                }
            }
            assertTrue(run.rescale(StationCluster.PARALLELISM + 1).isExact());
            assertEquals(0, run.ended());
            System.out.println(run.windows());
        }
    }
}
