package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;

import java.lang.management.ManagementFactory;

/** Sizes of memory on command lines, and of this host. Stateless. */
public final class MemorySize {
    private static final ValueType<Long> SIZE = UnitValue.octets("16m", "1024g");

    private MemorySize() {
    }

    /** {@return memory of this host or of the process's control group, whichever is less, octets} */
    public static long ofHost() {
        return ((com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
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
