package io.flowlag.exporter.config;

import java.lang.management.ManagementFactory;

/** The memory that this process may use. Has no state. */
public final class HostMemory {
    private HostMemory() {
    }

    /** {@return memory of this host, or of the control group of the process where that has less, octets} */
    public static long bytes() {
        return ((com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }
}
