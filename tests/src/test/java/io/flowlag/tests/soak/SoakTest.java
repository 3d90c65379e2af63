package io.flowlag.tests.soak;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.NetworkNamespace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;

import java.nio.file.Path;
import java.time.Duration;
import java.util.EnumSet;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A soak of seconds: counters add up to what was sent and collected, and no descriptor stays open; {@code bin/soak} is the long
 * one.
 */
@Tag("topology")
@Tag("slow")
@Execution(ExecutionMode.CONCURRENT)
class SoakTest {
    /** Kills the receiver, then the sender. */
    private static final long SEED = 75;

    @TempDir
    private Path directory;

    @Test
    void shouldAccountForEverythingAndKeepNothingOpen() throws Exception {
        NetworkNamespace.assumeAvailable();
        final Soak.Outcome outcome = new Soak(new Soak.Plan(Duration.ofSeconds(4), 5000, 300, 4), directory).run();
        assertEquals(List.of(), outcome.faults());
        assertTrue(outcome.sent() > 0);
        assertTrue(outcome.stats().counter(CounterId.METERED) > 0, outcome.stats()::toString);
        assertTrue(outcome.collected() > 0);
    }

    @Test
    void shouldGoOnThroughFaultsOfASeed() throws Exception {
        NetworkNamespace.assumeAvailable();
        final FaultSoak.Outcome outcome = new FaultSoak(Duration.ofSeconds(6), SEED, directory).run();
        assertEquals(List.of(), outcome.broken());
        assertTrue(outcome.faults().keySet().containsAll(EnumSet.of(FaultSoak.Fault.KILL_RECEIVER, FaultSoak.Fault.KILL_SENDER)),
            outcome::figures);
        System.out.println(outcome.figures());
    }
}
