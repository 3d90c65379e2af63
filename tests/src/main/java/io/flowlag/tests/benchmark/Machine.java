package io.flowlag.tests.benchmark;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.LocalDate;
import java.time.ZoneOffset;

/** The machine on which figures were measured. */
final class Machine {
    private Machine() {
    }

    /** {@return date, processors, system and Java, one line} */
    static String line() {
        return LocalDate.now(ZoneOffset.UTC) + ", " + Runtime.getRuntime().availableProcessors() + " processors" + model() +
            ", " + System.getProperty("os.name") + " " + System.getProperty("os.version") + ", Java " +
            System.getProperty("java.version");
    }

    private static String model() {
        try {
            return Files.readAllLines(Path.of("/proc/cpuinfo"), StandardCharsets.UTF_8).stream()
                .filter(line -> line.startsWith("model name")).findFirst()
                .map(line -> " (" + line.substring(line.indexOf(':') + 1).trim() + ")").orElse("");
        } catch (final IOException ex) {
            return "";
        }
    }
}
