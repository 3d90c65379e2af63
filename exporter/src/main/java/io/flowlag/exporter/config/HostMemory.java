package io.flowlag.exporter.config;

import java.lang.management.ManagementFactory;

/** The memory available to this process. Stateless. */
public final class HostMemory {
    private HostMemory() {
    }

    /** {@return memory of this host or of the process's control group, whichever is less, octets} */
    public static long bytes() {
        return ((com.sun.management.OperatingSystemMXBean)ManagementFactory.getOperatingSystemMXBean()).getTotalMemorySize();
    }
}
