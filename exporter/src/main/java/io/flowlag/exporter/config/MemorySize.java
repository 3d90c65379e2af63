package io.flowlag.exporter.config;

import io.flowlag.common.config.BadValueException;
import io.flowlag.common.config.UnitValue;
import io.flowlag.common.config.ValueType;

import java.lang.management.ManagementFactory;

/** Sizes of memory on command lines, and of this host. Stateless. */
public final class MemorySize {
    private static final ValueType<Long> SIZE = UnitValue.octets("16m", "1024g");

    /** Of the host for run: a part, but not less than it needs, and never all. */
    private static final int PART = 4;
    private static final long LEAST_BYTES = 384L << 20;

    private MemorySize() {
    }

    /** {@return memory of this host or of the process's control group, whichever is less, octets} */
    public static long ofHost() {
        return ((com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
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
