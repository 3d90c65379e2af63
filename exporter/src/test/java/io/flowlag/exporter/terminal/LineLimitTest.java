package io.flowlag.exporter.terminal;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.LoggerContext;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

class LineLimitTest {
    private final LineLimit limit = new LineLimit();

    @Test
    void shouldLetSoManyLinesOfAKindThroughInAMinute() {
        for (int i = 0; i < LineLimit.LINES; i++) {
            assertTrue(limit.allows("a {}", 5_000 + i));
        }
        assertFalse(limit.allows("a {}", 6_000));
        assertTrue(limit.allows("b {}", 6_000));
        assertFalse(limit.allows("a {}", 5_000 + LineLimit.WINDOW_MS - 1));
        assertTrue(limit.allows("a {}", 5_000 + LineLimit.WINDOW_MS));
        assertEquals(2, limit.takeLeftOut("a {}"));
        assertEquals(0, limit.takeLeftOut("a {}"));
    }

    @Test
    void shouldNotBlockForeverWhenTheClockIsSetBack() {
        for (int i = 0; i <= LineLimit.LINES; i++) {
            limit.allows("a", 1_000_000);
        }
        assertTrue(limit.allows("a", 1));
    }

    @Test
    void shouldNotLetAFaultFloodTheLogNorHideOthers() {
        final LoggerContext context = new LoggerContext();
        final List<String> lines = new ArrayList<>();
        Logging.install(context, Level.INFO, lines::add, false);
        for (int i = 0; i < 100_000; i++) {
            context.getLogger("x").warn("it broke: {}", i);
        }
        context.getLogger("x").error("something else");
        // A window may end while this runs.
        assertTrue(lines.size() <= 10 * LineLimit.LINES, () -> "lines " + lines.size());
        assertTrue(lines.get(lines.size() - 1).endsWith("something else"));
        context.stop();
    }
}
