package io.flowlag.tests.stress;

import io.flowlag.tests.support.Command;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.openjdk.jcstress.Main;

import java.nio.file.Path;
import java.time.Duration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Has jcstress try for a few seconds what two threads may see of each other. */
@Tag("slow")
class StressTest {
    private static final Duration TIMEOUT = Duration.ofMinutes(5);

    @ParameterizedTest
    @ValueSource(classes = {StageRingStress.class, IntervalSwapStress.class})
    void shouldSeeNothingForbidden(final Class<?> stress, @TempDir final Path directory) {
        final Command.Result result = Command.of(
            Path.of(System.getProperty("java.home"), "bin", "java"), "-cp", System.getProperty("java.class.path"),
            Main.class.getName(), "-t", stress.getName(), "-m", "quick", "-f", "1", "-fsm", "1", "-time", "500", "-iters", "3",
            "-strideSize", "100", "-strideCount", "10", "-sc", "false", "-r", directory, "-v",
            "-jvmArgs", "--add-opens=java.base/jdk.internal.misc=ALL-UNNAMED").directory(directory).timeout(TIMEOUT).run();

        assertEquals(0, result.exitCode(), result::toString);
        assertTrue(result.output().contains("Acceptable"), result::toString);
    }
}
