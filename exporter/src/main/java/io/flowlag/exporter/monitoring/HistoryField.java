package io.flowlag.exporter.monitoring;

import java.util.Locale;

/** What the history has of a class in each step of time. */
enum HistoryField {
    /** Regular packets that the receiver point saw, or packets metered. */
    PACKETS,
    OCTETS,
    /** Packets behind the mean. */
    DELAY_SAMPLES,
    DELAY_MEAN_NS,
    /** Half of the 95 % interval of the mean, clock error apart. */
    DELAY_BOUND_NS,
    DELAY_P50_NS,
    DELAY_P99_NS,
    DELAY_MAX_NS,
    /** Packets lost between the points; by sketches less unexpected ones. */
    LOST,
    /** The most that may be lost, where that is all that is known. */
    LOST_BOUND,
    /** Of the link at the sender point, parts per million. */
    UTILIZATION_PPM,
    /** This host's clock less a sender's. */
    CLOCK_OFFSET_NS,
    CLOCK_ERROR_NS;

    /** {@return the name in JSON} */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }
}
