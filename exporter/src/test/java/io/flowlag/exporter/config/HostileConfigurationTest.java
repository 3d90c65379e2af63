package io.flowlag.exporter.config;

import com.sun.management.ThreadMXBean;
import io.flowlag.common.config.Problems;
import org.junit.jupiter.api.Test;

import java.lang.management.ManagementFactory;
import java.util.List;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

/** Files that are no configuration, as large as a file may be: refused with few words, little work and little memory. */
class HostileConfigurationTest {
    private static final ThreadMXBean THREADS = (ThreadMXBean)ManagementFactory.getThreadMXBean();
    private static final int FILE_BYTES = 1 << 20;
    /** The reader of YAML copies a long word again and again: two GiB in all for the longest, little of it at once. */
    private static final long MOST_ALLOCATED_BYTES = 4L << 30;

    private static List<String> errors(final String yaml) {
        final long beforeBytes = THREADS.getCurrentThreadAllocatedBytes();
        final List<String> errors = assertThrows(
            ConfigurationException.class, () -> new ConfigLoader().text("x", yaml).conclude()).errors();
        final long allocatedBytes = THREADS.getCurrentThreadAllocatedBytes() - beforeBytes;
        assertTrue(allocatedBytes < MOST_ALLOCATED_BYTES, allocatedBytes + " octets allocated");
        return errors;
    }

    /** The distance of such a name to each of two hundred keys was once worked out. */
    @Test
    void shouldRefuseANameAsLongAsTheFile() {
        final String name = "a".repeat(FILE_BYTES - 10);
        for (final String yaml : List.of("capture:\n  source: " + name + "\n", "? " + name + "\n: 1\n")) {
            final List<String> errors = errors(yaml);
            assertTrue(errors.get(0).length() < 2000, errors.get(0).length() + " characters");
        }
    }

    @Test
    void shouldTellTheFirstOfManyErrors() {
        final StringBuilder yaml = new StringBuilder();
        int count = 0;
        while (yaml.length() < FILE_BYTES - 20) {
            yaml.append("nonsense").append(count++).append(": 1\n");
        }
        final List<String> errors = errors(yaml.toString());
        assertEquals(Problems.MOST + 1, errors.size());
        assertTrue(errors.get(0).startsWith("x:1:1: nonsense0: unknown key"), errors.get(0));
        assertTrue(errors.get(Problems.MOST).startsWith("and " + (count - Problems.MOST) + " "), errors.get(Problems.MOST));
    }
}
