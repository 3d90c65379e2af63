package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Sizes of memory on command lines, and of this host. Stateless. */
public final class MemorySize {
    private static final ValueType<Long> SIZE = UnitValue.octets("16m", "1024g");

    /** Of the host for run: a part, but not less than it needs, and never all. */
    private static final int PART = 4;
    private static final long LEAST_BYTES = 384L << 20;
    /** Read once: a reload finds what the start found, also where no file can be opened. */
    private static final long HOST_BYTES = readHost();

    private MemorySize() {
    }

    /** {@return memory of this host or of the process's control group, whichever is less, octets} */
    public static long ofHost() {
        return HOST_BYTES;
    }

    private static long readHost() {
        long least = Long.MAX_VALUE;
        try {
            // Read here, because the JDK's beans take a twentieth of a start.
            least = number(Files.readAllLines(Path.of("/proc/meminfo")).get(0)) << 10;
            for (final String line : Files.readAllLines(Path.of("/proc/self/cgroup"))) {
                final String[] parts = line.split(":", 3);
                if (parts[1].isEmpty() || parts[1].equals("memory")) {
                    least = Math.min(least, ofGroup(Path.of("/sys/fs/cgroup", parts[1]), Path.of(parts[2])));
                }
            }
        } catch (final IOException | RuntimeException ex) {
            // No such system: the beans know theirs.
        }
        return least < Long.MAX_VALUE ? least :
            ((com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }

    /** The least limit of a control group and those above it, where they are mounted, of version 1 or 2. */
    private static long ofGroup(final Path root, final Path group) throws IOException {
        long least = Long.MAX_VALUE;
        for (Path each = group; each != null; each = each.getParent()) {
            for (final String name : List.of("memory.max", "memory.limit_in_bytes")) {
                final Path file = Path.of(root.toString() + each, name);
                if (Files.exists(file)) {
                    least = Math.min(least, number(Files.readString(file)));
                }
            }
        }
        return least;
    }

    /** The number in a line; the largest if there is none, as for max. */
    private static long number(final String line) {
        final String digits = line.replaceAll("[^0-9]", "");
        return digits.isEmpty() ? Long.MAX_VALUE : Long.parseLong(digits);
    }

    /** {@return default of the memory of run: a quarter of this host's; more where that is too little, octets} */
    public static long ofRun() {
        return Math.max(ofHost() / PART, Math.min(LEAST_BYTES, mostOfRun()));
    }

    /** {@return the most that run takes unless its memory is given, octets} */
    static long mostOfRun() {
        return ofHost() / PART * (PART - 1);
    }

    /** {@return octets as MiB, rounded up} */
    public static long mebibytes(final long octets) {
        return octets + (1 << 20) - 1 >> 20;
    }

    /** Reads a size such as 512m or 4g, octets. If it is invalid, the message of the exception says why. */
    public static long parse(final String text) {
        try {
            return SIZE.parse(text);
        } catch (final BadValueException ex) {
            throw new IllegalArgumentException(ex.getMessage(), ex);
        }
    }
}
