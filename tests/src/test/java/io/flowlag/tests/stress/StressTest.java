package io.flowlag.tests.stress;

import io.flowlag.tests.support.Command;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.openjdk.jcstress.Main;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Collectors;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Has jcstress try for a few seconds what two threads may see of each other. */
@Tag("slow")
class StressTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    @Test
    void shouldSeeNothingForbidden(@TempDir final Path directory) {
        final List<Class<?>> all = List.of(StageRingStress.class, IntervalSwapStress.class);
        final Command.Result result = Command.of(
            Path.of(System.getProperty("java.home"), "bin", "java"), "-cp", System.getProperty("java.class.path"),
            Main.class.getName(), "-t", all.stream().map(Class::getName).collect(Collectors.joining("|")), "-m", "quick",
            "-f", "1", "-fsm", "1", "-time", "200", "-iters", "3", "-strideSize", "100", "-strideCount", "10", "-sc", "false",
            "-r", directory, "-v", "-jvmArgs",
            "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED").directory(directory).timeout(TIMEOUT).run();

        assertEquals(0, result.exitCode(), result::toString);
        assertTrue(result.output().contains("Acceptable"), result::toString);
        for (final Class<?> stress : all) {
            assertTrue(result.output().contains(stress.getName()), result::toString);
        }
    }
}
