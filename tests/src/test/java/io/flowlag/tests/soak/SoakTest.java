package io.flowlag.tests.soak;

import io.flowlag.exporter.status.CounterId;
import io.flowlag.tests.support.NetworkNamespace;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/**
 * A soak of seconds: counters add up to what was sent and collected, and no descriptor stays open; {@code bin/soak} is the long
 * one.
 */
@Tag("topology")
@Tag("slow")
class SoakTest {
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
}
